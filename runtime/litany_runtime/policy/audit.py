"""The audit hook: what the interpreter is about to do, judged whoever's code asks for it.

CPython raises an audit event before it opens a file, starts a process, runs code made from text, reads a
function's code. The hook hears of them from library code too, so what the names and views let through by
mistake still meets it; and it cannot be removed. It knows the events it allows and refuses every other.

Some events are right from the library and wrong from the program: `namedtuple` evaluates text, `eval` does.
The calling frame tells them apart: a C function has no frame of its own, so a deputy written in C
(`operator.attrgetter`, a class pattern, a format string) is seen as the function that called it.

That function is not to be trusted for being the library's. A thread pool, a key function, a callback run what
the program gave them: `pool.submit(descriptor.__get__, f)` reads an attribute in a frame of the pool's. So a
frame of the library may do only what its own code says: read the attribute that its code names, open a
descriptor if it is the very function that does.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from litany_runtime.policy import constants, database
from litany_runtime.policy.names import STORABLE_DUNDERS

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

    from litany_runtime.policy.files import FileRules

ALLOWED = frozenset(
    """
    array.__new__ builtins.id builtins.input builtins.input/result compile import marshal.loads
    sys._getframe sys._getframemodulename sys.excepthook sys.unraisablehook
    sys.set_asyncgen_hook_finalizer sys.set_asyncgen_hook_firstiter
    sys.set_asyncgen_hooks_finalizer sys.set_asyncgen_hooks_firstiter
    sqlite3.connect/handle time.sleep _thread.start_new_thread _thread.start_joinable_thread
    glob.glob glob.glob/2 os.walk pathlib.Path.glob pathlib.Path.rglob pathlib.Path.walk
    shutil.copyfile shutil.copymode shutil.copystat shutil.copytree shutil.make_archive shutil.move
    shutil.unpack_archive tempfile.mkdtemp tempfile.mkstemp
    cpython._PySys_ClearAuditHooks cpython.PyInterpreterState_Clear cpython.remote_debugger_script
    """.split()
)
"""Events that need no look: what they announce is harmless, or announces itself again in its parts."""

NETWORK = (
    "socket.",
    "urllib.",
    "http.",
    "ftplib.",
    "smtplib.",
    "imaplib.",
    "poplib.",
    "telnetlib.",
    "nntplib.",
)
PROCESS = (
    "subprocess.",
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "pty.",
    "os.kill",
)

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
STDIO = 2
"""The last of the three descriptors that are the program's own."""
NO_FD = -1

AF_UNIX = 1

EQUIPPER = constants.equip.__code__
"""The one function that makes code from code."""

_HERE = globals()
"""By these the hook knows its own frames."""


