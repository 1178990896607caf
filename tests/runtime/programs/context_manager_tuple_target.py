from contextlib import nullcontext
with nullcontext((1, (2, 3))) as (a, (b, c)), nullcontext([4, 5]) as [d, *e]:
    print(a, b, c, d, e)
class H: pass
h = H(); box = {}
with nullcontext(7) as h.attr, nullcontext(8) as box["k"]: print(h.attr, box)
