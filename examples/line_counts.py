"""Fan out `read_file` over a source tree and print a table: one program instead of a hundred turns.

    litany run examples/line_counts.py          # in a repository with Python files
"""

from collections import Counter
from pathlib import Path

import litany_tools

paths = sorted(str(path) for path in Path(".").rglob("*.py"))
results = litany_tools.fan_out("read_file", [{"path": path} for path in paths], limit=8)

files, code, comments = Counter(), Counter(), Counter()
for path, result in zip(paths, results):
    if not result.ok:
        print(f"skipped {path}: {result.stderr.strip()}")
        continue
    folder = path.split("/")[0] if "/" in path else "."
    files[folder] += 1
    for line in result.stdout.splitlines():
        text = line.strip()
        code[folder] += bool(text) and not text.startswith("#")
        comments[folder] += text.startswith("#")

print(f"{'folder':<16}{'files':>8}{'code':>8}{'comments':>10}")
for folder in sorted(files, key=lambda each: -code[each]):
    print(f"{folder:<16}{files[folder]:>8}{code[folder]:>8}{comments[folder]:>10}")
print(f"{'all':<16}{files.total():>8}{code.total():>8}{comments.total():>10}")
