"""Finding tools by words, and showing them: what `litany_tools.search` answers.

On the path of the confined child: a signature is read from the function itself, whose annotations are
text already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import CodeType

CO_VARKEYWORDS = 0x08
"""As in `inspect`, which a child does not import."""


def search(
    words: str, functions: Sequence[Callable[..., Any]], by_invoke: Mapping[str, str], *, limit: int = 5
) -> str:
    """Find tools by words in their names, descriptions and parameters.

    Args:
        words: what to look for, separated by spaces.
        functions: the module's tools.
        by_invoke: description by name of the tools that have no function.
        limit: tools to show.
    """
    entries = [(each.__name__, signature(each), each.__doc__ or "") for each in functions]
    entries += [(name, f"invoke({name!r}, {{...}})", text) for name, text in by_invoke.items()]
    return find(words, entries, limit=limit)


def find(words: str, entries: Sequence[tuple[str, str, str]], *, limit: int) -> str:
    """Return the entries (name, signature, description) that fit `words` best, as text to read."""
    if not isinstance(words, str):
        raise TypeError(f"search takes words as one string, not {type(words).__name__}")
    wanted = _split(words)
    ranked = []
    for name, shown, text in entries:
        name_words, lower_name, lower_text = _split(name), name.lower(), text.lower()
        score = 0
        for word in wanted:
            if word in name_words:
                score += 8
            elif word in lower_name:
                score += 5
            elif word in lower_text:
                score += 2
            elif word in shown.lower():
                score += 1
        if score or not wanted:
            ranked.append((-score, name, shown, text))
    if not ranked:
        granted = listed([name for name, _, _ in entries], 40)
        return f"No granted tool matches {words[:80]!r}. Granted: {granted}."
    ranked.sort(key=lambda each: each[:2])
    lines = []
    for _, name, shown, text in ranked[:limit]:
        lines.append(shown)
        # Asked for by its name, or the only one that fits: this is the one, so all of it.
        if name == words.strip() or len(ranked) == 1:
            lines += [f"    {line}".rstrip() for line in text.strip().splitlines()]
        elif first := first_line(text):
            lines.append(f"    {first}")
    if len(ranked) > limit:
        lines.append(f"... and {len(ranked) - limit} more; use more words or a larger limit.")
    return "\n".join(lines)


def signature(function: Callable[..., Any]) -> str:
    """Return `name(path: str, limit: int = UNSET) -> Result[Any]` of a generated function."""
    behind = getattr(function, "__litany__", None)
    function = getattr(function, "__wrapped__", function)
    code = function.__code__
    hints = function.__annotations__
    names = parameters(code)
    required = len(names) - len(function.__defaults__ or ())
    parts = [
        f"{each}: {hints.get(each, 'Any')}" + (" = UNSET" if place >= required else "")
        for place, each in enumerate(names)
    ]
    if (more := more_of(code)) is not None:
        parts.append(f"**{more}: {hints.get(more, 'Any')}")
    other = behind is not None and behind.name != function.__name__
    called = f'      # the tool "{behind.name}"' if behind is not None and other else ""
    return f"{function.__name__}({', '.join(parts)}) -> {hints.get('return', 'Result[Any]')}{called}"


def parameters(code: CodeType) -> tuple[str, ...]:
    """Return the names of a generated function's parameters, in their order."""
    return code.co_varnames[: code.co_argcount]


def more_of(code: CodeType) -> str | None:
    """Return what the `**` parameter is called, or None when there is none."""
    return code.co_varnames[code.co_argcount] if code.co_flags & CO_VARKEYWORDS else None


def first_line(text: str, limit: int = 160) -> str:
    """Return the first line of `text`, of at most `limit` characters; "..." at its end says there is more."""
    first, _, rest = text.strip().partition("\n")
    first = first.rstrip()
    if len(first) <= limit - 4:
        return f"{first} ..." if rest.strip() else first
    if len(first) <= limit and not rest.strip():
        return first
    return f"{first[: limit - 4].rpartition(' ')[0] or first[: limit - 4]} ..."


def _split(text: str) -> list[str]:
    """Split into lower-case words at whatever is no letter or digit."""
    return "".join(each if each.isalnum() else " " for each in text).lower().split()


def listed(names: Sequence[str], limit: int = 20) -> str:
    """Return names for a message, the first `limit` of them."""
    shown = ", ".join(names[:limit]) or "nothing"
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
