"""A fuzzer for both ends of the wire: valid conversations, mutated byte by byte, fed in pieces.

`tests/runtime/test_wire.py` runs it for a fixed number of rounds; for longer:

    python tests/wire_fuzz.py SECONDS [SEED]

What may come of any bytes: messages of the closed set, `RemoteError`, or nothing yet. Anything else, a message that
cannot be encoded again, or a buffer that outgrows the largest frame is a find.
"""

from __future__ import annotations

import random
import sys
import time

import msgpack

from litany_runtime import wire

MAX_FRAME = 4096

SEEDS: dict[str, list[wire.Message]] = {
    "child": [
        wire.Warm(["landlock", "seccomp"]),
        wire.Call(1, "read_file", {"path": "a", "n": [1, 2.5, None, True, {"b": "é"}]}),
        wire.Call(2**31, "x", {}),
        wire.Cancel(1),
        wire.Cancel(-(2**63)),
        wire.Warned(["program.py:1:1: no tool x"]),
        wire.Refused("program.py:1:1: import: no"),
        wire.Ended(0, False, [1, 2**31], 3),
    ],
    "host": [
        wire.Stubs(b"\x00" * 40),
        wire.Run(b"print(1)", "program.py", look=True),
        wire.Answer(1, "completed", 0, b"out", b"", {"a": [1]}, "", "", 0.5, 0.0),
        wire.Answer(2, "refused", 126, b"", b"", None, "grant", "not granted", 0.0, 0.0),
    ],
}
ACCEPTS = {"child": wire.FROM_CHILD, "host": wire.FROM_HOST}
SPICE = [
    b"\xff" * 4,
    b"\x00" * 4,
    b"\xdf\xff\xff\xff\xff",
    b"\xdd\xff\xff\xff\xff",
    b"\xc6\xff\xff\xff\xff",
    b"\xc1",
    b"\x91" * 80,
]
ODD_VALUES: list[object] = [float("nan"), float("inf"), 2**64 - 1, -(2**63), "\x00", b"x", [], {}]
SPICE += [bytes(msgpack.packb(value)) for value in ODD_VALUES]


def mutated(data: bytes, dice: random.Random) -> bytes:
    """The bytes with a few of them changed, dropped, doubled, or something hostile put between."""
    out = bytearray(data)
    for _ in range(dice.randrange(0, 6)):
        at = dice.randrange(len(out) + 1)
        match dice.randrange(5):
            case 0 if at < len(out):
                out[at] = dice.randrange(256)
            case 1:
                del out[at : at + dice.randrange(1, 9)]
            case 2:
                out[at:at] = dice.choice(SPICE)
            case 3:
                out[at:at] = out[at : at + dice.randrange(1, 40)]
            case _ if at < len(out):
                out[at] ^= 1 << dice.randrange(8)
    return bytes(out)


def one_round(dice: random.Random) -> int:
    """Feed one mutated conversation to one end; how many messages it took."""
    side = dice.choice(list(SEEDS))
    data = b"".join(wire.encode(dice.choice(SEEDS[side]), MAX_FRAME) for _ in range(dice.randrange(1, 5)))
    data = mutated(data, dice)
    if dice.random() < 0.5 and len(data) > 4:  # a true length, so that the body is looked at
        data = (len(data) - 4).to_bytes(4, "big") + data[4:]
    decoder = wire.Decoder(ACCEPTS[side], MAX_FRAME)
    taken = 0
    while data:
        cut = dice.randrange(1, len(data) + 1)
        piece, data = data[:cut], data[cut:]
        try:
            for message in decoder.feed(piece):
                assert type(message) in ACCEPTS[side].values(), message
                assert wire.encode(message, MAX_FRAME + 64), message
                taken += 1
        except wire.RemoteError:
            break
        assert len(decoder._buffer) <= MAX_FRAME + 4, len(decoder._buffer)
    return taken


def main() -> None:
    """Fuzz until the time is up."""
    seconds = float(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns()
    dice = random.Random(seed)
    until = time.monotonic() + seconds
    rounds = taken = 0
    while time.monotonic() < until:
        state = dice.getstate()
        try:
            taken += one_round(dice)
        except BaseException:
            print(f"seed {seed}, round {rounds}, state {hash(state)}")
            raise
        rounds += 1
    print(f"{rounds} rounds in {seconds:g} s, {taken} messages taken, nothing found (seed {seed})")


if __name__ == "__main__":
    main()
