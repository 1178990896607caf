"""The text of `litany_tools`: what a program imports, a model is shown and a developer opens.

The text is trusted: the child executes it outside the language policy. So nothing of a declaration reaches
it but through `literals.py` (as a string, a docstring or a comment) or as a name that `names.py` passed. It
holds no secret, no path of the host and no address: `litany_stubs.client` knows the door.

The same toolset gives the same bytes: tools stand in the order of their names, parameters in the schema's.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from litany_stubs.declared import Stub, read_stubs
from litany_stubs.literals import WIDTH, docstring, quote, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from litany_stubs.python_types import Definition
    from litany_stubs.words import ToolDeclaration

_TYPING = ("Any", "Literal", "Never", "NotRequired", "TypeAlias", "TypedDict")
_WORD = re.compile("[A-Za-z]+")


def render(declarations: Sequence[ToolDeclaration]) -> str:
    """Return the source text of `litany_tools` for a toolset.

    Args:
        declarations: the tools that the door would permit; of two with one name the later counts.
    """
    stubs = read_stubs(declarations)
    spelt = [each for each in stubs if each.no_function is None]
    head = f"{_head(stubs)}\n\n{_imports(stubs)}"
    parts = [head, _OWN, *map(_function, spelt), _aio(spelt), _tables(stubs)]
    return "\n\n\n".join(parts) + "\n"


def write_stubs(declarations: Sequence[ToolDeclaration], folder: Path) -> Path:
    """Write `litany_tools.py` into a folder, for use outside the sandbox; return its path.

    With the folder on `PYTHONPATH` an editor completes the tools, a type checker checks their calls, and a
    program runs: against the workspace that the environment names (`workspace_door.py`), or in a test against
    a `FakeDoor`. The folder is made when it is missing; a module that is there is replaced whole.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "litany_tools.py"
    fresh = folder / f".litany_tools.{os.getpid()}.tmp"
    fresh.write_text(render(declarations), encoding="utf-8")
    fresh.replace(target)
    return target


def _head(stubs: Sequence[Stub]) -> str:
    lines = [
        "The tools this program may call; every call is checked, run and recorded by the door.",
        "",
        "    result = some_tool(path='a.txt')      # a Result: .stdout .stderr .exit_code .ok .data",
        "    text = some_tool('a.txt').check().stdout      # by position; a failure raises ToolError",
        "    results = fan_out(some_tool, [{'path': 'a'}, {'path': 'b'}])      # several at a time, in order",
        "    result = await aio.some_tool(path='a.txt')      # under asyncio; gather them",
        "    result = invoke('any-name', {'any key': 1})      # any tool by its exact name",
        "    print(search('words'))      # signatures of the tools that fit",
        "",
        "A tool that fails returns a Result whose `ok` is False; one that was not run has a `refusal`. A",
        "parameter left at UNSET is not sent; None is sent as null.",
    ]
    renamed = [each for each in stubs if each.no_function is None and each.function != each.name]
    if renamed:
        lines += ["", "Functions of tools whose own names Python cannot spell:", ""]
        lines += [f"    {each.function}      # as invoke({quote(each.name)}, {{...}})" for each in renamed]
    apart = [each for each in stubs if each.no_function is not None]
    if apart:
        lines += ["", "Tools that have no function here; call them by invoke:", ""]
        for each in apart:
            lines.append(f"    invoke({quote(each.name)}, {{...}})      # {each.no_function}")
    return docstring("\n".join(lines), "")


def _imports(stubs: Sequence[Stub]) -> str:
    definitions = [each for stub in stubs for each in stub.definitions]
    used = set(
        _WORD.findall(
            "\n".join([*(each.signature() for each in stubs), *(each.text for each in definitions)])
        )
    )
    typing = [each for each in _TYPING if each in used]
    lines = [
        "from __future__ import annotations",
        "",
        "from typing import TYPE_CHECKING",
        "",
        "from litany_stubs.client import UNSET, DoorError, Result, ToolError, Unset, fan_out, invoke",
        "from litany_stubs.client import aio_fan_out as _litany_aio_fan_out",
        "from litany_stubs.client import aio_invoke as _litany_aio_invoke",
        "from litany_stubs.client import as_async as _litany_as_async",
        "from litany_stubs.client import search as _litany_search",
        "from litany_stubs.client import sent as _litany_sent",
        "from litany_stubs.client import tool as _litany_tool",
        "",
    ]
    if typing:
        lines += ["if TYPE_CHECKING:", f"    from typing import {', '.join(typing)}"]
    for each in definitions:
        lines += ["", *(f"    {line}" if line else "" for line in each.text.split("\n"))]
    if definitions:
        lines += [
            "else:  # at run time a typed dict is a dict",
            *(f"    {_plain(each)}" for each in definitions),
        ]
    return "\n".join(lines)


