class P:
    def __init__(self): self.x = 1; self.inner = self
p = P()
print("{} {} {}".format(1, 2, 3), "{2}{0}{1}".format("a", "b", "c"), "{a}-{b}".format(a=1, b=2))
print("{0.x} {0.inner.inner.x} {d[k]} {l[1]}".format(p, d={"k": 5}, l=[7, 8]))
print("{:>10}|{:<6}|{:^7}|{:+.2f}|{:,}|{:08b}|{:#x}|{:e}|{:.1%}|{!r:>6}".format("r", "l", "c", 3.14159, 1234567, 10, 255, 12345.678, 0.256, "q"))
t = "{name}: {value:{width}.{prec}f}"
print(t.format(name="n", value=3.14159, width=10, prec=2), t.format_map({"name": "m", "value": 1.0, "width": 5, "prec": 1}))
fmt = "{0!r} {0!s} {0!a} {{}}".format
print(fmt("é"), list(map("<{}>".format, [1, 2])), str.format("{}{}", 1, 2))
class Default(dict):
    def __missing__(self, k): return "?" + k
print("{a} {zz}".format_map(Default(a=1)))
for bad in ["{", "{0} {}", "{5}", "{nokey}"]:
    try: print(bad.format(1))
    except (ValueError, IndexError, KeyError) as e: print(type(e).__name__)
template = "{obj.x}"; print(template.format(obj=p), "{}".format(template))
import string
print(string.Formatter().format("{0} {x}", 1, x=2), string.Template("$a ${b} $$").substitute(a=1, b=2), string.Template("$q").safe_substitute())
