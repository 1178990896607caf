"""Write release notes from the titles of merged changes.

Its tools `git_log` and `write_file` are in tools.py, its tests in test_release_notes.py.
"""

import litany_tools

log = litany_tools.git_log(since="v1.2").check().stdout
fixes, features = [], []
for line in log.splitlines():
    title = line.split(" ", 1)[1]
    (fixes if title.lower().startswith("fix") else features).append(title)

notes = "\n".join(["## New", *(f"- {each}" for each in features), "", "## Fixed", *(f"- {each}" for each in fixes)])
written = litany_tools.write_file(path="NOTES.md", content=notes + "\n")
if written.refusal:
    print("The notes were not written:", written.refusal.reason)
else:
    written.check()
    print(f"{len(features)} features, {len(fixes)} fixes")