class Auditor:
    """Judges audit events for one program.

    Args:
        files: where the program may read and write.
        evaluators: code of the functions that may run code made from text.
        program: the globals by which the program's frames are known.
        readers: globals of library modules that read their own files.
        descriptor_openers: code of the library functions that open descriptors they made.
        folder_walkers: code of the library functions that work relative to a folder's descriptor.
    """

    def __init__(
        self,
        files: FileRules,
        evaluators: frozenset[CodeType],
        program: dict[str, Any],
        readers: frozenset[int],
        descriptor_openers: frozenset[CodeType],
        folder_walkers: frozenset[CodeType],
    ) -> None:
        self._files = files
        self._evaluators = evaluators
        self._program = program
        self._readers = readers
        self._openers = descriptor_openers
        self._walkers = folder_walkers
        handlers: dict[str, Callable[[Any], None] | None] = dict.fromkeys(ALLOWED)
        handlers |= {
            "open": self._open,
            "exec": self._exec,
            "object.__getattr__": self._read_attribute,
            "object.__setattr__": self._write_attribute,
            "object.__delattr__": self._write_attribute,
            "function.__new__": self._new_function,
            "code.__new__": self._new_code,
            "socket.__new__": self._socket,
            "shutil.rmtree": self._remove_tree,
            "os.listdir": self._folder,
            "os.scandir": self._folder,
            "os.chdir": self._folder,
            "os.listxattr": self._folder,
            "os.getxattr": self._folder,
            "os.setxattr": self._changed,
            "os.removexattr": self._changed,
            "os.chmod": self._changed,
            "os.truncate": self._changed,
            "os.utime": self._changed,
            "os.mkdir": self._entry,
            "os.remove": self._entry,
            "os.rmdir": self._entry,
            "os.rename": self._two_entries,
            "os.link": self._two_entries,
            "os.symlink": self._symlink,
            "sqlite3.connect": self._database,
        }
        find = handlers.get
        refuse = self._refuse

        def hook(event: str, args: tuple[Any, ...]) -> None:
            handler = find(event, refuse)
            if handler is refuse:
                raise _refusal(event)
            if handler is not None:
                handler(args)

        self.hook = hook

    def install(self) -> None:
        """From here on, in this process, for good."""
        sys.addaudithook(self.hook)

    def _refuse(self, args: Any) -> None:
        """Stands for every event that is not known."""

    # Handlers are two frames above their caller: the hook, the handler.

    def _exec(self, args: Any) -> None:
        if sys._getframe(2).f_code not in self._evaluators:
            raise _refusal("exec")

    def _says(self, frame: FrameType, *names: Any) -> bool:
        """Whether a frame is a library's whose own code names what is done."""
        if frame.f_globals is _HERE:
            return True  # the next line
        if frame.f_globals is self._program or constants.is_programs(frame.f_code):
            return False
        code = frame.f_code
        return any(name in code.co_names or name in code.co_consts for name in names)

    def _read_attribute(self, args: Any) -> None:
        if not self._says(sys._getframe(2), args[1]):
            raise AttributeError(
                f"{args[1]} is refused here: it leads into the interpreter (use public attributes)"
            )

    def _write_attribute(self, args: Any) -> None:
        if args[1] not in STORABLE_DUNDERS and not self._says(sys._getframe(2), args[1]):
            raise AttributeError(f"{args[1]} may not be set here (use public attributes)")

    def _new_function(self, args: Any) -> None:
        if not self._says(sys._getframe(2), "FunctionType", "LambdaType"):
            raise _refusal("function.__new__")

    def _new_code(self, args: Any) -> None:
        if sys._getframe(2).f_code is not EQUIPPER:
            raise _refusal("code.__new__")

    def _socket(self, args: Any) -> None:
        if args[1] != AF_UNIX:  # an event loop wakes itself through a pair of these; connecting is refused
            raise _refusal("socket.__new__")

    def _open(self, args: Any) -> None:
        path, _, flags = args
        if type(path) is int:
            if path > STDIO and sys._getframe(2).f_code not in self._openers:
                raise PermissionError(f"descriptor {path} is not the program's own (open a path)")
            return
        if flags & WRITING:
            self._files.write(path)
        else:
            self._files.read(path, library=id(sys._getframe(2).f_globals) in self._readers)

    def _by_descriptor(self, path: Any, descriptors: tuple[Any, ...]) -> bool:
        """Whether a call is a library's walk through a folder it has open."""
        if type(path) is not int and all(d in {NO_FD, None} for d in descriptors):
            return False
        if sys._getframe(3).f_code in self._walkers:
            return True
        raise PermissionError("a descriptor cannot stand for a folder here (use its path)")

    def _folder(self, args: Any) -> None:
        path = "." if args[0] is None else args[0]
        if not self._by_descriptor(path, ()):
            self._files.read(path)

    def _changed(self, args: Any) -> None:
        if not self._by_descriptor(args[0], ()):
            self._files.write(args[0])

    def _entry(self, args: Any) -> None:
        if not self._by_descriptor(args[0], args[-1:]):
            self._files.write(args[0], entry=True)

    def _two_entries(self, args: Any) -> None:
        self._files.keep(args[0])
        if not self._by_descriptor(args[0], args[2:]):
            self._files.write(args[0], entry=True)
            self._files.write(args[1], entry=True)

    def _remove_tree(self, args: Any) -> None:
        """The whole walk is judged here: its parts are named relative to folders it has open."""
        if len(args) > 1 and args[1] is not None:
            raise PermissionError("rmtree() takes no descriptor here (use the folder's path)")
        self._files.write(args[0], entry=True)

    def _symlink(self, args: Any) -> None:
        if not self._by_descriptor(args[0], args[2:]):
            self._files.link(args[0], args[1])

    def _database(self, args: Any) -> None:
        if sys._getframe(2).f_code is not database.OPENER:
            raise PermissionError("a database is opened with sqlite3.connect() only")


def _refusal(event: str) -> PermissionError:
    if event.startswith(NETWORK):
        return PermissionError(
            f"{event} is refused: a program has no network (call a tool from litany_tools)"
        )
    if event.startswith(PROCESS):
        return PermissionError(
            f"{event} is refused: a program starts no processes (call a tool from litany_tools)"
        )
    return PermissionError(
        f"{event} is refused here (use the modules' ordinary functions, or a tool from litany_tools)"
    )
