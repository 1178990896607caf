"""`except*` without the interpreter's own, which takes what a group's `split` returns for a pair.

That is CVE-2025-22153. CPython fixed that in 3.13.2. Before, a `try` statement with `except*` is rewritten
to one that asks this file:

    try: body                                   try: body
    except* E as e: handle                      except BaseException as s:
    else: more                                      s = guards.star(s)
    finally: last                                   if s.takes(E):
                                                        try:
                                                            try: s.throw()
                                                            except s.caught() as e: handle
                                                        except BaseException as r: s.keep(r)
                                                    try: s.finish()
                                                    except s.reraised(): pass
                                                else: more
                                                finally: last

`s` is a reserved name. An expression in an `except` clause is evaluated while the exception is being
handled, so `caught` and `reraised` can give it back the traceback and the context that raising it anew
changed; `reraised` matches nothing, and an exception that no clause matches goes on as it is.
"""

from __future__ import annotations

import ast
from typing import Any

from litany_runtime.policy.constants import guard
from litany_runtime.policy.names import RESERVED_PREFIX
from litany_runtime.policy.ownership import mro

STAR, EVERYTHING = "star", "base_exception"
NAME = RESERVED_PREFIX + "star"

_parts = BaseExceptionGroup.__dict__["exceptions"].__get__


class Star:
    """The handling of one exception by one statement's `except*` clauses."""

    __slots__ = ("_context", "_exception", "_kept", "_match", "_rest", "_traceback")

    def __init__(self, exception: BaseException) -> None:
        self._exception = exception
        self._rest: BaseException | None = exception
        self._match: BaseException | None = None
        self._kept: list[BaseException] = []
        self._traceback = exception.__traceback__
        self._context = exception.__context__

    def takes(self, wanted: Any) -> bool:
        """Split what a clause's types match from the rest; whether there is any."""
        types = wanted if isinstance(wanted, tuple) else (wanted,)
        for each in types:
            if not (isinstance(each, type) and BaseException in mro(each)):
                raise TypeError("catching classes that do not inherit from BaseException is not allowed")
        for each in types:
            if BaseExceptionGroup in mro(each):
                raise TypeError("catching ExceptionGroup with except* is not allowed. Use except instead.")
        rest = self._rest
        if rest is None:
            return False
        self._match = None
        if any(each in mro(type(rest)) for each in types):
            self._match, self._rest = rest, None
            if not _is_group(rest):
                self._match = _wrapped(rest)
        elif isinstance(rest, BaseExceptionGroup) and _is_group(rest):
            self._match, self._rest = _pair(rest, rest.split(wanted))
        return self._match is not None

    def throw(self) -> None:
        """Raise what the clause takes."""
        match = self._match
        if match is not None:
            self._traceback, self._context = match.__traceback__, match.__context__
            raise match

    def caught(self) -> type[BaseException]:
        """What the clause catches: all, once it is again what it was before it was raised here."""
        self._restore(self._match)
        return BaseException

    def keep(self, raised: BaseException) -> None:
        """Note what a clause raised."""
        self._kept.append(raised)

    def finish(self) -> None:
        """Raise what the clauses raised and what none of them took, if there is any."""
        self._match = end = self._end()
        if end is not None:
            self._traceback, self._context = end.__traceback__, end.__context__
            raise end

    def reraised(self) -> tuple[()]:
        """Match nothing."""
        self._restore(self._match)
        return ()

    def _restore(self, exception: BaseException | None) -> None:
        if BaseException in mro(type(exception)):
            assert exception is not None
            exception.__traceback__ = self._traceback
            exception.__context__ = self._context

    def _end(self) -> BaseException | None:
        """What is left to raise, as the interpreter puts it together."""
        exception, left = self._exception, list(self._kept)
        if self._rest is not None:
            left.append(self._rest)
        if not left:
            return None
        if not (isinstance(exception, BaseExceptionGroup) and _is_group(exception)):
            return left[0]  # it was wrapped, so one clause had it
        raised = [each for each in left if not _is_part(each, exception)]
        again: set[int] = set()
        for each in left:
            if _is_part(each, exception):
                again |= _leaves(each)
        if again:
            part = BaseExceptionGroup.subgroup(exception, lambda each: id(each) in again)
            if part is not None:
                raised.append(part)
        if len(raised) == 1:
            return raised[0]
        return _wrapped(*raised)


