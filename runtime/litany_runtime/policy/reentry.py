"""C code that calls back into a program while it holds pointers into an object, and what is done about each.

Much of CPython's C code reads a pointer or a size, asks the program's object for an index, a comparison, the
next item, and goes on with what it read. A program whose special method empties the container meanwhile makes
it read and write freed memory. Newer versions of CPython mend these ways one by one; the versions that are
reviewed here have most of them, so they are closed from outside, each by one of four means:

- what the C code would ask the program for is asked before it starts (`number`, `list(values)`);
- what it points to is held meanwhile (an export of a buffer, a tuple of a list's items);
- a method that changes an object is refused while a method of the same object is calling back (`Busy`);
- the method is written in Python.

Methods that ordinary programs call often are exchanged only in a child whose program has a class with the
special methods it takes (`NUMBERS`, `COMPARISONS`), or a slice with a step (`STEPS`): all others run the
interpreter's own.
"""

from __future__ import annotations

import array
import asyncio
import collections
import contextvars
import copy
import csv
import datetime as dt
import dis
import io
import operator
import struct
import types
import weakref
from collections import abc
from typing import TYPE_CHECKING, Any
from xml.etree import ElementPath
from xml.etree import ElementTree as ET

from litany_runtime.policy import ownership
from litany_runtime.policy.amending import Busy, amend, amend_when, arm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType

NUMBERS, COMPARISONS, STEPS, HINTS = "numbers", "comparisons", "steps", "hints"

TRIGGERS = {
    **dict.fromkeys(("__index__", "__float__", "__int__", "__trunc__", "__bool__"), NUMBERS),
    **dict.fromkeys(
        ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "cmp_to_key"), COMPARISONS
    ),
    "__length_hint__": HINTS,
    "slice": STEPS,
}
"""Names that a program's code carries where it defines what these guards are for."""

SPECIAL_METHODS = frozenset(name for name in TRIGGERS if name.startswith("__"))

_BUILD_SLICE = dis.opmap["BUILD_SLICE"]
_WITH_STEP = 3

busy = Busy()


def watch(code: CodeType) -> None:
    """Exchange the methods that a program's code makes dangerous, before it runs."""
    pending = [code]
    while pending:
        each = pending.pop()
        for name in TRIGGERS.keys() & set(each.co_names):
            arm(TRIGGERS[name])
        text = each.co_code
        at = text.find(_BUILD_SLICE)
        while at >= 0:
            if at % 2 == 0 and text[at + 1] == _WITH_STEP:
                arm(STEPS)
                break
            at = text.find(_BUILD_SLICE, at + 1)
        pending.extend(constant for constant in each.co_consts if isinstance(constant, types.CodeType))


def watch_class(cls: type) -> None:
    """The same for a class that was made otherwise, or inherits a special method that calls the program's."""
    for base in ownership.mro(cls):
        if base.__module__ != "builtins":
            for name in SPECIAL_METHODS & ownership.class_dict(base).keys():
                if not _is_made_by_dataclass(ownership.class_dict(base)[name]):
                    arm(TRIGGERS[name])


def watch_name(name: str) -> None:
    """The same for a special method that is set on a class by its name."""
    if name in TRIGGERS:
        arm(TRIGGERS[name])


def _is_made_by_dataclass(function: Any) -> bool:
    """`dataclass` compares tuples of fields; what is in them has a class of its own."""
    return type(function) is types.FunctionType and function.__code__.co_filename == "<string>"


def mend() -> None:
    """Exchange what is always exchanged, and prepare the rest. Once, in the zygote, before it seals."""
    _mend_arrays()
    _mend_bytes()
    _mend_lists()
    _mend_structs()
    _mend_ordered_dicts()
    _mend_elements()
    _mend_streams()
    _mend_csv()
    _mend_futures()
    _mend_proxies()
    _mend_unicode_errors()
    _mend_contexts()
    _mend_dates()


def _any(thing: Any) -> Any:
    """The library's private parts have no declared types."""
    return thing


PLAIN = frozenset({int, float, str, bytes, bytearray, bool, type(None)})
"""Types whose conversions run no code of a program."""


