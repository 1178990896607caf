"""Module views: what a program gets from `import`.

A view is a module object with the listed names and nothing else, built once from the table. It is
read-only, so one program's `json.dumps = mine` is an error and not a trap for the next reader of the name.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from litany_runtime.policy.absent import name_hint
from litany_runtime.policy.imports import is_extra, module_hint, name_problem
from litany_runtime.policy.modules import MODULES, TOOLS_MODULE, exists, since
from litany_runtime.policy.name_use import NEVER_FOLDED, folded
from litany_runtime.policy.names import PLAIN_ATTRIBUTES
from litany_runtime.policy.private_names import is_dunder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from litany_runtime.policy.sealing import Sealer


class View(ModuleType):
    """A read-only module."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"{self.__name__}.{name} cannot be set: modules are read-only here (use a variable of your own)"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{self.__name__}.{name} cannot be deleted: modules are read-only here")

    def __repr__(self) -> str:
        return f"<module {self.__name__!r}>"


class SysView(View):
    """`sys`, whose streams are the process's own at every moment and may be replaced, as in any Python."""

    def __setattr__(self, name: str, value: object) -> None:
        if name not in {"stdin", "stdout", "stderr"}:
            super().__setattr__(name, value)
        setattr(sys, name, value)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), "stdin", "stdout", "stderr"]

    @property
    def stdin(self) -> Any:
        """Where `input()` reads."""
        return sys.stdin

    @property
    def stdout(self) -> Any:
        """Where `print()` writes."""
        return sys.stdout

    @property
    def stderr(self) -> Any:
        """Where tracebacks go."""
        return sys.stderr

    __stdin__ = property(lambda self: sys.__stdin__)
    __stdout__ = property(lambda self: sys.__stdout__)
    __stderr__ = property(lambda self: sys.__stderr__)


View.__name__ = SysView.__name__ = "module"
View.__qualname__ = SysView.__qualname__ = "module"


class MissingNameError(RuntimeError):
    """The table lists a name that the running Python does not have: the table is wrong."""


def build_views(stand_ins: Mapping[str, Any]) -> dict[str, ModuleType]:
    """Import every module of the table and build its view.

    Args:
        stand_ins: `module.name` → the object a program gets under that name instead of the library's.

    Raises:
        MissingNameError: the table lists what is not there.
    """
    views: dict[str, ModuleType] = {}
    for module in sorted(MODULES):  # a parent sorts before its children
        listed = [entry.partition("@")[0] for entry in MODULES[module].split() if exists(entry)]
        made = bool(listed) and all(f"{module}.{name}" in stand_ins for name in listed)
        real = None if made else importlib.import_module(module)
        kind = SysView if module == "sys" else View
        view = kind(module, real.__doc__ if real else None)
        names = view.__dict__
        for entry in MODULES[module].split():
            name = entry.partition("@")[0]
            if not exists(entry) or (module == "sys" and name in {"stdin", "stdout", "stderr"}):
                continue
            path = f"{module}.{name}"
            if path in stand_ins:
                names[name] = stand_ins[path]
            elif hasattr(real, name):
                names[name] = getattr(real, name)
            else:
                raise MissingNameError(f"modules.py lists {path}, which this Python does not have")
            if isinstance(names[name], ModuleType):
                raise MissingNameError(
                    f"modules.py lists {path}, which is a module; list it as a module of its own"
                )
        names["__all__"] = sorted(n for n in names if n[0] != "_")
        names["__getattr__"] = _absent(view)
        parent, _, child = module.rpartition(".")
        if parent:
            views[parent].__dict__[child] = view
            views[parent].__dict__["__all__"].append(child)
        views[module] = view
    return views


def _absent(view: ModuleType) -> Callable[[str], Any]:
    """What a module says of a name it does not have, where the program's text did not tell."""
    module = view.__name__

    def absent(name: str) -> Any:
        hint = name_hint(module, name)
        if hint is None and (version := since(module, name)):
            hint = f"it came with Python {version}"
        said = f"module {module!r} has no attribute {name!r}" + (f" here ({hint})" if hint else "")
        raise AttributeError(said, name=name, obj=view)

    return absent


def folded_names(views: Mapping[str, ModuleType]) -> dict[str, Any]:
    """What stands beside the guards for views' names."""
    return {
        folded(module, name): view.__dict__[name]
        for module, view in views.items()
        if module not in NEVER_FOLDED
        for name in view.__dict__["__all__"]
    }


