"""Every setting of `litany.toml`, in one table: its key, what is accepted, its default, what it means.

The file that `init` writes is rendered from this table and the reader in `config.py` reads by it, so a
setting that is not documented does not exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from litany_engine.configuration.setting_values import (
    argv,
    boolean,
    count,
    duration,
    isolation,
    module_name,
    one_of,
    patterns,
    size,
    texts,
    whole_seconds,
)
from litany_engine.configuration.units import parse_duration, parse_size

if TYPE_CHECKING:
    from collections.abc import Callable

    from litany_stubs.words import JSON


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of the file.

    Attributes:
        table: the table it stands in, "" for the top of the file, `roles.NAME` for any role (as `mcp.NAME`).
        key: its name there.
        read: from the TOML value to what the engine uses.
        default: what holds when the key is absent, as TOML; None when no value says that.
        meaning: what it is for, in words for an operator.
        example: a value to show, where the default would show nothing.
    """

    table: str
    key: str
    read: Callable[[JSON], JSON]
    default: str | None
    meaning: str
    example: str = ""


# One row a setting, as a table is read.
# fmt: off
SETTINGS: tuple[Setting, ...] = (
    Setting("", "isolation", isolation, '"full"',
            'What confines a program besides the language policy: "full" is namespaces, Landlock, seccomp '
            'and rlimits; "kernel" does without namespaces, for machines that forbid them. `litany doctor` '
            "shows what holds here."),
    Setting("", "durability", one_of("none", "call"), '"none"',
            'When records reach the device: "none" leaves it to the operating system (they outlive a crash '
            'of litany, not a power cut); "call" flushes each before its call goes on, and every call '
            'waits for it.'),
    Setting("", "modules", texts("module names", module_name), "[]",
            "Modules that programs may import besides the curated standard library. Each is code that you "
            "trust with all that a program may do: its functions are not policed.", '["numpy"]'),
    Setting("", "concurrency", count(1), "8",
            "How many inner calls of an agent run at once, and how many calls of one reply; of tools that "
            "are not safe beside others, one."),
    Setting("", "unmatched", one_of("allow", "ask", "deny"), '"allow"',
            "What becomes of a call that none of the [[rules]] applies to."),

    Setting("deadline", "maximum", duration, '"10m"', "No call runs longer, whatever anybody asks for."),
    Setting("deadline", "default", duration, '"2m"', "How long a call may run that asks for nothing itself."),

    Setting("limits", "memory", size, '"256 MiB"', "Memory a program may allocate."),
    Setting("limits", "cpu", whole_seconds, '"10m"', "Processor time, in whole seconds."),
    Setting("limits", "threads", count(1), "64", "Threads alive at once, the main one included."),
    Setting("limits", "open_files", count(1), "256", "File descriptors open at once."),
    Setting("limits", "file", size, '"64 MiB"', "Size of any one file it writes."),
    Setting("limits", "tmp", size, '"64 MiB"', "Size of its private /tmp, which is the host's memory."),
    Setting("limits", "tmp_files", count(1), "4096", "Files and folders in its private /tmp."),
    Setting("limits", "output", size, '"1 MiB"', "Kept of each stream: half of it head, half tail."),
    Setting("limits", "source", size, '"1 MiB"', "Size of the program text."),
    Setting("limits", "calls", count(0), "10000",
            "Tool calls in all, refused ones counted. One beyond is refused in the program's own process, "
            "does not reach the door and leaves no record."),
    Setting("limits", "pending_calls", count(1), "256", "Tool calls awaiting their answer at once."),
    Setting("limits", "value", size, '"16 MiB"', "Size of one call's input, and of one reply."),
    Setting("limits", "total_value", size, '"256 MiB"', "Size of all inputs and replies together."),
    Setting("limits", "grace", parse_duration, '"2s"',
            "Time between the soft interrupt, which lets it clean up, and SIGKILL."),

    Setting("output", "head", parse_size, '"2048 B"', "Shown from the start of each stream."),
    Setting("output", "tail", parse_size, '"2048 B"', "Shown from its end."),

    Setting("disk", "records", size, '"4 GiB"',
            "What the records of the workspace may take on disk. Once they do, every call is refused until "
            "there is room: `litany prune`, or more here. The same content in many records counts once."),
    Setting("disk", "worktree", size, '"2 GiB"',
            "What an agent's worktree may take. A program that goes past it is stopped; one that starts with "
            "no room left may remove files and write nothing. Counted while programs run."),
    Setting("disk", "worktree_files", count(1), "100000", "Files and folders in it; held in the same way."),
    Setting("disk", "keep_days", count(0), "30",
            "Days for which `litany prune` keeps a step in which nothing is recorded any more. A workspace "
            "that `litany run` made for a run outside of any is removed after so long, by `litany prune` or "
            "by a later such run; LITANY_KEEP_DAYS says it for all of these."),

    Setting("transcript", "ignore", patterns, "[]",
            "Patterns of files that no commit holds, over paths from the worktree on, as in [[rules]]; `**` "
            "is any number of folders, and a folder stands for all that is in it. Nothing else leaves a file "
            "out: a .gitignore in the worktree is the agent's.", '["**/node_modules", "**/*.pyc"]'),

    Setting("tools", "descriptors", texts("paths"), "[]",
            "Tool descriptors, JSON files or folders of them, relative to the workspace.", '["tools"]'),
    Setting("tools", "deferred", texts("tool names"), "[]",
            "Tools that nobody is shown or may call until a call of search_tools, which is then there, has "
            "found them. For agents with very many tools.", '["invoice_list"]'),
    Setting("tools", "suspended", texts("tool names"), "[]",
            "Tools that nobody may call for now, and no search finds.", '["deploy"]'),

    Setting("mcp.NAME", "command", argv, None,
            "The server's program and its arguments; it speaks MCP on stdin and stdout, and its working "
            "directory is the workspace. A path with a slash starts there too.", '["npx", "-y", "server"]'),
    Setting("mcp.NAME", "env", texts("names of variables"), "[]",
            "Names of variables of your environment that it gets, besides PATH, HOME and the like.",
            '["SEARCH_KEY"]'),
    Setting("mcp.NAME", "tools", texts("tool names"), None,
            "Which of its tools are offered, by its own names for them. Absent: all. Empty: none.",
            '["search", "fetch"]'),
    Setting("mcp.NAME", "timeout", duration, None, "The most that one call of it may take.", '"30s"'),
    Setting("mcp.NAME", "trust_hints", boolean, "false",
            "Whether you believe it when it says that a tool only reads, or does nothing that cannot be "
            "undone. Its other hints count in any case: they ask for more care."),

    Setting("control", "command", argv, None,
            "A program and its arguments, asked before each permitted call: one JSON object on stdin, its "
            "verdict (pass, refuse or hold) on stdout. Absent: every permitted call passes. A path with a "
            "slash is relative to the workspace. If it fails in any way, nothing runs.", '["./control.py"]'),
    Setting("control", "deadline", duration, '"30s"', "How long it may take to answer."),

    Setting("hold", "patience", duration, '"10m"',
            "How long a program waits for your answer; when it is over, the call is refused."),
    Setting("hold", "pause_clock", boolean, "false",
            "Whether the deadlines of a program stand still while it waits for you."),

    Setting("budgets", "program_calls", count(0), None, "Calls made by one program.", "1000"),
    Setting("budgets", "program_pending", count(0), None, "Calls of one program in flight at once.", "32"),
    Setting("budgets", "program_bytes_in", parse_size, None, "Inputs of one program's calls.", '"16 MiB"'),
    Setting("budgets", "program_bytes_out", parse_size, None, "Results of one program's calls.", '"64 MiB"'),
    Setting("budgets", "agent_calls", count(0), None, "Calls of one agent, for good.", "100000"),
    Setting("budgets", "agent_pending", count(0), None, "Calls of one agent in flight at once.", "64"),
    Setting("budgets", "agent_bytes_in", parse_size, None, "Inputs of one agent's calls.", '"1024 MiB"'),
    Setting("budgets", "agent_bytes_out", parse_size, None, "Results of one agent's calls.", '"4096 MiB"'),
    Setting("budgets", "tree_calls", count(0), None, "Calls of an agent and all its descendants.", "1000000"),
    Setting("budgets", "tree_pending", count(0), None, "Calls of all of them in flight at once.", "128"),
    Setting("budgets", "tree_bytes_in", parse_size, None, "Inputs of all their calls.", '"4096 MiB"'),
    Setting("budgets", "tree_bytes_out", parse_size, None, "Results of all their calls.", '"16384 MiB"'),

    Setting("rules", "action", one_of("allow", "deny", "ask"), None,
            "What the rule decides. A deny rule that applies always wins, wherever it stands; else the first "
            "allow or ask rule that applies decides. ask holds the call for your answer (`litany holds`).",
            '"deny"'),
    Setting("rules", "tool", str, '"*"', "A tool's name, or a pattern with * over names.", '"bash"'),
    Setting("rules", "command", str, None,
            "A pattern over each command of a command line, word by word; ** is any number of words. What a "
            "line runs that cannot be told for certain matches every deny and ask, and no allow.",
            '"git push ** --force **"'),
    Setting("rules", "path", str, None,
            "A pattern over where a path really leads: inside the agent's worktree, or absolute.",
            '"**/*.env"'),
    Setting("rules", "outside", boolean, None, "Whether a path leads out of the agent's worktree.", "true"),
    Setting("rules", "traits", texts("traits"), None,
            "What the tool says of the call, each of them: read_only, destructive, a permission it needs "
            "(file_read, file_write, shell_execute, network_access, env_access), its category (filesystem, "
            "shell, network, analysis, custom).",
            '["destructive"]'),
    Setting("rules", "arguments", dict, None, "Patterns over arguments, by name.",
            '{ branch = "release/*" }'),
    Setting("rules", "reason", str, None, "Told to whoever is refused or asked.", '"history is shared"'),

    Setting("roles.NAME", "grant", texts("tool names"), None,
            "The tools that agents of this role may call. Absent: every tool. Empty: none.",
            '["python", "bash", "read_file", "apply_patch", "read_tool_output"]'),
    Setting("roles.NAME", "files", one_of("none", "read", "write"), '"write"',
            "What their programs may do in the agent's worktree."),
    Setting("roles.NAME", "deadline", duration, None,
            "No call of theirs runs longer, within [deadline] maximum.", '"30s"'),
)
# fmt: on

