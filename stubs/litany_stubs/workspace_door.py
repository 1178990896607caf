"""The door of a workspace on this machine, for programs that run outside the sandbox.

Each call runs `litany invoke --json`: the call goes through every gate and leaves its record, as a confined
program's would. The identity (workspace, agent, step) is the environment's, which the child process inherits.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from litany_stubs.reply_json import ReplyFormatError, decode_reply
from litany_stubs.words import JSON, DoorError, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WORKSPACE_VARIABLE = "LITANY_CONV_REPO"

SHOWN_CHARS = 500
"""Characters of what `litany invoke` said that an error shows: its last lines, where the reason is."""


class WorkspaceDoor:
    """A door that runs a command for each call."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        """Say how to reach the door.

        Args:
            command: the program and its arguments; it reads `{"name", "input"}` and prints a reply.
            env: its environment; None for this process's own.
        """
        self._command = tuple(command)
        self._env = None if env is None else dict(env)

    def call(self, name: str, arguments: Mapping[str, JSON]) -> Reply:
        """Make one call and wait for its reply; safe from any thread.

        Raises:
            DoorError: the command cannot be started, or what it printed is no reply.
        """
        try:
            done = subprocess.run(  # noqa: PLW1510 - a refused or failed call exits non-zero and prints its reply
                self._command, input=_asked(name, arguments), capture_output=True, env=self._env
            )
        except OSError as error:
            raise self._unreachable(error) from error
        return self._reply(name, done.returncode, done.stdout, done.stderr)

    async def call_async(self, name: str, arguments: Mapping[str, JSON]) -> Reply:
        """Make one call; calls awaited together are in flight together, and one that is cancelled is ended.

        Raises:
            DoorError: as `call`.
        """
        asked = _asked(name, arguments)
        pipe = subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command, stdin=pipe, stdout=pipe, stderr=pipe, env=self._env
            )
        except OSError as error:
            raise self._unreachable(error) from error
        talk = asyncio.ensure_future(process.communicate(asked))
        try:
            stdout, stderr = await asyncio.shield(talk)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()  # it ends the call, and records why
            await asyncio.wait([talk])
            raise
        assert process.returncode is not None
        return self._reply(name, process.returncode, stdout, stderr)

    def _unreachable(self, error: OSError) -> DoorError:
        return DoorError(
            f"the door cannot be reached: {self._command[0]} cannot be started ({error.strerror}); "
            "install litany, or put the folder of its command on PATH"
        )

    def _reply(self, name: str, exit_code: int, stdout: bytes, stderr: bytes) -> Reply:
        try:
            return decode_reply(stdout)
        except ReplyFormatError as error:
            said = stderr.decode("utf-8", "replace").strip()[-SHOWN_CHARS:]
            raise DoorError(
                f"the door gave no reply to {name}: {self._command[0]} exited {exit_code} ({error})"
                + (f"; it said: {said}" if said else "")
            ) from None


def _asked(name: str, arguments: Mapping[str, JSON]) -> bytes:
    return json.dumps({"name": name, "input": dict(arguments)}, allow_nan=False).encode()


def door_from_environment() -> WorkspaceDoor:
    """Return the door of the workspace that the environment names.

    Raises:
        DoorError: it names none, or there is no `litany` command.
    """
    if not os.environ.get(WORKSPACE_VARIABLE):
        raise DoorError(
            f"no door: this program runs outside litany, and {WORKSPACE_VARIABLE} names no workspace. "
            "In a test, use the fake_door fixture; against a workspace, set the variables that "
            "`litany stubs` prints"
        )
    beside = Path(sys.executable).with_name("litany")
    command = str(beside) if beside.is_file() else shutil.which("litany")
    if command is None:
        raise DoorError(
            "no door: there is no `litany` command beside this Python nor on PATH; install litany"
        )
    return WorkspaceDoor([command, "invoke", "--json"])
