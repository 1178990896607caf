"""The toolset as text for a model: the module as an interface, shortened honestly to fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litany_stubs.declared import Stub, read_stubs
from litany_stubs.finding import find, first_line
from litany_stubs.literals import quote, visible
from litany_stubs.render import invoke_doc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from litany_stubs.words import ToolDeclaration

MIN_BUDGET_CHARS = 200
"""Least room that holds anything useful: a sentence and a few names."""

HEAD = """\
`import litany_tools` gives these functions; arguments by name or in order, `= ...` may be left out.
Each call returns a Result: .stdout .stderr .exit_code .ok .data .refusal; .check() raises if it failed.
Several at once, results in order: litany_tools.fan_out(litany_tools.some_tool, [{...}, {...}]).
Under asyncio: `from litany_tools import aio`, then `await aio.some_tool(...)`.
"""


def describe(declarations: Sequence[ToolDeclaration], budget_chars: int | None = None) -> str:
    """Return the text to put into a prompt: signatures, what each tool says of itself, the types they name.

    Args:
        declarations: the toolset.
        budget_chars: the most characters it may take; None for no bound. When the whole does not fit, the
            types go first, then all but the first line on each tool, then that line, then the signatures,
            then names; the text says what is missing and how a program finds it.

    Raises:
        ValueError: a budget below `MIN_BUDGET_CHARS`.
    """
    if budget_chars is not None and budget_chars < MIN_BUDGET_CHARS:
        raise ValueError(f"a budget must be at least {MIN_BUDGET_CHARS} characters, not {budget_chars}")
    stubs = read_stubs(declarations)
    if not stubs:
        return "A program may call no tool.\n"
    text = ""
    for level in _LEVELS:
        text = level(stubs)
        if budget_chars is None or len(text) <= budget_chars:
            return text
    assert budget_chars is not None
    return _some_names(stubs, budget_chars)


def search(declarations: Sequence[ToolDeclaration], words: str, *, limit: int = 5) -> str:
    """Return the tools that fit `words` best, with signatures; what `litany_tools.search` shows a program."""
    entries = [(each.function, shown(each), each.description) for each in read_stubs(declarations)]
    return find(words, entries, limit=limit)


def shown(stub: Stub) -> str:
    """Return a tool's signature as a model reads it: `read_file(path: str, limit: int = ...)`."""
    if stub.no_function is not None:
        return f"invoke({quote(stub.name)}, {{...}}) -> Result[{stub.data}]"
    parts = [
        f"{each.name}: {each.type}" if each.required else f"{each.name}: {each.type} = ..."
        for each in stub.parameters
    ]
    if stub.more is not None:
        parts.append(f"**{stub.more_name}: {stub.more}")
    called = "" if stub.function == stub.name else f"      # the tool {quote(stub.name)}"
    return f"{stub.function}({', '.join(parts)}) -> Result[{stub.data}]{called}"


def _whole(stubs: Sequence[Stub]) -> str:
    types = [each.text for stub in stubs for each in stub.definitions]
    return _entries(stubs, _words) + ("\n" + "\n\n".join(types) + "\n" if types else "")


def _without_types(stubs: Sequence[Stub]) -> str:
    return _entries(stubs, _words) + "(Named types are left out; they are dicts and unions.)\n"


def _first_lines(stubs: Sequence[Stub]) -> str:
    left_out = (
        "(Of each tool the first line is shown, and no named types; "
        "print(litany_tools.search('some_tool')) shows the rest of one.)\n"
    )
    return _entries(stubs, lambda each: [first_line(each.description)]) + left_out


def _entries(stubs: Sequence[Stub], words: Callable[[Stub], list[str]]) -> str:
    """Signatures and words on each; what a tool says stays behind its margin, line by line."""
    parts = [HEAD]
    for each in stubs:
        parts.append(shown(each))
        parts += [f"    {visible(line)}".rstrip() for line in words(each)]
    return "\n".join(parts) + "\n"


def _words(stub: Stub) -> list[str]:
    """All that a tool says of itself and of its parameters."""
    if stub.no_function is not None:
        return invoke_doc(stub).split("\n")
    said = stub.description.split("\n")
    said += [f"- {each.name}: {each.about}" for each in stub.parameters if each.about]
    return said + [f"- {quote(each.name)} (by invoke): {each.type}. {each.about}" for each in stub.unspelt]


def _signatures(stubs: Sequence[Stub]) -> str:
    left_out = "(Descriptions and named types are left out; litany_tools.search('words') finds tools.)"
    return "\n".join([HEAD, *map(shown, stubs), left_out]) + "\n"


def _names(stubs: Sequence[Stub]) -> str:
    names = ", ".join(each.function for each in stubs)
    return f"litany_tools has {len(stubs)} tools: {names}. litany_tools.search('words') shows signatures.\n"


def _some_names(stubs: Sequence[Stub], budget_chars: int) -> str:
    head = f"litany_tools has {len(stubs)} tools; litany_tools.search('words') finds them. Some: "
    tail = ", ...\n"
    kept: list[str] = []
    room = budget_chars - len(head) - len(tail)
    for each in stubs:
        room -= len(each.function) + 2
        if room < 0:
            break
        kept.append(each.function)
    return head + ", ".join(kept) + tail if kept else head.removesuffix(" Some: ") + "\n"


_LEVELS: tuple[Callable[[Sequence[Stub]], str], ...] = (
    _whole,
    _without_types,
    _first_lines,
    _signatures,
    _names,
)
