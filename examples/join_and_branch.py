"""Join what two tools say, and go another way when one of them fails: a failing tool is a value.

    litany run examples/join_and_branch.py
"""

import litany_tools

# Two tools, one answer: which of the longest files have a docstring or comment at the top?
listing = litany_tools.bash(command="find . -name '*.py' -not -path './.git/*' | xargs wc -l | sort -rn | head -6")
listing.check()  # here a failure would be the end: it raises ToolError
for row in listing.stdout.splitlines():
    count, _, path = row.strip().partition(" ")
    if path in ("", "total"):
        continue
    head = litany_tools.read_file(path=path, limit=1)
    first = head.stdout.strip() if head.ok else f"({head.stderr.strip()})"
    print(f"{count:>6}  {path:<50.50}  {first:.60}")

# One tool fails: branch on it.
changes = litany_tools.read_file(path="NEWS.md")
if not changes.ok:
    print(f"\nNEWS.md: exit code {changes.exit_code}, so CHANGELOG.md instead")
    changes = litany_tools.read_file(path="CHANGELOG.md", limit=5)
print(changes.stdout if changes.ok else "no changelog of either name")

# A refused call is a value too, and says what is expected.
wrong = litany_tools.invoke("read_file", {"file": "README.md"})
print(f"refused by the {wrong.refusal.gate} gate: {wrong.refusal.reason}")
