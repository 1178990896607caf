"""What a shell command line would run: its simple commands, as far as they can be told by looking.

    git status && rm -rf "$DIR"   ─►   [git status] [rm -rf ?]

A rule about commands is only as good as this. `shell_reader.py` knows a part of the grammar well and says of
everything else that it does not know. So each word is a text or unknown, a line has a doubt or none, and a
line that cannot be read at all is opaque: it may run anything.

- Certain is only what has no doubt: no assignment (it may change what a name runs), no file opened by a
  redirection, no command whose name is made at run time.
- Everything that a line might run is in `commands` or `perhaps`. What a program that runs programs (`sudo`,
  `xargs`, `sh -c`) would run is in the second, found without knowing its options: every tail of its arguments
  might be a command, and where it takes command lines, every argument might be one.
- What other programs do with their arguments is not looked at: `python3 -c`, `awk`, `make` run what they
  like. An operator who allows an interpreter has allowed what it can do.

Why own code: docs/decisions/0030-command-lines.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from litany_engine.rules.shell_reader import MAX_NESTING, Command, Found, OpaqueError, Reader, Word

__all__ = ["Command", "CommandLine", "Word", "decompose"]

MAX_LINE_CHARS = 64 * 1024
"""Longer lines are opaque: nobody writes them by hand, and reading must stay quick."""

_REBINDING = frozenset({"alias", "unalias", "shopt", "enable", "hash", "trap", "mapfile", "readarray"})
"""Builtins after which a name may run something else, or that keep text to be run later."""

_SETTING = frozenset(
    {"export", "declare", "typeset", "local", "readonly", "read", "unset", "getopts", "let", "source", "."}
)
"""Builtins that may set a variable such as PATH: after them a name is not certain to run what it did."""

_EVALUATING = frozenset({"test", "["})
"""Builtins that, with those above, evaluate arguments as arithmetic, in which a quoted substitution runs."""

# fmt: off
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"})

_LINE_TAKERS = _SHELLS | {
    "eval", "env", "su", "sudo", "doas", "runuser", "script", "flock", "watch", "ssh", "parallel", "sem",
    "tmux", "screen", "at", "batch", "entr", "hyperfine", "npx", "nix-shell",
}
"""Programs that take a whole command line in an argument."""

_RUNNERS = _LINE_TAKERS | {
    ".", "builtin", "busybox", "chroot", "chronic", "chrt", "command", "docker", "dumb-init", "exec",
    "fakeroot", "fd", "find", "gdb", "gosu", "ionice", "kubectl", "ltrace", "nice", "nohup", "nsenter",
    "perf", "pipenv", "pkexec", "podman", "poetry", "prlimit", "rlwrap", "setarch", "setpriv", "setsid",
    "source", "start-stop-daemon", "stdbuf", "strace", "su-exec", "systemd-run", "taskset", "time",
    "timeout", "tini", "toybox", "unbuffer", "unshare", "uv", "uvx", "valgrind", "xargs", "xvfb-run",
}
"""Programs and builtins that run a program named by their arguments."""
# fmt: on

_FEEDING = frozenset({"xargs", "parallel", "sem", "entr"})
"""Those that add arguments which come from elsewhere."""

_ANY = Word(None, many=True)
_READS_STDIN = re.compile(r"-[A-Za-z]*s[A-Za-z]*|-|--")
_STREAM = re.compile(r"/dev/|/proc/")


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command line, taken apart.

    Attributes:
        commands: every simple command in it, in the order of their ends; assignments are left out.
        perhaps: commands that programs in it might run, from their arguments.
        doubt: why it is not certain that these are all and nothing else happens; "" when it is.
        opaque: it could not be read, so it may run anything.
    """

    commands: tuple[Command, ...] = ()
    perhaps: tuple[Command, ...] = ()
    doubt: str = ""
    opaque: bool = False


