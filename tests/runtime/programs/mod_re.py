import re
print(re.findall(r"\d+", "a1b22"), re.sub(r"(\w)(\d)", r"\2\1", "a1b2"), re.split(r"[,;]\s*", "a, b;c"), re.match(r"(?P<y>\d{4})-(?P<m>\d\d)", "2024-05").groupdict(), re.search("x", "abc"), re.fullmatch("a+", "aaa").span(), re.compile("A", re.I).sub(lambda m: m.group().upper(), "banana"), [m.start() for m in re.finditer("a", "banana")], re.escape("a.b"), re.IGNORECASE | re.M, re.subn("a", "b", "aa"))
m = re.search(r"(a)(?:b)(c)?", "xabz"); print(m.groups(), m.group(0), m[1], m.start(1), m.lastindex, m.re.pattern, m.string, m.expand(r"<\1>"), m.pos)
try: re.compile("(")
except re.error as e: print(e, e.pos)
print(re.sub(r"(?<=a)b(?!c)", "X", "ab abc"), re.findall(r"^\w", "a\nb", re.MULTILINE), bool(re.match(r"(?x) a  b # c", "ab")))