def number(value: Any) -> Any:
    """A value as the plain integer that C code would make of it, if it would; else itself."""
    if type(value) in PLAIN or not hasattr(type(value), "__index__"):
        return value
    return operator.index(value)


def real(value: Any) -> Any:
    """A value as the plain float that C code would make of it, if it would; else itself."""
    kind = type(value)
    if (
        kind in PLAIN
        or isinstance(value, str)
        or not (hasattr(kind, "__float__") or hasattr(kind, "__index__"))
    ):
        return value
    return float(value)


def key_of(key: Any) -> Any:
    """An index or a slice without objects of the program."""
    if type(key) is slice:
        return slice(number(key.start), number(key.stop), number(key.step))
    return number(key)


# -- arrays, bytes and lists -----------------------------------------------------------------------


def _mend_arrays() -> None:
    cls = array.array
    own = cls.__dict__
    set_item, insert, append, extend, from_list, to_file = (
        own[name] for name in ("__setitem__", "insert", "append", "extend", "fromlist", "tofile")
    )

    def plain(self: Any, value: Any) -> Any:
        return real(value) if self.typecode in "fd" else number(value)

    def setitem(self: Any, key: Any, value: Any, /) -> None:
        set_item(self, key_of(key), value if isinstance(value, cls) else plain(self, value))

    def insert_(self: Any, index: Any, value: Any, /) -> None:
        insert(self, number(index), plain(self, value))

    def append_(self: Any, value: Any, /) -> None:
        append(self, plain(self, value))

    def extend_(self: Any, values: Any, /) -> None:
        if isinstance(values, cls):
            extend(self, values)
        else:
            for value in values:
                append(self, plain(self, value))

    def fromlist(self: Any, values: Any, /) -> None:
        from_list(self, [plain(self, value) for value in values] if isinstance(values, list) else values)

    def tofile(self: Any, file: Any, /) -> None:
        with memoryview(self):
            to_file(self, file)

    guarded: dict[str, Any] = {
        "__setitem__": setitem,
        "insert": insert_,
        "append": append_,
        "extend": extend_,
        "fromlist": fromlist,
    }
    amend_when(NUMBERS, cls, guarded)
    amend(cls, {"tofile": tofile})


