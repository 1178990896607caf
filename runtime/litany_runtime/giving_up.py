"""When a program has given up a thread: the call in that thread is then cancelled, as an awaited one is.

A task says that it is cancelled. A thread cannot be told so, and CPython lets it run on: a future that is
cancelled too late, or whose wait timed out, keeps its thread, and the thread its call. Here the call is
ended, and `concurrent.futures.CancelledError` raised in the thread: at that call, or at its next one.

| what the program did | its calls end |
|---|---|
| `future.cancel()` of one that runs; an `asyncio.to_thread` that is cancelled comes to that | at once |
| `executor.shutdown(wait=False, cancel_futures=True)` | at once |
| a wait for the future timed out, and nobody has waited for it since | when its executor shuts down |
| it was left over by `concurrent.futures.wait`, and nobody has waited for it since | when the program ends |
| it is a task of a loop that runs no more | when the program ends |

Changes to the library, made once in the zygote, before the policy seals its classes.
"""

from __future__ import annotations

import threading
import weakref
from concurrent import futures
from concurrent.futures import thread as threads
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Executor, Future

    from litany_runtime.channel import Channel


class _Left(Enum):
    """How the last wait for a future ended that did not bring it."""

    TIMED_OUT = 1
    OVER = 2


_channel: Channel | None = None
_threads: dict[Future[Any], int] = {}
"""Which thread runs what a future stands for."""
_left: weakref.WeakKeyDictionary[Future[Any], _Left] = weakref.WeakKeyDictionary()
_executors: weakref.WeakKeyDictionary[Future[Any], weakref.ref[Executor]] = weakref.WeakKeyDictionary()
_lock = threading.RLock()


def begin(channel: Channel) -> None:
    """Cancel calls over this channel from now on."""
    global _channel  # noqa: PLW0603 - one process, one program
    _channel = channel


def at_the_end() -> None:
    """The program's own code has ended: end the calls that it has given up."""
    for future in list(_left):
        _end(future)
    if _channel is not None:
        _channel.cancel_left()


def _end(future: Future[Any]) -> None:
    with _lock:  # until here, the thread runs what this future stands for and nothing else
        if _channel is not None and (thread := _threads.get(future)) is not None:
            _channel.cancel_thread(thread)


def prepare() -> None:
    """Change the library, once, in the zygote."""
    _prepare_work()
    _prepare_waits()
    _prepare_ends()


def _prepare_work() -> None:
    item: Any = threads._WorkItem  # noqa: SLF001 - it has no other name
    run_item = item.run
    pool: Any = futures.ThreadPoolExecutor
    submit = pool.submit

    def run(self: Any) -> None:
        me, future = threading.get_ident(), self.future
        with _lock:
            _threads[future] = me
        try:
            run_item(self)
        finally:
            with _lock:
                del _threads[future]
                if _channel is not None:
                    _channel.forget_thread(me)

    def submit_known(self: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = submit(self, fn, *args, **kwargs)
        _executors[future] = weakref.ref(self)
        return future

    item.run = run
    pool.submit = _named_as(submit_known, submit)


def _prepare_waits() -> None:
    future_class: Any = futures.Future

    def noting(method: Any) -> Any:
        def wait(self: Any, timeout: float | None = None) -> Any:
            _left.pop(self, None)
            try:
                return method(self, timeout)
            except TimeoutError:
                if not self.done():
                    _left[self] = _Left.TIMED_OUT
                raise

        return _named_as(wait, method)

    future_class.result = noting(future_class.result)
    future_class.exception = noting(future_class.exception)

    wait_for, completed = futures.wait, futures.as_completed

    def wait(fs: Iterable[Future[Any]], timeout: Any = None, return_when: Any = futures.ALL_COMPLETED) -> Any:
        result = wait_for(fs, timeout, return_when)
        _note(result.done, result.not_done, _Left.OVER)
        return result

    def as_completed(fs: Iterable[Future[Any]], timeout: float | None = None) -> Iterator[Future[Any]]:
        waited = set(fs)
        _note(waited, (), _Left.TIMED_OUT)
        try:
            yield from completed(waited, timeout)
        except TimeoutError:
            _note((), (each for each in waited if not each.done()), _Left.TIMED_OUT)
            raise

    modules: tuple[Any, ...] = (futures, futures._base)  # noqa: SLF001 - where the library itself finds them
    for module in modules:
        module.wait, module.as_completed = _named_as(wait, wait_for), _named_as(as_completed, completed)


def _note(waited: Iterable[Future[Any]], left: Iterable[Future[Any]], how: _Left) -> None:
    for each in waited:
        _left.pop(each, None)
    for each in left:
        _left[each] = how


def _prepare_ends() -> None:
    future_class: Any = futures.Future
    cancel_future = future_class.cancel
    pool: Any = futures.ThreadPoolExecutor
    shut_down = pool.shutdown

    def cancel(self: Any) -> bool:
        done: bool = cancel_future(self)
        if not done:
            _end(self)
        return done

    def shutdown(self: Any, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - the library's
        for future, owner in list(_executors.items()):
            if owner() is self and ((cancel_futures and not wait) or _left.get(future) is _Left.TIMED_OUT):
                _end(future)
        shut_down(self, wait, cancel_futures=cancel_futures)

    future_class.cancel = _named_as(cancel, cancel_future)
    pool.shutdown = _named_as(shutdown, shut_down)


def _named_as(function: Any, original: Any) -> Any:
    """A function that is called, shown and described as the one it stands for."""
    for each in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(function, each, getattr(original, each))
    return function
