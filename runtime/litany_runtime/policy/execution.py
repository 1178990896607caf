"""Prepare once in the zygote, make a namespace in each child, run."""

from __future__ import annotations

import asyncio
import difflib
import importlib
import io
import os
import shutil
import sys
import sysconfig
import tempfile
import types
import unittest
import weakref
import zipfile
import zoneinfo
from typing import TYPE_CHECKING, Any

from litany_runtime.policy import constants, database, evaluation, ownership, reentry, state, surroundings
from litany_runtime.policy.audit import Auditor
from litany_runtime.policy.builtin_names import program_builtins
from litany_runtime.policy.files import FileRules
from litany_runtime.policy.mends import mend
from litany_runtime.policy.name_use import folded
from litany_runtime.policy.private_names import carriers
from litany_runtime.policy.sealing import Sealer
from litany_runtime.policy.source import compile_program
from litany_runtime.policy.stand_ins import stand_ins
from litany_runtime.policy.state import Prepared
from litany_runtime.policy.views import build_views, folded_names, importer, seal_tools, tools_view

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType, ModuleType

    from litany_runtime.program import FilePolicy

REVIEWED_VERSIONS = ((3, 11), (3, 12), (3, 13))
"""Python versions whose syntax, types and library this policy was reviewed and tested for."""


MAKES_BROKEN_CODE = (3, 12, 0)
"""A version whose `code.replace` loses what a module's comprehensions keep."""


class NotReviewedError(RuntimeError):
    """The running Python version was not reviewed for this policy."""


def prepare(extra_modules: Sequence[str] = ()) -> Prepared:
    """Import what programs may import and build what every program shares. Once, in the zygote.

    Library classes are sealed and some library functions mended for good: a process that prepared is for
    running programs.

    Args:
        extra_modules: modules the operator added; given to programs as they are.

    Raises:
        NotReviewedError: this Python version was not reviewed.
        ImportError: an extra module cannot be imported.
        SealError: library classes cannot be sealed on this interpreter.
    """
    version = sys.version_info[:2]
    if version not in REVIEWED_VERSIONS:
        reviewed = ", ".join(f"{a}.{b}" for a, b in REVIEWED_VERSIONS)
        raise NotReviewedError(
            f"the language policy was not reviewed for Python {version[0]}.{version[1]}; run it on {reviewed}"
        )
    if sys.version_info[:3] == MAKES_BROKEN_CODE:
        raise NotReviewedError(
            "Python 3.12.0 breaks code whose constants are replaced (gh-110543), as the policy's guards are; "
            "run the language policy on 3.12.1 or later"
        )
    if state.prepared is not None:
        if state.prepared.extra_modules != tuple(extra_modules):
            raise RuntimeError("this process was prepared for other modules; prepare a process of its own")
        return state.prepared
    builtins = program_builtins()
    runner = evaluation.begin(builtins)
    reentry.mend()
    database.mend()
    evaluators = mend(builtins) | {runner}
    views = build_views(stand_ins())
    for module in LAZY_IMPORTS:
        importlib.import_module(module)
    for encoding in MULTIBYTE_ENCODINGS:
        CJK_SAMPLE.encode(encoding, "ignore")
    constants.provide(folded_names(views))
    sealer = Sealer()
    sealer.seal_everything(KEPT_OPEN)
    for module in extra_modules:  # unsealed: what the operator adds is the operator's to review
        importlib.import_module(module)
    rules = FileRules(_library_folders(), tuple(os.path.realpath(folder) + "/" for folder in zoneinfo.TZPATH))
    database.rules[:] = [rules]
    for name in ("stat", "lstat", "access", "readlink"):  # the calls that raise no audit event
        checked = rules.checked(getattr(os, name))
        setattr(os, name, checked)
        views["os"].__dict__[name] = checked
        constants.provide({folded("os", name): checked})
    tools: list[ModuleType] = []
    builtins["__import__"] = _importing(importer(views, tuple(extra_modules), tools))
    main = _main_module(builtins)
    prepared = Prepared(
        views=views,
        builtins=builtins,
        private=frozenset(carriers()),
        extra_modules=tuple(extra_modules),
        sealer=sealer,
        main=main,
        tools=tools,
        rules=rules,
        auditor=Auditor(
            rules,
            evaluators | {execute.__code__, _begin_at_the_interpreters_depth.__code__},
            main.__dict__,
            readers=_globals_of("linecache", "tokenize", "importlib._bootstrap_external", "zoneinfo._common"),
            descriptor_openers=_code_of(tempfile, "TemporaryFile", "NamedTemporaryFile"),
            folder_walkers=_code_of(shutil, "rmtree", "_rmtree_safe_fd", "_rmtree_safe_fd_step"),
        ),
    )
    state.prepared = prepared
    # A child would otherwise fill these caches, and specialize this code, for itself.
    for _ in range(WARMING_RUNS):
        compile_program(WARMING_PROGRAM)
    return prepared


