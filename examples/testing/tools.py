"""Real tools for the program in this folder; its tests need none of them.

    litany run --tools examples/testing/tools.py examples/testing/release_notes.py
"""

import subprocess

from litany_engine import Capture, ToolContext, tool


@tool
def git_log(since: str) -> Capture:
    """List the titles of the commits after a revision of the repository that litany was started in."""
    done = subprocess.run(["git", "log", "--oneline", "--end-of-options", f"{since}..HEAD"], capture_output=True)
    return Capture(stdout=done.stdout, stderr=done.stderr, exit_code=done.returncode)


@tool
def write_file(path: str, content: str, context: ToolContext) -> None:
    """Write a text file in the agent's working directory."""
    target = (context.cwd / path).resolve()
    if not target.is_relative_to(context.cwd.resolve()):
        raise ValueError(f"{path} is outside the working directory")
    target.write_text(content)
