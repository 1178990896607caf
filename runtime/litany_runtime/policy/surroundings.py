"""What a program sees of its process and its machine: as little as makes ordinary programs run.

A program has no environment, no commands, one operating system and its own recursion limit. Each function
here stands for one of the library's that would look at the host, or start a process to find out.
"""

from __future__ import annotations

import atexit
import os
import platform
import secrets
import shutil
import sys
import threading
import timeit
import traceback
import uuid
from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

from litany_runtime.policy import state

if TYPE_CHECKING:
    from collections.abc import Callable

# -- the environment -------------------------------------------------------------------------------


class Environment(MutableMapping[str, str]):
    """`os.environ` of a program: empty when it begins, and nobody else's."""

    __slots__ = ("_variables",)

    def __init__(self) -> None:
        self._variables: dict[str, str] = {}

    def __getitem__(self, key: str) -> str:
        return self._variables[_text(key)]

    def __setitem__(self, key: str, value: str) -> None:
        self._variables[_text(key)] = _text(value)

    def __delitem__(self, key: str) -> None:
        del self._variables[_text(key)]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._variables))

    def __len__(self) -> int:
        return len(self._variables)

    def __repr__(self) -> str:
        return f"environ({self._variables!r})"

    def __or__(self, other: Any) -> Any:
        return dict(self) | dict(other) if hasattr(other, "keys") else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return dict(other) | dict(self) if hasattr(other, "keys") else NotImplemented

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def copy(self) -> dict[str, str]:
        """Return the variables as a dict of their own."""
        return dict(self)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"str expected, not {type(value).__name__}")
    return str.__str__(value)


environ = Environment()


def getenv(key: Any, default: Any = None) -> Any:
    """Get a variable of the program's environment, or the default."""
    return environ.get(key, default)


def expandvars(path: Any) -> Any:
    """Expand $name and ${name} from the program's environment; what is not set stays as it is."""
    text = os.fspath(path)
    if not isinstance(text, str):
        return text
    parts, rest = [], text
    while "$" in rest:
        before, _, rest = rest.partition("$")
        parts.append(before)
        if rest.startswith("{") and "}" in rest:
            name, _, after = rest[1:].partition("}")
            written = f"${{{name}}}"
        else:
            length = len(rest) - len(rest.lstrip(_NAME_CHARACTERS))
            name, after = rest[:length], rest[length:]
            written = f"${name}"
        parts.append(environ.get(name, written))
        rest = after
    return "".join([*parts, rest])


_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

# -- the machine -----------------------------------------------------------------------------------


def system() -> str:
    """Return the name of the operating system."""
    return "Linux"


def machine() -> str:
    """Return the kind of machine, as in 'x86_64'."""
    return os.uname().machine


def _untold() -> Callable[[], str]:
    def untold() -> str:
        """Return "", as the library does where a thing cannot be determined."""
        return ""

    return untold


def describe_platform(aliased: Any = False, terse: Any = False) -> str:
    """Return the operating system and the machine in one text."""
    return f"Linux-{machine()}"


def uname() -> Any:
    """Return what is told of the system, as a named tuple."""
    return platform.uname_result("Linux", "", "", "", machine())


def architecture(executable: Any = "", bits: Any = "", linkage: Any = "") -> tuple[str, str]:
    """Return the size of a pointer and the format of programs."""
    return ("64bit" if sys.maxsize > 1 << 32 else "32bit", "ELF")


def sched_getaffinity(pid: Any, /) -> set[int]:
    """Return the processors that the program may use; of no other process."""
    if pid != 0:
        raise PermissionError("a program asks about itself only: os.sched_getaffinity(0)")
    return os.sched_getaffinity(0)


def which(cmd: Any, mode: Any = os.F_OK | os.X_OK, path: Any = None) -> None:
    """Return None: there are no commands here. Tools run commands."""
    os.fspath(cmd)


def disk_usage(path: Any) -> Any:
    """Return total, used and free bytes of the file system that a path is on."""
    if state.prepared is not None:
        state.prepared.rules.look(path)
    return shutil.disk_usage(path)


def uuid1(node: Any = None, clock_seq: Any = None) -> uuid.UUID:
    """Make a UUID from the time; the node is random, for a program knows of no network card."""
    if node is None:
        node = secrets.randbits(48) | MULTICAST
    return uuid.uuid1(node, secrets.randbits(14) if clock_seq is None else clock_seq)


MULTICAST = 1 << 40
"""The bit that RFC 4122, 4.5 asks for in a node that is no network card's."""


# -- the interpreter -------------------------------------------------------------------------------

depth = [0]
"""Calls of the runtime's below a program's first; a program counts from its own."""


def getrecursionlimit() -> int:
    """Return the greatest depth of the program's calls."""
    return sys.getrecursionlimit() - depth[0]


