"""Read a file, then change it with `apply_patch`, and see that it did.

    litany run examples/patch_after_reading.py
"""

import litany_tools

ADD = """\
*** Begin Patch
*** Add File: notes/plan.txt
+buy milk
+write the program
+call Ann
*** End Patch
"""
if not litany_tools.read_file(path="notes/plan.txt").ok:
    print(litany_tools.apply_patch(input=ADD).check().stdout.strip())

plan = litany_tools.read_file(path="notes/plan.txt").check().stdout
print("before:", plan.split("\n")[:-1])

lines = plan.splitlines()
done = next(line for line in lines if "program" in line)
patch = "\n".join(
    [
        "*** Begin Patch",
        "*** Update File: notes/plan.txt",
        "@@",
        f"-{done}",
        f"+{done} (done)",
        "*** End Patch",
        "",
    ]
)
result = litany_tools.apply_patch(input=patch)
print("applied" if result.ok else f"declined: {result.stderr}")

# The program's own view and the tool's are the same file.
with open("notes/plan.txt") as file:
    print("after: ", file.read().splitlines())
