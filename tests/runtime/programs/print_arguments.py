import sys
print(); print(1, 2, sep="-", end="!\n"); print("e", file=sys.stderr); print("f", flush=True); print(*[1, 2], sep="\n")
print("a", "b", sep=""); print([], {}, (), None, True, 1.0, 1e100, -0.0, 1j, b"x", "q'", 'd"')
sys.stdout.write("w\n"); sys.stdout.writelines(["a\n", "b\n"]); sys.stdout.flush()
print(print.__name__, end=""); print("", end="\n")
for ch in "abc": print(ch, end=" ")
print()