def _plain(definition: Definition) -> str:
    return f"{definition.name} = {'dict' if definition.is_dict else 'object'}"


_OWN = '''\
def search(words: str, *, limit: int = 5) -> str:
    """Find granted tools by words in their names and descriptions: signatures, as text to print."""
    return _litany_search(words, _litany_functions, _litany_by_invoke, limit=limit)'''


_OFFER = """\
if not TYPE_CHECKING:
    from litany_stubs.module import offer as _litany_offer

    _litany_offer(__name__, globals())  # an import gets the names above; a call of any other is refused"""


def _function(stub: Stub) -> str:
    head = f"def {stub.signature()}:"
    if len(head) > WIDTH:
        inner = "".join(f"    {each},\n" for each in stub.declared())
        head = f"def {stub.function}(\n{inner}) -> Result[{stub.data}]:"
    flags = ["parse=True"] * stub.parses + ["lax=True"] * stub.lax
    offered = f"@_litany_tool({', '.join([quote(stub.name), *flags])})"
    return f"{offered}\n{head}\n    {docstring(_function_doc(stub), '    ')}\n{_body(stub)}"


def _body(stub: Stub) -> str:
    pairs = [f"{quote(each.name)}: {each.name}" for each in stub.parameters]
    if stub.more is not None:
        pairs.append(f"**{stub.more_name}")
    line = f"    return _litany_sent({{{', '.join(pairs)}}})"
    if len(line) <= WIDTH:
        return line
    inner = "".join(f"        {each},\n" for each in pairs)
    return f"    return _litany_sent({{\n{inner}    }})"


def _function_doc(stub: Stub) -> str:
    lines = [stub.description]
    if stub.function != stub.name:
        lines += ["", f"Calls the tool {quote(stub.name)}."]
    said = [
        line
        for each in stub.parameters
        for line in wrap(each.about, f"    {each.name}: ", "        ")
        if each.about
    ]
    if stub.more is not None:
        said.append(f"    **{stub.more_name}: arguments of any other name.")
    if said:
        lines += ["", "Args:"]
        lines += said
    if stub.unspelt:
        lines += ["", f"Parameters that only invoke({quote(stub.name)}, {{...}}) can send:"]
        for each in stub.unspelt:
            lines += wrap(f"{each.type}. {each.about}", f"    {quote(each.name)}: ", "        ")
    lines += ["", "Returns:"]
    if stub.parses:
        lines += wrap(f"`data` is {stub.data}. {stub.data_about}", "    ", "    ")
    else:
        lines.append("    A Result; the output is its `stdout`.")
    return "\n".join(lines)


def invoke_doc(stub: Stub) -> str:
    """Return what `search` and `describe` say of a tool that has no function."""
    said = [stub.description]
    for each in (*stub.parameters, *stub.unspelt):
        need = "required" if each.required else "optional"
        said.append(f"    {quote(each.name)}: {each.type}, {need}. {each.about}".rstrip())
    return "\n".join(said)


def _aio(spelt: Sequence[Stub]) -> str:
    lines = [
        "class aio:",
        '    """The same tools under asyncio; calls awaited together run together."""',
        "",
        "    invoke = _litany_aio_invoke",
        "    fan_out = _litany_aio_fan_out",
    ]
    lines += [f"    {each.function} = _litany_as_async({each.function})" for each in spelt]
    return "\n".join(lines)


def _tables(stubs: Sequence[Stub]) -> str:
    spelt = [each for each in stubs if each.no_function is None]
    apart = [each for each in stubs if each.no_function is not None]
    own = ["UNSET", "DoorError", "Result", "ToolError", "Unset", "aio", "fan_out", "invoke", "search"]
    types = [each.name for stub in stubs for each in stub.definitions]
    exported = [*own, *types, *(each.function for each in spelt)]
    parts = [
        _sequence("_litany_functions", [each.function for each in spelt], "()"),
        _mapping("_litany_by_invoke", [(each.name, invoke_doc(each)) for each in apart]),
        _sequence("__all__", [quote(each) for each in exported], "[]"),
        _OFFER,
    ]
    return "\n".join(parts)


def _sequence(name: str, items: Iterable[str], brackets: str) -> str:
    inner = "".join(f"    {each},\n" for each in items)
    if not inner:
        return f"{name}: tuple[()] = ()" if brackets == "()" else f"{name} = {brackets}"
    return f"{name} = {brackets[0]}\n{inner}{brackets[1]}"


def _mapping(name: str, items: Iterable[tuple[str, str]]) -> str:
    lines = [f"{name}: dict[str, str] = {{"]
    for key, value in items:
        parts = value.splitlines(keepends=True)
        lines += [f"    {quote(key)}: (", *(f"        {quote(each)}" for each in parts), "    ),"]
    return "\n".join([*lines, "}"]) if len(lines) > 1 else f"{name}: dict[str, str] = {{}}"