def _importing(find: Callable[..., ModuleType]) -> Callable[..., ModuleType]:
    """The program's `__import__`, which the program can call itself: `globals()["__builtins__"]` has it.

    The interpreter's C code calls it with a list, to have a module loaded that it uses itself; it finds
    loaded what a program's calls lead to, and nothing else is loaded so.
    """

    def import_(
        name: Any, globals: Any = None, locals: Any = None, fromlist: Any = (), level: Any = 0
    ) -> ModuleType:
        if type(fromlist) is list and not (type(name) is str and name in sys.modules):
            raise ModuleNotFoundError(f"the module {name} is not loaded (write an import statement)")
        return find(name, globals, locals, fromlist, level)

    return import_


WARMING_RUNS = 10
"""Enough for the interpreter to specialize the code that judges a program."""

WARMING_PROGRAM = b"""
import json, os.path
from collections import Counter
class A:
    x: int = 1
    def __init__(self, y, *z, **k): self.y = y; self._target = z
    @property
    def p(self): return [a for a in self._target if a.b[0] > 1]
def f(a, b=2):
    for i, (c, d) in enumerate(a):
        try:
            with open(f"{c!r}") as g: print(g.read(), "{}".format(d), sep="")
        except (OSError, ValueError) as e: raise TypeError(e) from None
        finally: b += 1
    while not a and (n := len(b)): return lambda q: {q: -q, **b} if n else {*q}
async def h():
    async with a as b:
        await b.c
match f:
    case [1, *r] | {"k": r}: pass
    case A(y=2) as v if v.y: del v.x
"""


_zip_paths = sys.modules[zipfile.Path.__module__]

KEPT_OPEN: frozenset[type] = frozenset(
    {weakref.finalize, difflib.HtmlDiff, zipfile.ZipFile, _zip_paths.CompleteDirs, _zip_paths.FastLookup}
    | {unittest.FunctionTestCase, unittest.loader._FailedTest}  # type: ignore[attr-defined]
)
"""Library classes that count on themselves, or change their objects' class, while they run."""

LAZY_IMPORTS = (
    "_strptime",
    "concurrent.futures.thread",
    "encodings.ascii",
    "encodings.cp1252",
    "encodings.idna",
    "encodings.latin_1",
    "encodings.utf_16",
    "encodings.utf_32",
    "encodings.utf_8_sig",
    "importlib.resources",
    "linecache",
    "pwd",
    "sqlite3.dump",
    "stringprep",
    "zoneinfo._common",
)
"""Modules that the library imports at first use; a child finds them loaded."""


MULTIBYTE_ENCODINGS = """
    big5 big5hkscs cp932 cp949 cp950 euc_jis_2004 euc_jisx0213 euc_jp euc_kr gb18030 gb2312 gbk hz
    iso2022_jp iso2022_jp_1 iso2022_jp_2 iso2022_jp_2004 iso2022_jp_3 iso2022_jp_ext iso2022_kr
    johab shift_jis shift_jis_2004 shift_jisx0213
""".split()
"""Encodings that need native libraries, which a confined child cannot load; the zygote has them ready."""

