"""The rules of the language, by name: what each refuses and why. `docs/language.md` prints this table."""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """One rule.

    Attributes:
        refuses: what, in a phrase.
        why: the reason, in a sentence.
    """

    refuses: str
    why: str


RULES = {
    "syntax": Rule("text that is no Python", "the running interpreter cannot parse or compile it"),
    "encoding": Rule(
        "text that cannot be decoded", "a program is UTF-8, or says its encoding in its first two lines"
    ),
    "too-large": Rule("a very large program", "parsing takes memory and time in proportion"),
    "too-deep": Rule("very deep nesting", "the interpreter's own parser and compiler have a depth limit"),
    "construct": Rule("syntax this policy was not reviewed for", "what is not known is refused"),
    "reserved-name": Rule("names that begin with _litany_", "the guards live under them"),
    "dunder-name": Rule(
        "binding or reading other dunder names", "they steer the interpreter or lead into it"
    ),
    "dunder-attribute": Rule(
        "dunder attributes that walk to classes, functions' globals or state",
        "from any object they reach every other",
    ),
    "special-method": Rule(
        "methods that the interpreter calls behind the program's back",
        "they run at moments no reader of the program sees",
    ),
    "introspection": Rule(
        "innards of frames, code, tracebacks, generators and coroutines",
        "they lead from a value to the machinery that runs it",
    ),
    "builtin": Rule("builtins that no program has", "they lead into the interpreter or wait for a person"),
    "metaclass": Rule("metaclasses", "they run code while classes are made"),
    "import": Rule(
        "modules that are not on the list", "a module is a way out unless each of its names was reviewed"
    ),
    "import-name": Rule("names a module here does not have", "a program sees a reviewed part of each module"),
    "pattern": Rule("class patterns that read guarded attributes", "a pattern reads them without a guard"),
    "format-string": Rule(
        "format strings that read private or dunder attributes",
        "a format string is an attribute access in disguise",
    ),
}
