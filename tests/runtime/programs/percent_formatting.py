print("%s %d %05.2f %r %x %o %e %% %c %-5s| %+d %(a)s" % {"a": 1} if False else "%s %d %05.2f %r %x" % ("s", 3, 2.5, "r", 255))
print("%(a)s %(b)03d" % {"a": 1, "b": 2}, "%-6s|%6s|" % ("l", "r"), "%c%c" % ("a", 98), "%.3s" % "abcdef", "%*d" % (5, 42), b"%d" % 3)
