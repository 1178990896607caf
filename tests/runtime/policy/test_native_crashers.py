"""C code that calls back into a program stays in memory that is its own.

What is asserted is how the child's process ended: a signal is a failure, an exception in the program is not.
"""

from __future__ import annotations

import pytest

from native_crashers import CRASHERS
from policy_runner import PolicyRunner


@pytest.mark.parametrize("name", CRASHERS)
def test_a_crasher_ends_without_a_signal(name: str, policy: PolicyRunner) -> None:
    run = policy.run(CRASHERS[name])
    assert run.exit_code >= 0, (run.exit_code, run.stderr[-500:])


ORDINARY = """
from array import array
from collections import OrderedDict
import asyncio, copy, csv, io, struct, weakref
import xml.etree.ElementTree as ET

class Number:
    def __init__(self, value): self.value = value
    def __index__(self): return self.value
    def __float__(self): return self.value / 2
    def __eq__(self, other): return isinstance(other, Number) and self.value == other.value
    def __lt__(self, other): return self.value < other.value
    def __hash__(self): return hash(self.value)

a = array("i", [1, 2, 3]); a[Number(0)] = Number(7); a.append(Number(4)); a.insert(Number(1), 9)
a.extend([Number(5)]); a.fromlist([Number(6)]); a[1:2] = array("i", [8, 8])
d = array("d", [0.0]); d[0] = Number(3); d.append(2)
b = bytearray(b"hello"); b.extend(b"!"); b[::2] = b"xyz"
print(a, d, b.find(b"l", Number(1)), b.hex(":"), bytearray(b"%d") % 5, Number(101) in b)
l = list(range(6)); l[::2] = (x * 10 for x in range(3)); l[-1] = 0; del l[0]
print(l, sorted([[Number(2)], [Number(1)]])[0][0].value, [1, 2] < [1, 3], [Number(1)] == [Number(1)])
o = OrderedDict((Number(i), i) for i in range(4)); o.move_to_end(Number(0)); o.pop(Number(2))
print(list(o.values()), [k.value for k in o], [k.value for k in reversed(o)], o == o.copy(), o.popitem()[1])
r = ET.fromstring("<r><a>1</a><b/><a>2</a></r>"); r.remove(r.find("b"))
c = copy.deepcopy(r); c[Number(0)].text = "9"
print(r.findtext("a"), c.findtext("a"), [e.text for e in r.findall("a")], r[-1].text, len(c))
s = struct.Struct("<hi"); print(s.unpack(s.pack(Number(1), 2)), s.size, s.format)
print(list(csv.reader(iter(["a,b", "c,d"]))), next(csv.DictReader(io.StringIO("x,y\\n1,2\\n"))))
class Raw(io.RawIOBase):
    def __init__(self): self.data = io.BytesIO(b"one\\ntwo\\n")
    def readable(self): return True
    def readinto(self, b): return self.data.readinto(b)
raw = Raw(); reader = io.BufferedReader(raw); text = io.TextIOWrapper(reader, "utf-8")
print(reader.raw is raw, text.buffer is reader, text.readlines(), text.detach() is reader, reader.detach() is raw)
class Box:
    def __eq__(self, other): return True
box = Box(); proxy = weakref.proxy(box); print(proxy == 5, proxy == proxy, str(UnicodeDecodeError("utf-8", b"ab", 1, 2, "bad")))
async def main():
    future = asyncio.get_running_loop().create_future(); seen = []
    class Callback:
        def __call__(self, f): seen.append(f.result())
        def __eq__(self, other): return self is other
    kept, gone = Callback(), Callback()
    future.add_done_callback(kept); future.add_done_callback(gone); print(future.remove_done_callback(gone))
    future.set_result(3); await asyncio.sleep(0); print(seen)
asyncio.run(main())
"""


def test_guarded_types_behave_as_in_cpython(policy: PolicyRunner, plain: PolicyRunner) -> None:
    guarded, unguarded = policy.run(ORDINARY), plain.run(ORDINARY)
    assert unguarded.exit_code == 0, unguarded.stderr
    assert (guarded.exit_code, guarded.stdout, guarded.stderr) == (0, unguarded.stdout, "")


def test_programs_without_special_methods_run_cpythons_own_methods(policy: PolicyRunner) -> None:
    run = policy.run(
        "from array import array\nfrom collections import OrderedDict\n"
        "methods = (array.append, array.extend, bytearray.find, OrderedDict.pop, OrderedDict.move_to_end)\n"
        "print({type(m).__name__ for m in methods} == {'method_descriptor'})"
    )
    assert run.stdout == "True\n", run.stderr
