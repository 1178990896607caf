"""An order that cannot be obeyed is answered, and the zygote, with all that runs under it, goes on."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

from litany_runtime import child, confine, orders
from litany_runtime.confine import ConfinementError, Layer
from litany_runtime.limits import Limits
from litany_runtime.program import FilePolicy
from litany_runtime.zygote import _Zygote

AGAIN = OSError(errno.EAGAIN, "Resource temporarily unavailable")
MISSING = ConfinementError(Layer.LANDLOCK, "it is not there", "have it")


@pytest.fixture
def control() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        yield ours, theirs


@pytest.mark.parametrize(
    ("where", "error", "said"),
    [
        ((os, "fork"), AGAIN, "no more children at this moment: Resource temporarily unavailable"),
        ((confine, "prepare_child"), AGAIN, "no more children at this moment"),
        ((confine, "prepare_child"), MISSING, "it is not there"),
    ],
    ids=["no process", "no descriptor", "no layer"],
)
def test_a_child_that_cannot_be_made_is_told_and_ends_nothing_else(
    control: tuple[socket.socket, socket.socket],
    monkeypatch: pytest.MonkeyPatch,
    where: tuple[Any, str],
    error: Exception,
    said: str,
) -> None:
    def fail(*_: object) -> NoReturn:
        raise error

    ours, theirs = control
    monkeypatch.setattr(confine, "prepare_child", lambda *_: None)
    monkeypatch.setattr(*where, fail)
    told, stderr = os.pipe()
    spawn = orders.Spawn.of(7, None, FilePolicy.NONE, Limits())
    socket.send_fds(ours, [orders.encode(spawn)], [stderr, stderr, stderr])
    os.close(stderr)
    nothing: Any = None  # nothing is confined, and no child made
    zygote = _Zygote(theirs, nothing, nothing)
    assert zygote._obey()
    assert orders.decode(ours.recv(1000)) == orders.Exited(7, child.FAULT << 8, 0.0, 0)
    with os.fdopen(told, "rb") as pipe:
        assert said in pipe.read().decode()  # to its end: every descriptor of the order was closed