CJK_SAMPLE = "a テスト 测试 測試 시험"
"""Makes each of them load the tables it shares with others."""


def _globals_of(*modules: str) -> frozenset[int]:
    return frozenset(id(vars(importlib.import_module(module))) for module in modules)


def _code_of(module: ModuleType, *functions: str) -> frozenset[CodeType]:
    """The code of a module's functions and of what is inside them; some exist in newer versions only."""
    found: set[CodeType] = set()
    pending = [vars(module)[name].__code__ for name in functions if name in vars(module)]
    while pending:
        code = pending.pop()
        found.add(code)
        pending.extend(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return frozenset(found)


def _library_folders() -> tuple[str, ...]:
    """Folders that hold the library's own files; each ends with a slash."""
    paths = sysconfig.get_paths()
    folders = {paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(sorted(os.path.realpath(folder) + "/" for folder in folders))


def namespace(
    prepared: Prepared,
    *,
    tools: ModuleType,
    worktree: str | None,
    files: FilePolicy,
    temporary: str | None = "/tmp",  # noqa: S108 - the child's own, mounted for it alone
) -> dict[str, Any]:
    """The globals of one program. In the child, once: the audit hook is installed for good.

    Args:
        prepared: what `prepare` returned.
        tools: the generated stub module.
        worktree: where the worktree is in this process; None for a program without files.
        files: what the program may do there.
        temporary: the folder for temporary files; None for none.
    """
    visible = tools_view(tools)
    seal_tools(prepared.sealer, visible)
    prepared.tools[:] = [visible]
    prepared.rules.begin(worktree, files, temporary)
    if temporary is not None:
        tempfile.tempdir = temporary
    names = prepared.main.__dict__
    ownership.begin(names)
    sys.modules["__main__"] = prepared.main
    prepared.auditor.install()
    return names


def _main_module(builtins: dict[str, Any]) -> ModuleType:
    """The module a program is: what it finds in its globals before it begins."""
    main = types.ModuleType("__main__")
    names = main.__dict__
    del names["__loader__"], names["__spec__"], names["__package__"]
    names["__builtins__"] = builtins
    names["__file__"] = PROGRAM_NAME
    return main


PROGRAM_NAME = "program.py"
"""What `__file__` says."""

CO_COROUTINE = 0x80
"""`inspect.CO_COROUTINE`: the program awaits at its top level."""


PROBE = compile("try: limit(1)\nexcept RecursionError as e: error = e", "probe", "exec")
"""Run as a program is, it learns how deep a program begins."""

INTERPRETERS_DEPTH = 2 if sys.version_info < (3, 12) else 1
"""How deep the interpreter says that it is when a program's first statement asks; before 3.12 calls of C
count."""

LIMIT_AT_THE_END = 1000
"""The least recursion limit at a program's end: telling how it ended takes calls."""


def _begin_at_the_interpreters_depth() -> None:
    """Give a program as many calls as an interpreter gives: the runtime's below it do not count."""
    asked: dict[str, Any] = {"limit": sys.setrecursionlimit}
    exec(PROBE, asked)  # noqa: S102 - three lines above
    depth = surroundings.depth_told(asked["error"]) - INTERPRETERS_DEPTH - 1  # one less: this function
    sys.setrecursionlimit(sys.getrecursionlimit() + depth)
    surroundings.depth[0] = depth


def execute(code: CodeType, namespace: dict[str, Any]) -> None:
    """Run a compiled program; what it raises comes out, SystemExit too."""
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BytesIO())
    reentry.watch(code)
    _begin_at_the_interpreters_depth()
    try:
        if code.co_flags & CO_COROUTINE:
            asyncio.run(eval(code, namespace))  # noqa: S307 - the checked program
        else:
            exec(code, namespace)  # noqa: S102 - the checked program
    finally:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), LIMIT_AT_THE_END))
