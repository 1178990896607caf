import textwrap, string
t = "The quick brown fox jumps over the lazy dog " * 2
print(textwrap.fill(t, 30), textwrap.dedent("  a\n    b"), textwrap.indent("a\nb", "> "), textwrap.shorten(t, 20), textwrap.wrap("a b c", 3), sep="\n")
print(string.ascii_letters, string.digits, string.punctuation, string.capwords("a b"), string.Template("$x").substitute(x=1), repr(string.whitespace))
class F(string.Formatter):
    def get_value(self, key, args, kwargs): return kwargs.get(key, "?") if isinstance(key, str) else args[key]
    def format_field(self, v, spec): return super().format_field(v, spec).upper()
print(F().format("{a} {zz} {0:>4}", "q", a="x"))
class T(string.Template): delimiter = "%"
print(T("%x").substitute(x=2))
