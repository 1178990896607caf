"""Shapes: which JSON values a place takes, kind by kind, and how two of them meet.

A shape is exact per kind where it can be and wider where it cannot, never narrower. The parts of arrays and
objects are nodes, numbers of schemas that `schema.py` reads when it is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

MAX_ALTERNATIVES = 24
"""Objects, or arrays, that one place may be told apart into; beyond it they become one open one."""

Node = tuple[int, ...]
"""Schemas that must all hold, by their numbers in the document; the empty node accepts everything."""

ANYTHING: Final[Node] = ()


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """Arrays: `prefix` by position, `rest` beyond it; `fixed` when the length is that of the prefix."""

    prefix: tuple[Node, ...] = ()
    rest: Node = ANYTHING
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class ObjectShape:
    """Objects.

    Attributes:
        properties: what each named property must be.
        required: the names that must be there.
        extra: what properties of other names must be; None when there may be none.
        open_explicitly: the schema says that there may be others, rather than not speaking of it.
    """

    properties: Mapping[str, Node] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    extra: Node | None = ANYTHING
    open_explicitly: bool = False


@dataclass(frozen=True, slots=True)
class Shape:
    """What is accepted of each kind; a tuple of values stands for these values only.

    Attributes:
        null: whether null is.
        booleans: which booleans.
        numbers: `"float"`, `"int"`, or the integers accepted, or () for no number.
        strings: those accepted, or None for every string.
        arrays: alternatives.
        objects: alternatives.
    """

    null: bool = True
    booleans: tuple[bool, ...] = (True, False)
    numbers: str | tuple[int, ...] = "float"
    strings: tuple[str, ...] | None = None
    arrays: tuple[ArrayShape, ...] = (ArrayShape(),)
    objects: tuple[ObjectShape, ...] = (ObjectShape(),)

    def is_empty(self) -> bool:
        """Whether no value at all is accepted."""
        return self == NOTHING


EVERYTHING: Final = Shape()
NOTHING: Final = Shape(null=False, booleans=(), numbers=(), strings=(), arrays=(), objects=())

KINDS: Final[Mapping[str, Shape]] = {
    "null": replace(NOTHING, null=True),
    "boolean": replace(NOTHING, booleans=(True, False)),
    "integer": replace(NOTHING, numbers="int"),
    "number": replace(NOTHING, numbers="float"),
    "string": replace(NOTHING, strings=None),
    "array": replace(NOTHING, arrays=(ArrayShape(),)),
    "object": replace(NOTHING, objects=(ObjectShape(),)),
}
OBJECT: Final = KINDS["object"]


def intersect(one: Shape, two: Shape) -> Shape:
    """Return what both accept, or a little more, never less."""
    if one is EVERYTHING or two is EVERYTHING:
        return two if one is EVERYTHING else one
    return Shape(
        null=one.null and two.null,
        booleans=tuple(each for each in one.booleans if each in two.booleans),
        numbers=_both_numbers(one.numbers, two.numbers),
        strings=_both_strings(one.strings, two.strings),
        arrays=_both(one.arrays, two.arrays, _both_arrays),
        objects=_both(one.objects, two.objects, _both_objects),
    )


def unite(one: Shape, two: Shape) -> Shape:
    """Return what either accepts."""
    if EVERYTHING in (one, two):
        return EVERYTHING
    return Shape(
        null=one.null or two.null,
        booleans=tuple(each for each in (True, False) if each in one.booleans or each in two.booleans),
        numbers=_either_number(one.numbers, two.numbers),
        strings=None if one.strings is None or two.strings is None else _distinct(one.strings + two.strings),
        arrays=_few(one.arrays, two.arrays, ArrayShape()),
        objects=_few(one.objects, two.objects, ObjectShape(open_explicitly=True)),
    )


def join(one: Node, two: Node) -> Node:
    """Return the node of all schemas of both."""
    return tuple(dict.fromkeys(one + two))


def of_values(values: Any) -> Shape:
    """Return the shape of an enumeration; arrays, objects and fractions are known by their kind only."""
    strings = [each for each in values if isinstance(each, str)]
    booleans = [each for each in values if isinstance(each, bool)]
    numbers = [each for each in values if isinstance(each, (int, float)) and not isinstance(each, bool)]
    whole = all(isinstance(each, int) for each in numbers)
    return Shape(
        null=any(each is None for each in values),
        booleans=tuple(each for each in (True, False) if each in booleans),
        numbers=_distinct(numbers) if whole else "float",
        strings=_distinct(strings),
        arrays=(ArrayShape(),) if any(isinstance(each, (list, tuple)) for each in values) else (),
        objects=(ObjectShape(open_explicitly=True),)
        if any(isinstance(each, Mapping) for each in values)
        else (),
    )


def _both_numbers(one: str | tuple[int, ...], two: str | tuple[int, ...]) -> str | tuple[int, ...]:
    if isinstance(one, tuple):
        return tuple(each for each in one if each in two) if isinstance(two, tuple) else one
    if isinstance(two, tuple):
        return two
    return "int" if "int" in (one, two) else "float"


def _either_number(one: str | tuple[int, ...], two: str | tuple[int, ...]) -> str | tuple[int, ...]:
    if isinstance(one, tuple) and isinstance(two, tuple):
        return _distinct(one + two)
    if one == () or two == ():
        return two if one == () else one
    return "float" if "float" in (one, two) else "int"


def _both_strings(one: tuple[str, ...] | None, two: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if one is None or two is None:
        return two if one is None else one
    return tuple(each for each in one if each in set(two))


def _both_arrays(one: ArrayShape, two: ArrayShape) -> ArrayShape:
    length = max(len(one.prefix), len(two.prefix))
    prefix = tuple(
        join(
            one.prefix[index] if index < len(one.prefix) else one.rest,
            two.prefix[index] if index < len(two.prefix) else two.rest,
        )
        for index in range(length)
    )
    return ArrayShape(prefix, join(one.rest, two.rest), one.fixed or two.fixed)


def _both_objects(one: ObjectShape, two: ObjectShape) -> ObjectShape | None:
    required = one.required | two.required
    properties: dict[str, Node] = {}
    for name in dict.fromkeys((*one.properties, *two.properties)):
        parts = [each.properties.get(name, each.extra) for each in (one, two)]
        if parts[0] is None or parts[1] is None:  # the other allows no such property
            if name in required:
                return None
            continue
        properties[name] = join(parts[0], parts[1])
    extra = None if one.extra is None or two.extra is None else join(one.extra, two.extra)
    if extra is None and not required <= properties.keys():
        return None
    explicitly = extra is not None and (one.open_explicitly or two.open_explicitly)
    return ObjectShape(properties, required, extra, explicitly)


def _both(one: tuple[Any, ...], two: tuple[Any, ...], both: Any) -> tuple[Any, ...]:
    if len(one) * len(two) > MAX_ALTERNATIVES:
        return one if len(one) <= len(two) else two  # one of the conjuncts alone is wider than both
    found: list[Any] = []
    for each in (both(a, b) for a in one for b in two):
        if each is not None and each not in found:
            found.append(each)
    return tuple(found)


def _few(one: tuple[Any, ...], two: tuple[Any, ...], widest: Any) -> tuple[Any, ...]:
    every = [*one]
    every += [each for each in two if each not in every]
    return (widest,) if len(every) > MAX_ALTERNATIVES else tuple(every)


def _distinct(values: Any) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))
