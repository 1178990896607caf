"""`unittest` for programs that test themselves.

The library finds tests by names: of modules, which it imports, and of attributes, which it reads. Here the
tests are the program's own, and attributes are read by the rules of the source; a name that the library's own
code asks for is read as it is.
"""

from __future__ import annotations

import builtins
import sys
import types
import unittest
import unittest.async_case
import unittest.case
import unittest.loader
import unittest.result
import unittest.runner
import unittest.suite
from typing import Any, NoReturn

from litany_runtime.policy import guards
from litany_runtime.policy.private_names import is_dunder

MODULES = (
    unittest.case,
    unittest.async_case,
    unittest.loader,
    sys.modules["unittest.main"],  # `unittest.main` is its class
    unittest.result,
    unittest.runner,
    unittest.suite,
)
_missing = object()


def _asked_for(module: types.ModuleType) -> frozenset[str]:
    """The special names in the texts of a module's own code: attributes that it asks for by name."""
    found: set[str] = set()
    pending = [
        function.__code__
        for thing in vars(module).values()
        for function in (thing, *(vars(thing).values() if isinstance(thing, type) else ()))
        if isinstance(function, types.FunctionType) and function.__module__ == module.__name__
    ]
    while pending:
        for constant in pending.pop().co_consts:
            if isinstance(constant, types.CodeType):
                pending.append(constant)
            elif isinstance(constant, str) and constant[:1] == "_":
                found.add(constant)
    return frozenset(found)


def _mend_reads(module: Any) -> None:
    asked_for = _asked_for(module)

    def read(obj: Any, name: Any, default: Any = _missing, /) -> Any:
        try:
            guards.check_name(name)
            if isinstance(obj, types.ModuleType) and is_dunder(name) and module is not unittest.case:
                return None  # no test is found there
            if name in asked_for and (not is_dunder(name) or name.startswith("__unittest_") or name in ASKED):
                return builtins.getattr(obj, name)
            return guards.read(obj, name)
        except AttributeError:
            if default is _missing:
                raise
            return default

    module.getattr = read


ASKED = frozenset({"__warningregistry__"})
"""What `assertWarns` looks for in each module, so that a warning is not held back as told already."""


def _refuse_discovery(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise PermissionError("tests are not discovered in files here: a program tests what it defines itself")


POSITIONAL = (
    "defaultTest argv testRunner testLoader exit verbosity failfast catchbreak buffer warnings".split()
)
"""What `unittest.main` takes after the module, by position or by name."""


def main(module: Any = "__main__", *positional: Any, **named: Any) -> Any:
    """Run the program's tests, and exit with 0 when they passed unless exit=False."""
    if module not in {None, "__main__"}:
        raise ValueError("unittest.main() runs the program's own tests (leave out module=)")
    if len(positional) > len(POSITIONAL):
        raise TypeError("unittest.main() takes fewer arguments by position")
    named = {**dict(zip(POSITIONAL, positional, strict=False)), **named}
    named["argv"] = named.get("argv") or list(sys.argv) or ["program.py"]
    named["catchbreak"] = None
    program = unittest.main(sys.modules["__main__"], **named)
    return types.SimpleNamespace(result=program.result)


def mend() -> None:
    """Change how tests are found. Before anything is sealed."""
    for module in MODULES:
        _mend_reads(module)
    loader: Any = unittest.TestLoader
    by_name = loader.loadTestsFromName
    loader.discover = _refuse_discovery

    def load(self: Any, name: Any, module: Any = None) -> Any:
        """Return the tests that a name of the program's stands for, dots included."""
        guards.check_name(name)
        if module is None:
            module, name = sys.modules["__main__"], name.removeprefix("__main__.")
        return by_name(self, name, module)

    load.__name__ = "loadTestsFromName"
    loader.loadTestsFromName = load
    program: Any = sys.modules["unittest.main"]
    program.TestProgram._do_discovery = _refuse_discovery
    program.installHandler = lambda: None  # an interrupt is the runtime's to handle


def stand_ins() -> dict[str, Any]:
    """`module.name` → what a program gets under that name."""
    return {"unittest.main": main}