def setrecursionlimit(limit: Any, /) -> None:
    """Set the greatest depth of the program's calls."""
    wanted = limit.__index__() if hasattr(limit, "__index__") else limit
    if type(wanted) is not int:
        raise TypeError(f"{type(limit).__name__!r} object cannot be interpreted as an integer")
    if wanted < 1:
        raise ValueError("recursion limit must be greater or equal than 1")
    try:
        sys.setrecursionlimit(wanted + depth[0])
    except RecursionError as error:
        at = depth_told(error) - depth[0] - 1  # this function's own call is none of the program's
        raise RecursionError(
            f"cannot set the recursion limit to {wanted} at the recursion depth {at}: the limit is too low"
        ) from None


def depth_told(error: RecursionError) -> int:
    """How deep the interpreter says it is, when it refuses a limit."""
    return int(str(error).partition("depth ")[2].partition(":")[0])


MIN_STACK_BYTES = 1024 * 1024
"""A smaller stack could be left by one deep C call without touching the page that guards it."""


def stack_size(size: Any = 0, /) -> int:
    """Return the stack size of new threads, in bytes, and set it; 0 is the system's own."""
    if size != 0 and (type(size) is not int or size < MIN_STACK_BYTES):
        raise ValueError(f"a thread's stack is 0 (the system's own) or at least {MIN_STACK_BYTES} bytes")
    return threading.stack_size(size)


_at_exit: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []


def register(func: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call a function when the program ends; the last one first."""
    if not callable(func):
        raise TypeError("the first argument must be callable")
    if not _at_exit:
        atexit.register(_run_at_exit)
    _at_exit.append((func, args, kwargs))
    return func


def unregister(func: Any, /) -> None:
    """Call a function no longer when the program ends."""
    for entry in list(_at_exit):
        if entry[0] == func:
            _at_exit[:] = [kept for kept in _at_exit if kept is not entry]


def _run_at_exit() -> None:
    while _at_exit:
        func, args, kwargs = _at_exit.pop()
        try:
            func(*args, **kwargs)
        except Exception:  # noqa: BLE001 - the program's own; the others get their turn
            traceback.print_exc()


# -- timing ----------------------------------------------------------------------------------------


NUMBER = 1_000_000
REPEAT = 5
"""The library's own defaults."""


class Timer:
    """Times calls of a function. The library's would run text."""

    def __init__(
        self, stmt: Any = None, setup: Any = None, timer: Any = timeit.default_timer, globals: Any = None
    ) -> None:
        if not callable(stmt) or not (setup is None or setup in {"", "pass"} or callable(setup)):
            raise TypeError("timeit takes functions here: timeit.timeit(lambda: work())")
        self.stmt, self.setup, self.timer = stmt, setup, timer

    def timeit(self, number: int = NUMBER) -> float:
        """Return the seconds that `number` calls take."""
        if callable(self.setup):
            self.setup()
        stmt, timer = self.stmt, self.timer
        start = timer()
        for _ in range(number):
            stmt()
        return timer() - start  # type: ignore[no-any-return]

    def repeat(self, repeat: int = REPEAT, number: int = NUMBER) -> list[float]:
        """Return several timings, one after the other."""
        return [self.timeit(number) for _ in range(repeat)]

    def autorange(self, callback: Any = None) -> tuple[int, float]:
        """Return a number of calls that takes at least 0.2 s, and the time they took."""
        i = 1
        while True:
            for j in 1, 2, 5:
                number = i * j
                taken = self.timeit(number)
                if callback:
                    callback(number, taken)
                if taken >= 0.2:
                    return number, taken
            i *= 10

    def print_exc(self, file: Any = None) -> None:
        """Print the traceback of the exception that is handled."""
        traceback.print_exc(file=file)


Timer.__module__ = "timeit"


def time_it(
    stmt: Any = None,
    setup: Any = None,
    timer: Any = timeit.default_timer,
    number: int = NUMBER,
    globals: Any = None,
) -> float:
    """Return the seconds that `number` calls of a function take."""
    return Timer(stmt, setup, timer).timeit(number)


def repeat_it(
    stmt: Any = None,
    setup: Any = None,
    timer: Any = timeit.default_timer,
    repeat: int = REPEAT,
    number: int = NUMBER,
    globals: Any = None,
) -> list[float]:
    """Return several timings, one after the other."""
    return Timer(stmt, setup, timer).repeat(repeat, number)


def stand_ins() -> dict[str, Any]:
    """`module.name` → what a program gets under that name."""
    functions: dict[str, Callable[..., Any]] = {
        "atexit.register": register,
        "atexit.unregister": unregister,
        "os.getenv": getenv,
        "os.path.expandvars": expandvars,
        "os.sched_getaffinity": sched_getaffinity,
        "platform.architecture": architecture,
        "platform.machine": machine,
        "platform.platform": describe_platform,
        "platform.system": system,
        "platform.uname": uname,
        "shutil.disk_usage": disk_usage,
        "shutil.which": which,
        "sys.getrecursionlimit": getrecursionlimit,
        "sys.setrecursionlimit": setrecursionlimit,
        "threading.stack_size": stack_size,
        "timeit.repeat": repeat_it,
        "timeit.timeit": time_it,
        "uuid.uuid1": uuid1,
    }
    for name in ("node", "processor", "release", "version"):
        functions[f"platform.{name}"] = _untold()
    return {
        **functions,
        "os.environ": environ,
        "sys.executable": "",
        "timeit.Timer": Timer,
    }