_INTRODUCTIONS = {
    "": "How programs run in this workspace. Every setting is shown, commented out, with its default or an "
    "example; to change one, take away the `# ` before it. A key that is not in this file is an error. "
    'Durations ("500ms", "30s", "5m", "1h30m") and sizes ("4096 B", "64 KiB", "256 MiB") carry their unit.',
    "deadline": "A call ends at the earliest of: the maximum; its role's deadline; what it asks for itself, "
    "or the default when it asks for nothing; its tool's timeout; the deadline of the program that makes it.",
    "limits": "What one program may use; what goes past a limit is refused or ended.",
    "output": "What a window shows the model of a call's output at once; `read_tool_output` pages the rest. "
    "`litany run`, `litany invoke` and programs get it whole.",
    "disk": "What this workspace may take on disk.",
    "transcript": "An agent's transcript: each result is a commit, with all that the worktree holds then.",
    "tools": "Tools besides the built-in ones.",
    "mcp.NAME": "One table for each MCP server whose tools this workspace offers, as NAME_tool. It is "
    "started when its tools are first wanted, and ended with the workspace. It runs with your rights, "
    "outside every sandbox.",
    "control": "Your own say on each call.",
    "hold": "What happens while a call is held for your answer.",
    "budgets": "What may be used in all. Absent: no budget. 0: nothing. Used is used: neither a failure nor "
    "a restart gives anything back.",
    "rules": "Your rules on calls, in this order; one table for each, as many as you like. All conditions of "
    "a rule must hold.",
    "roles.NAME": "One table for each role, named as you like. An agent's role is fixed when added; the "
    'first agent\'s is "default", which exists even when it is not written here.',
}


_HEADERS = {"roles.NAME": "# [roles.default]", "rules": "# [[rules]]", "mcp.NAME": "# [mcp.search]"}
"""Headers that are commented out as well: an empty table there would mean something."""


def default_toml() -> str:
    """The commented file that `init` writes; as it stands, every setting has its default."""
    lines = _comment(_INTRODUCTIONS[""])
    table = ""
    for each in SETTINGS:
        if each.table != table:
            table = each.table
            header = _HEADERS.get(table, f"[{table}]")
            lines += ["", "", *_comment(_INTRODUCTIONS[table]), header]
        example = f"  # for example {each.example}" if each.default and each.example else ""
        lines += ["", *_comment(each.meaning), f"# {each.key} = {each.default or each.example}{example}"]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> list[str]:
    import textwrap  # noqa: PLC0415 - only `init` writes the file

    return textwrap.wrap(text, 100, initial_indent="## ", subsequent_indent="## ", break_on_hyphens=False)