def _held(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a buffer's owner, whose memory stays where it is meanwhile: a change is a BufferError."""

    def held(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        with memoryview(self):
            return method(self, *args, **kwargs)

    return held


def _mend_bytes() -> None:
    own: Any = bytearray.__dict__
    searching = "find rfind index rindex count startswith endswith __contains__ split rsplit".split()
    amend_when(NUMBERS, bytearray, {name: _held(own[name]) for name in searching})
    amend(bytearray, {name: _held(own[name]) for name in ("hex", "__mod__")})
    extend = own["extend"]

    def extend_(self: Any, values: Any, /) -> None:
        extend(self, values if type(values) in PLAIN else list(values))

    amend_when(HINTS, bytearray, {"extend": extend_})
    views: Any = memoryview.__dict__
    amend(memoryview, {name: _held(views[name]) for name in ("hex", "__hash__")})


def _mend_lists() -> None:
    own: Any = list.__dict__
    set_item = own["__setitem__"]
    plain = frozenset({list, tuple, str, bytes, range})

    def setitem(self: Any, key: Any, value: Any, /) -> None:
        if type(key) is slice and type(value) not in plain and not isinstance(value, list | tuple):
            value = list(value)  # its iterator may change this list; the C code counts before it asks
        set_item(self, key, value)

    amend_when(STEPS, list, {"__setitem__": setitem})

    def comparison(name: str) -> Any:
        compare = own[name]

        def compared(self: Any, other: Any, /) -> Any:
            if isinstance(other, list):
                _kept = (*self, *other)  # held here while they compare themselves
            return compare(self, other)

        return compared

    names = "__lt__ __le__ __gt__ __ge__ __eq__ __ne__".split()
    amend_when(COMPARISONS, list, {name: comparison(name) for name in names})


# -- structs and dictionaries ----------------------------------------------------------------------


UNINITIALISED = -1
"""The size of a `Struct` whose `__init__` did not run."""


def _mend_structs() -> None:
    cls: Any = struct.Struct
    own = cls.__dict__
    init, size, size_of, text = own["__init__"], own["size"].__get__, own["__sizeof__"], own["format"].__get__

    def begin(self: Any, *args: Any, **kwargs: Any) -> None:
        if size(self) != UNINITIALISED:  # what it packs with may be in use
            raise TypeError(f"a {type(self).__name__} is initialised once (make another)")
        init(self, *args, **kwargs)

    def sizeof(self: Any, /) -> int:
        check(self)
        return size_of(self)  # type: ignore[no-any-return]

    def format_(self: Any) -> str:
        """The format."""
        check(self)
        return text(self)  # type: ignore[no-any-return]

    def check(self: Any) -> None:
        if size(self) == UNINITIALISED:
            raise RuntimeError("Struct object is not initialized")

    amend(cls, {"__init__": begin, "__sizeof__": sizeof, "format": property(format_)})


def _mend_ordered_dicts() -> None:
    cls = collections.OrderedDict
    copied = cls.__dict__["copy"]

    def copy_(self: Any) -> Any:
        if type(self) is cls:
            return copied(self)
        made = type(self)()
        for key in list(self):
            made[key] = self[key]
        return made

    amend(cls, {"copy": copy_})
    changing = "pop popitem move_to_end clear update setdefault __setitem__ __delitem__ __ior__"
    own = cls.__dict__
    clear, set_item = own["clear"], own["__setitem__"]

    def whole(method: Callable[..., Any]) -> Callable[..., Any]:
        """A method after whose failure the order has all keys: it forgets a key before it has compared it."""

        def tried(self: Any, /, *args: Any, **kwargs: Any) -> Any:
            try:
                return method(self, *args, **kwargs)
            except BaseException:
                if sum(1 for _ in ordered(self)) != len(self):
                    items = list(dict.items(self))
                    clear(self)
                    for key, value in items:
                        set_item(self, key, value)
                raise

        return tried

    ordered = own["__iter__"]

    def steps(step: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
        """An iterator over keys, which is inside the dictionary while it looks for the next."""

        def keys(self: Any, /) -> Iterator[Any]:
            iterator, end = step(self), object()
            while True:
                busy.enter(self)
                try:
                    key = next(iterator, end)
                finally:
                    busy.leave(self)
                if key is end:
                    return
                yield key

        return keys

    guards = busy.guards(cls, "__eq__ __ne__ __or__ __ror__")
    guards |= {name: busy.changing(whole(own[name])) for name in changing.split() if name in own}
    guards |= {
        "copy": busy.calling(copy_),
        "__iter__": steps(ordered),
        "__reversed__": steps(own["__reversed__"]),
    }
    views = {"keys": abc.KeysView, "values": abc.ValuesView, "items": abc.ItemsView}
    guards |= {name: _view(kind) for name, kind in views.items()}
    amend_when(COMPARISONS, cls, guards)


def _view(kind: Any) -> Callable[[Any], Any]:
    def view(self: Any, /) -> Any:
        return kind(self)

    return view


# -- elements --------------------------------------------------------------------------------------


def _mend_elements() -> None:
    cls: Any = ET.Element
    own = cls.__dict__
    get_item, set_item, delete_item = own["__getitem__"], own["__setitem__"], own["__delitem__"]

    def getitem(self: Any, key: Any, /) -> Any:
        return get_item(self, key_of(key))

    def setitem(self: Any, key: Any, value: Any, /) -> None:
        if type(key) is slice and not isinstance(value, list | tuple):
            value = list(value)
        set_item(self, key_of(key), value)

    def delitem(self: Any, key: Any, /) -> None:
        delete_item(self, key_of(key))

    def remove(self: Any, subelement: Any, /) -> None:
        if not isinstance(subelement, cls):
            raise TypeError(
                f"remove() argument must be xml.etree.ElementTree.Element, not {type(subelement).__name__}"
            )
        for child in list(self):
            if child is subelement or child == subelement:
                for at, other in enumerate(list(self)):
                    if other is child:
                        delete_item(self, at)
                        return
                return
        raise ValueError("list.remove(x): x not in list")

    def children(self: Any, tag: Any) -> Iterator[Any]:
        """The children with a tag that is no path, compared as the C code compares."""
        return (child for child in list(self) if child.tag is tag or child.tag == tag)

    def is_path(path: Any, namespaces: Any) -> bool:
        return type(path) is str or namespaces is not None

    def find(self: Any, path: Any, namespaces: Any = None) -> Any:
        if is_path(path, namespaces):
            return ElementPath.find(self, path, namespaces)
        return next(children(self, path), None)

    def findtext(self: Any, path: Any, default: Any = None, namespaces: Any = None) -> Any:
        if is_path(path, namespaces):
            return ElementPath.findtext(self, path, default, namespaces)
        for child in children(self, path):
            return "" if child.text is None else child.text
        return default

    def findall(self: Any, path: Any, namespaces: Any = None) -> Any:
        if is_path(path, namespaces):
            return ElementPath.findall(self, path, namespaces)
        return list(children(self, path))

    amend(cls, {"__setitem__": setitem, "__deepcopy__": _deep_copy_of_element})
    amend_when(NUMBERS, cls, {"__getitem__": getitem, "__delitem__": delitem})
    amend_when(COMPARISONS, cls, {"remove": remove, "find": find, "findtext": findtext, "findall": findall})


def _deep_copy_of_element(self: Any, memo: Any, /) -> Any:
    """A deep copy; trees are as deep as their document, so no call goes deeper for a child."""

    def one(element: Any) -> Any:
        made = ET.Element(copy.deepcopy(element.tag, memo), copy.deepcopy(element.attrib, memo))
        made.text = copy.deepcopy(element.text, memo)
        made.tail = copy.deepcopy(element.tail, memo)
        memo[id(element)] = made
        return made

    root = one(self)
    pending = [(root, list(self))]
    while pending:
        parent, children = pending.pop()
        for child in children:
            if type(child) is ET.Element and id(child) not in memo:
                made = one(child)
                pending.append((made, list(child)))
            else:
                made = copy.deepcopy(child, memo)
            parent.append(made)
    return root


# -- streams ---------------------------------------------------------------------------------------


class _Stream:
    """A program's stream as C code gets it.

    `readinto` and `write` get bytes of their own: what C code hands out is a view of its buffer, which a
    program could keep beyond the buffer's life. And what is running is known, so that nothing is taken away
    under it.
    """

    __slots__ = ("program",)

    def __init__(self, program: Any) -> None:
        self.program = program

    def __getattr__(self, name: str) -> Any:
        value = _run(getattr, self.program, name)
        if not callable(value):
            return value

        def call(*args: Any, **kwargs: Any) -> Any:
            return _run(value, *args, **kwargs)

        return call

    def readinto(self, view: Any) -> Any:
        own = bytearray(len(view))
        count = _run(self.program.readinto, own)
        if count is None:
            return None
        count = operator.index(count)
        if not 0 <= count <= min(len(view), len(own)):
            raise OSError(
                f"raw readinto() returned invalid length {count} (should have been between 0 and {len(own)})"
            )
        view[:count] = own[:count]
        return count

    def write(self, data: Any) -> Any:
        return _run(self.program.write, bytes(data) if type(data) is memoryview else data)


_running: list[Any] = []
"""The methods of program's streams that are running."""


def _run(method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    _running.append(method)
    try:
        return method(*args, **kwargs)
    finally:
        _running.pop()


def _programs(stream: Any) -> bool:
    """Whether a stream may run code of the program when C code calls its methods with a buffer."""
    kind = type(stream)
    return ownership.is_own_class(kind) or not (
        issubclass(kind, io.IOBase) or kind.__module__ in {"tarfile", "tempfile", "_io"}
    )


def _refuse_while_running(what: str) -> None:
    if _running:
        raise RuntimeError(f"{what} is refused while a stream of the program is running")


def _mend_streams() -> None:
    for cls in (io.BufferedReader, io.BufferedWriter, io.BufferedRandom):
        _mend_stream(cls, "raw")
    _mend_stream(io.TextIOWrapper, "buffer")
    raw_base: Any = io.RawIOBase.__mro__[1]
    texts: Any = io.StringIO
    set_state = texts.__dict__["__setstate__"]

    def setstate(self: Any, state: Any, /) -> None:
        if type(state) is not tuple or not state or type(state[0]) is not str:
            raise TypeError("the state of a StringIO begins with its text")
        set_state(self, state)

    amend(texts, {"__setstate__": setstate})

    def read(self: Any, size: Any = -1, /) -> Any:
        size = -1 if size is None else operator.index(size)
        if size < 0:
            return self.readall()
        own = bytearray(size)
        count = self.readinto(own)
        if count is None:
            return None
        count = operator.index(count)
        if not 0 <= count <= len(own):
            raise ValueError(f"readinto() returned {count} for a buffer of {len(own)} bytes")
        return bytes(own[:count])

    amend(raw_base, {"read": read})


def _mend_stream(cls: Any, inner: str) -> None:
    own = cls.__dict__
    init, detach, member = own["__init__"], own["detach"], own[inner]

    def start(self: Any, stream: Any, *args: Any, **kwargs: Any) -> None:
        _refuse_while_running(f"{cls.__name__}.__init__")
        init(self, _Stream(stream) if _programs(stream) else stream, *args, **kwargs)

    def started(self: Any, *args: Any, **kwargs: Any) -> None:
        if inner in kwargs:
            start(self, kwargs.pop(inner), *args, **kwargs)
        elif args:
            start(self, *args, **kwargs)
        else:
            init(self, *args, **kwargs)

    def detach_(self: Any, /) -> Any:
        _refuse_while_running(f"{cls.__name__}.detach")
        stream = detach(self)
        return stream.program if type(stream) is _Stream else stream

    def get(self: Any) -> Any:
        stream = member.__get__(self)
        return stream.program if type(stream) is _Stream else stream

    get.__doc__ = member.__doc__
    amend(cls, {"__init__": started, "detach": detach_, inner: property(get)})


def _mend_csv() -> None:
    reader = csv.reader
    plain = frozenset({list, tuple, io.StringIO, types.GeneratorType})

    def lines(source: Iterable[Any]) -> Iterator[Any]:
        """A generator does not run inside itself, and so neither does the reader that reads it."""
        yield from source

    def reader_(iterable: Any, /, *args: Any, **kwargs: Any) -> Any:
        """csv.reader(iterable [, dialect='excel'] [optional keyword args]) -> an iterator of rows."""
        return reader(iterable if type(iterable) in plain else lines(iterable), *args, **kwargs)

    reader_.__name__ = reader_.__qualname__ = "reader"
    reader_.__module__ = "_csv"
    library: Any = csv
    library.reader = reader_


# -- futures, proxies, contexts --------------------------------------------------------------------


def _mend_futures() -> None:
    for cls in (asyncio.Future, asyncio.Task):
        _mend_future(cls)


def _mend_future(cls: Any) -> None:
    own = cls.__dict__
    init, loop_of = own["__init__"], cls.__dict__["_loop"].__get__

    def begin(self: Any, *args: Any, loop: Any = None, **kwargs: Any) -> None:
        if loop is not None and not (
            isinstance(loop, asyncio.AbstractEventLoop) and not ownership.is_own_class(type(loop))
        ):
            raise TypeError(f"loop must be an event loop of asyncio, not {type(loop).__name__}")
        if loop_of(self) is not None:
            raise TypeError(f"a {cls.__name__} is initialised once (make another)")
        init(self, *args, loop=loop, **kwargs)

    amended: dict[str, Any] = {"__init__": begin}
    if "get_coro" in own:
        get_coro = own["get_coro"]

        def get_coro_(self: Any, /) -> Any:
            if loop_of(self) is None:
                raise RuntimeError("Task object is not initialized.")
            return get_coro(self)

        amended["get_coro"] = get_coro_
    amend(cls, amended)

    add, remove = own["add_done_callback"], own["remove_done_callback"]

    def add_done_callback(self: Any, callback: Any, /, *, context: Any = None) -> None:
        add(self, _by_identity(callback), context=context)

    def remove_done_callback(self: Any, callback: Any, /) -> Any:
        return remove(self, _by_identity(callback))

    amend_when(
        COMPARISONS,
        cls,
        {"add_done_callback": add_done_callback, "remove_done_callback": remove_done_callback},
    )


def _by_identity(callback: Any) -> Any:
    """A callback that is compared with no code of the program: bound methods compare by their objects."""
    return types.MethodType(_call_back, callback) if ownership.is_own_class(type(callback)) else callback


def _call_back(callback: Any, *args: Any) -> Any:
    return callback(*args)


def _mend_proxies() -> None:
    builtin = type(len)

    def referent(proxy: Any) -> Any:
        """What a proxy stands for, held; a method of `object` that nothing can shadow leads there."""
        method = proxy.__reduce_ex__
        if type(method) is not builtin:
            raise TypeError("the object of a weak proxy hides its __reduce_ex__")
        return _any(method).__self__

    kinds = (weakref.ProxyType, weakref.CallableProxyType)

    def comparison(name: str) -> Any:
        compare = getattr(operator, name.strip("_"))

        def compared(self: Any, other: Any, /) -> Any:
            left = referent(self)
            return compare(left, referent(other) if type(other) in kinds else other)

        return compared

    for cls in kinds:
        names = "__lt__ __le__ __gt__ __ge__ __eq__ __ne__".split()
        amend(cls, {name: comparison(name) for name in names})


def _mend_contexts() -> None:
    own: Any = contextvars.Context.__dict__

    def comparison(name: str) -> Any:
        compare = own[name]

        def compared(self: Any, other: Any, /) -> Any:
            if isinstance(other, contextvars.Context):  # copies: nothing sets a variable in them
                return compare(self.copy(), other.copy())
            return NotImplemented

        return compared

    amend(contextvars.Context, {name: comparison(name) for name in ("__eq__", "__ne__")})


# -- errors and dates ------------------------------------------------------------------------------


def _mend_unicode_errors() -> None:
    """The C code believes `start` and `end`, which are the program's to set."""

    def where(error: Any) -> tuple[str, str]:
        """Which characters, and their position, in the words of the C code."""
        source, start, end = error.object, error.start, error.end
        if 0 <= start < len(source) and end == start + 1:
            return _named(source[start]), f"position {start}"
        return "s" if isinstance(source, str) else "bytes", f"position {start}-{end - 1}"

    def text(error: Any) -> str:
        try:
            found, position = where(error)
            reason = str(error.reason)
        except (TypeError, AttributeError):
            return ""  # as the C code says of an error that was never initialised
        single = found not in {"s", "bytes"}
        if isinstance(error, UnicodeDecodeError):
            what = f"byte {found}" if single else "bytes"
            return f"{str(error.encoding)!r} codec can't decode {what} in {position}: {reason}"
        what = f"character {found}" if single else "characters"
        if isinstance(error, UnicodeEncodeError):
            return f"{str(error.encoding)!r} codec can't encode {what} in {position}: {reason}"
        return f"can't translate {what} in {position}: {reason}"

    for cls in (UnicodeEncodeError, UnicodeDecodeError, UnicodeTranslateError):
        amend(cls, {"__str__": lambda self, /: text(self)})


def _named(unit: Any) -> str:
    if isinstance(unit, int):
        return f"0x{unit:02x}"
    code = ord(unit)
    return (
        f"'\\x{code:02x}'" if code <= 0xFF else f"'\\u{code:04x}'" if code <= 0xFFFF else f"'\\U{code:08x}'"
    )


def _mend_dates() -> None:
    """A date can be made from bytes that name no day; the C code takes a name of a weekday from it."""
    for cls in (dt.date, dt.datetime):
        amend(cls, {"ctime": _ctime(cls.__dict__["ctime"])})


def _ctime(method: Callable[..., str]) -> Callable[..., str]:
    def ctime(self: Any, /) -> str:
        self.replace(day=self.day)  # raises for a day that is none
        return method(self)

    return ctime
