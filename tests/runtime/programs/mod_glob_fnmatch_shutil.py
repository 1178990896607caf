import glob, fnmatch, shutil, os
for n in ("a.txt", "b.txt", "c.md"): open(n, "w").write(n)
os.mkdir("d"); open("d/e.txt", "w").close()
print(sorted(glob.glob("*.txt")), sorted(glob.glob("**/*.txt", recursive=True)), fnmatch.fnmatch("a.txt", "*.t?t"), fnmatch.filter(["a", "b"], "a"), glob.escape("[x]"), [*glob.iglob("d/*")])
print(shutil.copy("a.txt", "d"), shutil.copyfile("b.txt", "z.txt"), shutil.move("z.txt", "d"), sorted(os.listdir("d")), os.path.basename(shutil.copytree("d", "d2")), sorted(os.listdir("d2"))); shutil.rmtree("d2"); print(os.path.exists("d2"))
print(os.path.basename(shutil.make_archive("arch", "zip", "d"))); shutil.unpack_archive("arch.zip", "un"); print(sorted(os.listdir("un"))); shutil.copy2("a.txt", "b2.txt"); shutil.rmtree("missing", ignore_errors=True)
try: shutil.copyfile("a.txt", "a.txt")
except shutil.SameFileError: print("same")
shutil.copytree("d", "d3", ignore=shutil.ignore_patterns("e*")); print(sorted(os.listdir("d3")))