def tools_view(tools: ModuleType) -> ModuleType:
    """A stub module as a program sees it.

    A module of a class of its own is read-only already (`litany_stubs.module`); a plain one, as tests
    make it, becomes a view of what it lists in `__all__`, or of its public names.
    """
    if type(tools) is not ModuleType:
        return tools
    view = View(tools.__name__, tools.__doc__)
    source = tools.__dict__
    listed = source.get("__all__") or [name for name in source if not name.startswith("_")]
    names = view.__dict__
    for name in listed:
        value = source[name]
        names[name] = tools_view(value) if isinstance(value, ModuleType) else value
    names["__all__"] = list(listed)
    return view


def seal_tools(sealer: Sealer, view: ModuleType) -> None:
    """Seal the classes of a stub module, so that a program cannot change what its calls come back as."""
    values = list(view.__dict__.values())
    sealer.seal([value for value in values if isinstance(value, type)])
    for value in values:
        if isinstance(value, ModuleType):
            seal_tools(sealer, value)


def _missing_name(module: ModuleType, path: str, name: str) -> str:
    """Why `from path import name` fails; "" when it does not.

    The interpreter itself would hand out whatever a module object carries, `__dict__` and `__class__` too.
    """
    if path.partition(".")[0] == TOOLS_MODULE:
        if name in module.__dict__["__all__"]:
            return ""
        if name.startswith("_"):
            return f"{path} has no {name}"
        try:
            getattr(module, name)  # which tools are near
        except AttributeError as error:
            return str(error)
        return ""
    if isinstance(module, View):
        problem = name_problem(path, name)
        return f"cannot import name {name!r} from {path!r} ({problem[1]})" if problem else ""
    if is_dunder(name) and name not in PLAIN_ATTRIBUTES:
        return f"cannot import name {name!r} from {path!r} (it leads into the interpreter)"
    return ""


_importers: list[Callable[..., ModuleType]] = []
"""The `__import__` of the program, once it is made."""


def import_module(name: Any, package: Any = None) -> ModuleType:
    """Import a module by its name, as the statement does."""
    if type(name) is not str:
        raise TypeError(f"the name of a module is a str, not {type(name).__name__}")
    if name.startswith("."):
        raise TypeError(f"a program has no package to import {name!r} from (give a module's full name)")
    return _importers[0](name, None, None, ("*",))


def find_spec(name: Any, package: Any = None) -> Any:
    """Tell whether a module can be imported: an object with its name, or None."""
    try:
        import_module(name, package)
    except ModuleNotFoundError:
        return None
    parent = name.rpartition(".")[0]
    return SimpleNamespace(
        name=name,
        parent=parent,
        origin=None,
        loader=None,
        submodule_search_locations=None,
        has_location=False,
    )


def stand_ins() -> dict[str, Any]:
    """`module.name` → what a program gets under that name."""
    return {"importlib.import_module": import_module, "importlib.util.find_spec": find_spec}


def importer(
    views: Mapping[str, ModuleType], extra_modules: Sequence[str], tools: Sequence[ModuleType]
) -> Callable[..., ModuleType]:
    """The `__import__` of one program, whose stub module will be the first of `tools`."""
    empty = View("library")

    def find(name: str) -> ModuleType:
        if name == TOOLS_MODULE:
            return tools[0]
        if name.startswith(TOOLS_MODULE + "."):
            child = tools[0].__dict__.get(name[len(TOOLS_MODULE) + 1 :])
            if isinstance(child, ModuleType):
                return child
        view = views.get(name)
        if view is not None:
            return view
        if is_extra(name, extra_modules):
            return importlib.import_module(name)
        hint = module_hint(name, extra_modules)
        raise ModuleNotFoundError(f"No module named {name!r} here ({hint})", name=name)

    def import_(
        name: str,
        globals: object = None,
        locals: object = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        if type(name) is not str:
            raise TypeError("module name must be a string")
        if level:
            raise ImportError(
                "attempted relative import with no known parent package (import a module by its full name)"
            )
        if type(fromlist) is list:
            # C code of the library imports for itself (`time.strptime` does); a statement's list is a tuple.
            # What it uses it takes from `sys.modules`, so nothing is handed to the program here.
            importlib.import_module(name)
            return views.get(name, empty)
        module = find(name)
        if fromlist:
            for wanted in fromlist:
                if wanted != "*" and (missing := _missing_name(module, name, wanted)):
                    raise ImportError(missing, name=name)
            return module
        return find(name.partition(".")[0])

    _importers[:] = [import_]
    return import_
