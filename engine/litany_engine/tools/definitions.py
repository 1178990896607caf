"""What a tool says of itself beyond its declaration: what gates, rules and the schedule go by.

Three answers depend on the input of a call (a `git` tool that reads or writes), so they are a truth or a
function. A function that raises gives the answer that lets less happen. What a connected server says of its
own tools may raise requirements and never lower them, unless the operator trusts that server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from litany_stubs.words import JSON

Permission = Literal["file_read", "file_write", "shell_execute", "network_access", "env_access"]
Category = Literal["filesystem", "shell", "network", "analysis", "custom"]
PERMISSIONS = frozenset(Permission.__args__)  # type: ignore[attr-defined]
CATEGORIES = frozenset(Category.__args__)  # type: ignore[attr-defined]

NAMED_TRAITS = ("read_only", "destructive", *sorted(PERMISSIONS), *sorted(CATEGORIES))
"""What a rule may ask of a tool: what its calls do, what it needs, what kind it is."""

Judge = bool | Callable[[JSON], bool]
"""An answer, or what gives it for an input."""


class DefinitionError(ValueError):
    """A tool that says of itself what cannot be; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a definition comes from, when not from this host.

    Attributes:
        server: the connected server that described the tool.
        trusted: the operator believes what it says of its tools.
    """

    server: str
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class Traits:
    """What a tool says of itself.

    Attributes:
        model_schema: shown to the model instead of the input schema; may be narrower, never checked.
        hint: added to a refusal of the schema gate, for shapes that a list of faults does not explain.
        command_argument: the argument that is a shell command line; not one that is an argument list.
        path_argument: the argument that is a path, resolved against the agent's working directory.
        paths_of: finds the paths in an input that has them elsewhere; instead of `path_argument`.
        escape_argument: the argument by which a call asks to leave its confinement. Such a call is always
            put to the operator; no allow rule and no earlier answer covers it.
        permissions: what it needs.
        category: what kind of tool it is.
        max_retries: how often a failure that its capture calls `retryable` is tried again. None by default:
            running a thing twice that must run once is worse than not trying again.
        terminal: a successful call of the model, alone in its reply, is the last word: the model is not asked
            again until somebody says something to the agent.
        read_only: it changes nothing.
        destructive: it cannot be undone.
        concurrency_safe: it may run beside other calls. One that says nothing may in a program, whose calls
            are only ever in flight together because it started them so; and not in a reply, whose calls run
            together when the tool of each says True. One that cannot bear company says False.
        barrier: calls before it end before it begins, calls after it wait for its end.
        provenance: None for a tool of this host.
    """

    model_schema: Mapping[str, JSON] | None = None
    hint: str = ""
    command_argument: str | None = None
    path_argument: str | None = None
    paths_of: Callable[[JSON], Iterable[str]] | None = None
    escape_argument: str | None = None
    permissions: frozenset[str] = frozenset()
    category: Category = "custom"
    max_retries: int = 0
    terminal: bool = False
    read_only: Judge = False
    destructive: Judge = False
    concurrency_safe: Judge | None = None
    barrier: bool = False
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if unknown := sorted(self.permissions - PERMISSIONS):
            raise DefinitionError(f"permission {unknown[0]!r}: there are {', '.join(sorted(PERMISSIONS))}")
        if self.category not in CATEGORIES:
            raise DefinitionError(f"category {self.category!r}: there are {', '.join(sorted(CATEGORIES))}")
        if isinstance(self.max_retries, bool) or not 0 <= self.max_retries <= MAX_RETRIES:
            raise DefinitionError(
                f"max_retries is a number from 0 to {MAX_RETRIES}, not {self.max_retries!r}"
            )
        if self.path_argument is not None and self.paths_of is not None:
            raise DefinitionError("paths come from path_argument or from paths_of, not from both")

    @property
    def has_paths(self) -> bool:
        """Whether a call of it may name paths."""
        return self.path_argument is not None or self.paths_of is not None

    def paths(self, arguments: JSON) -> tuple[object, ...] | None:
        """The paths that a call names; None when they cannot be found."""
        if self.paths_of is not None:
            try:
                return tuple(self.paths_of(arguments))
            except Exception:  # noqa: BLE001 - an input that a tool cannot read has no paths that can be told
                return None
        if self.path_argument is None or arguments.get(self.path_argument) is None:
            return ()
        given = arguments[self.path_argument]
        return tuple(given) if isinstance(given, list) else (given,)

    @property
    def is_terminal(self) -> bool:
        """Whether a call of it may be the last word, by the word of someone who is believed."""
        return self._believed and self.terminal

    def is_read_only(self, arguments: JSON) -> bool:
        """Whether this call changes nothing, by the word of someone who is believed."""
        return self._believed and _judged(self.read_only, arguments, otherwise=False)

    def is_destructive(self, arguments: JSON) -> bool:
        """Whether this call may do what cannot be undone."""
        return _judged(self.destructive, arguments, otherwise=True)

    def is_concurrency_safe(self, arguments: JSON) -> bool:
        """Whether this call of a program may run beside others of it."""
        safe = self.concurrency_safe
        return self._believed and (safe is None or _judged(safe, arguments, otherwise=False))

    @property
    def runs_one_at_a_time(self) -> bool:
        """Whether no call of a program runs beside another of it; False where that depends on the call."""
        return self.barrier or not (callable(self.concurrency_safe) or self.is_concurrency_safe(None))

    def is_declared_safe(self, arguments: JSON) -> bool:
        """Whether this call of a reply may run beside others of it; a tool that says nothing may not."""
        safe = self.concurrency_safe
        if safe is None or self.barrier or not self._believed:
            return False
        return _judged(safe, arguments, otherwise=False)

    def has(self, trait: str, arguments: JSON) -> bool | None:
        """Whether a call has one of `NAMED_TRAITS`; None when that cannot be told for certain."""
        if trait == "read_only":
            certain = _certain(self.read_only, arguments)
            return certain if self._believed or certain is False else None
        if trait == "destructive":
            certain = _certain(self.destructive, arguments)
            return certain if self._believed or certain is True else None
        return trait in self.permissions or trait == self.category

    def may_have(self, trait: str) -> bool:
        """Whether any call may have a trait."""
        own = {"read_only": self.read_only, "destructive": self.destructive}
        return bool(own[trait]) if trait in own else self.has(trait, None) is True

    def asks_to_escape(self, arguments: JSON) -> bool:
        """Whether this call asks to leave its confinement: anything but a plain no is a yes."""
        name = self.escape_argument
        return name is not None and not any(arguments.get(name) is each for each in (False, None))

    @property
    def _believed(self) -> bool:
        return self.provenance is None or self.provenance.trusted


MAX_RETRIES = 10
"""Beyond this, waiting is somebody else's job."""


def _certain(judge: Judge, arguments: JSON) -> bool | None:
    """What a judge says; None when it cannot answer."""
    if isinstance(judge, bool):
        return judge
    try:
        answer = judge(arguments)
    except Exception:  # noqa: BLE001 - what cannot answer has not said no either
        return None
    return answer if isinstance(answer, bool) else None


def _judged(judge: Judge, arguments: JSON, *, otherwise: bool) -> bool:
    """What a judge says; one that cannot answer gives the answer that lets less happen."""
    certain = _certain(judge, arguments)
    return otherwise if certain is None else certain