def _wrapped(*exceptions: BaseException) -> BaseException:
    return BaseExceptionGroup("", list(exceptions))


def _is_group(exception: BaseException) -> bool:
    return BaseExceptionGroup in mro(type(exception))


def _pair(group: BaseException, pair: Any) -> tuple[Any, Any]:
    """What a `split`, which may be the program's own, returned."""
    kind = type(group).__name__
    if type(pair) is not tuple:
        raise TypeError(f"{kind}.split must return a tuple, not {type(pair).__name__}")
    if len(pair) < 2:
        raise TypeError(f"{kind}.split must return a 2-tuple, got tuple of size {len(pair)}")
    for each in pair[:2]:
        if each is not None and BaseException not in mro(type(each)):
            raise TypeError(f"{kind}.split must return exceptions, not {type(each).__name__}")
    return pair[0], pair[1]


def _is_part(exception: BaseException, group: BaseException) -> bool:
    """Whether an exception is a part of a group that was split off and not raised anew."""
    return (
        _is_group(exception)
        and exception.__traceback__ is group.__traceback__
        and exception.__cause__ is group.__cause__
        and exception.__context__ is group.__context__
    )


def _leaves(exception: BaseException) -> set[int]:
    """The ids of the exceptions in a group that are no groups."""
    found: set[int] = set()
    pending = [exception]
    while pending:
        each = pending.pop()
        if _is_group(each):
            pending.extend(_parts(each))
        else:
            found.add(id(each))
    return found


def rewritten(
    node: ast.TryStar, number: int
) -> tuple[ast.Try, list[tuple[ast.Call, ast.ExceptHandler, ast.ExceptHandler]]]:
    """The `try` statement that stands for one with `except*`; its parts are yet to be judged.

    Returns:
        The statement, and for each clause the call whose argument its types are, the clause that has its body
        now, and the one it came from.
    """
    name = f"{NAME}{number}"

    def at(place: ast.AST, new: Any) -> Any:
        return ast.copy_location(new, place)

    def load(place: ast.AST) -> Any:
        return at(place, ast.Name(name, ast.Load()))

    def call(place: ast.AST, method: str, *arguments: ast.expr) -> Any:
        return at(
            place, ast.Call(at(place, ast.Attribute(load(place), method, ast.Load())), [*arguments], [])
        )

    def say(place: ast.AST, method: str, *arguments: ast.expr) -> Any:
        return at(place, ast.Expr(call(place, method, *arguments)))

    def attempt(place: ast.AST, body: list[ast.stmt], handler: ast.ExceptHandler) -> Any:
        return at(place, ast.Try(body=body, handlers=[at(place, handler)], orelse=[], finalbody=[]))

    def everything(place: ast.AST) -> Any:
        return guard(EVERYTHING, place)

    first = node.handlers[0]
    made = at(first, ast.Call(guard(STAR, first), [load(first)], []))
    body: list[ast.stmt] = [at(first, ast.Assign([at(first, ast.Name(name, ast.Store()))], made))]
    parts = []
    for handler in node.handlers:
        kept = f"{name}r"
        raised = at(handler, ast.Name(kept, ast.Load()))
        clause = ast.ExceptHandler(call(handler, "caught"), handler.name, handler.body)
        inner = attempt(handler, [say(handler, "throw")], clause)
        outer = attempt(
            handler,
            [inner],
            ast.ExceptHandler(everything(handler), kept, [say(handler, "keep", raised)]),
        )
        assert handler.type is not None
        test = call(handler, "takes", handler.type)
        body.append(at(handler, ast.If(test, [outer], [])))
        parts.append((test, clause, handler))
    body.append(
        attempt(
            first,
            [say(first, "finish")],
            ast.ExceptHandler(call(first, "reraised"), None, [at(first, ast.Pass())]),
        )
    )
    caught = at(first, ast.ExceptHandler(everything(first), name, body))
    statement: ast.Try = at(
        node, ast.Try(body=node.body, handlers=[caught], orelse=node.orelse, finalbody=node.finalbody)
    )
    return statement, parts
