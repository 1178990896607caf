x, w, p = 3.14159, 10, 2; name = "N"; d = {"k": [1, 2]}
print(f"{x:.2f}|{x:{w}.{p}f}|{x!r:>10}|{name!s:^5}|{d['k'][0]}|{{}}|{x=}|{x = :.1f}|{name.lower()=}")
print(f"{'a' if x > 3 else 'b'} {[i for i in range(3)]} {(lambda v: v * 2)(4)} {x:{'>'}{w}}" f"{1}" "plain")
print(rf"\d{name}", f"""multi
{name}
line""", f"{ {'a': 1}['a'] }", f"{1:,}", f"{1_000_000:_}", f"{255:#06x}", f"{True!r}", f"{None}")
import datetime
print(f"{datetime.date(2024, 1, 5):%Y/%m/%d}")