def decompose(line: str) -> CommandLine:
    """Take a command line apart. Never raises: what is not understood is opaque."""
    if len(line) > MAX_LINE_CHARS:
        return CommandLine(doubt=f"it is longer than {MAX_LINE_CHARS} characters", opaque=True)
    found = Found()
    try:
        _read(line, found, 0)
    except OpaqueError as opaque:
        return CommandLine(tuple(found.commands), tuple(found.perhaps), str(opaque), opaque=True)
    if found.dormant and found.evaluates:
        why = "a quoted substitution may be run by arithmetic"
        return CommandLine(tuple(found.commands), tuple(found.perhaps), why, opaque=True)
    return CommandLine(tuple(found.commands), tuple(found.perhaps), found.doubt)


def _read(line: str, found: Found, depth: int) -> None:
    first = len(found.commands)
    Reader(line, found, depth).whole()
    for command in found.commands[first:]:
        _look_inside(command, found, depth)


def _look_inside(command: Command, found: Found, depth: int) -> None:
    """Find what a command might run by its arguments, and what it does to the names after it."""
    if depth > MAX_NESTING:
        raise OpaqueError(f"it runs programs that run programs, more than {MAX_NESTING} deep")
    if command[0].text is None:
        return
    name = command[0].text.rpartition("/")[2]
    arguments = command[1:]
    if name in _REBINDING:
        raise OpaqueError(f"{name!r} may change what a later name runs")
    sets = name in _SETTING or (name == "printf" and not _is_plain_operand(arguments[:1]))
    if sets:
        found.doubts(f"{name!r} may set a variable, which may change what a name runs")
    found.evaluates = found.evaluates or sets or name in _EVALUATING
    if name in _RUNNERS:
        _look_inside_runner(name, arguments, found, depth)


def _is_plain_operand(words: Command) -> bool:
    return all(each.text is not None and not each.text.startswith("-") for each in words)


def _look_inside_runner(name: str, arguments: Command, found: Found, depth: int) -> None:
    if name in _SHELLS:
        _look_inside_shell(name, arguments)
    if name == "eval" and any(each.text is None for each in arguments):
        raise OpaqueError("'eval' runs text that is made when it runs")
    if name in {"source", "."} and any(each.text and _STREAM.match(each.text) for each in arguments):
        raise OpaqueError(f"{name!r} runs what comes on a stream")
    fed = (_ANY,) if name in _FEEDING else ()
    for start in range(len(arguments)):
        found.perhaps.append((*arguments[start:], *fed))
        found.count()
    if name in _LINE_TAKERS:
        texts = [each.text for each in arguments if each.text is not None]
        for line in [" ".join(texts)] if name == "eval" else texts:
            if not line.isalnum():
                _read_perhaps(line, found, depth + 1)
    # One of the tails may be such a program itself; looking inside the first of them looks inside the others.
    for start, each in enumerate(arguments):
        if each.text is not None and each.text.rpartition("/")[2] in _RUNNERS | _REBINDING:
            _look_inside((*arguments[start:], *fed), found, depth + 1)
            break


def _look_inside_shell(name: str, arguments: Command) -> None:
    if any(each.text is None for each in arguments):
        raise OpaqueError(f"{name!r} runs what is made when it runs")
    texts = [each.text or "" for each in arguments]
    operands = [each for each in texts if not each.startswith(("-", "+"))]
    if not operands or any(map(_READS_STDIN.fullmatch, texts)) or any(map(_STREAM.match, texts)):
        raise OpaqueError(f"{name!r} runs what comes on a stream")


def _read_perhaps(line: str, found: Found, depth: int) -> None:
    """Read an argument as a command line: whatever is in it might run."""
    inner = Found()
    _read(line, inner, depth)
    found.perhaps += inner.commands
    found.perhaps += inner.perhaps
    found.dormant = found.dormant or inner.dormant
    found.evaluates = found.evaluates or inner.evaluates
    found.count()
