"""Programs that crashed a CPython which the policy supports, or that are shaped like those that did.

Each re-enters C code from a special method, a callback or an iterator, or gives C code what it does not expect.
Their sources are CPython's own list of crashers, its fixed issues, and the fuzzer in `tests/soak/fuzz.py`.
"""

from __future__ import annotations

CRASHERS = {
    "array_setitem_index": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
from array import array
a=array('i',range(100000))
a[99999]=I(lambda: a.__delitem__(slice(None)))
print(len(a))
""",
    "array_setitem_index_b": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
from array import array
a=array('B',bytes(10**6))
def f():
    del a[:]
a[999999]=I(f)
print(len(a))
""",
    "array_setitem_float": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
from array import array
a=array('d',bytes(8*10**6))
def f():
    del a[:]
a[999999]=I(f)
print(len(a))
""",
    "array_insert": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
from array import array
a=array('d',bytes(8*10**6))
def f():
    del a[:]
a.insert(999999,I(f))
print(len(a))
""",
    "array_append": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
from array import array
a=array('q',bytes(8*10**6))
def f():
    del a[:]
a.append(I(f))
print(len(a))
""",
    "array_extend": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
from array import array
a=array('q',bytes(8*10**6))
def f():
    del a[:]
a.extend([I(f)])
print(len(a))
""",
    "array_fromlist": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
from array import array
a=array('q',bytes(8*10**6))
def f():
    del a[:]
a.fromlist([I(f), I(f)])
print(len(a))
""",
    "array_fromlist_list": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
from array import array
a=array('q')
l=[]
def f():
    l.clear()
l.extend([I(f)]+[object() for _ in range(1000)])
a.fromlist(l)
print(len(a))
""",
    "array_iadd_iter": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
from array import array
a=array('q',bytes(8*10**6))
def f():
    del a[:]
a[5:6]=array('q',[1])
a+=array('q',[1])
a.__setitem__(999999, I(f))
""",
    "array_tofile": """
from array import array
a=array('q',bytes(8*10**6))
class F:
    def write(s,b):
        del a[:]
a.tofile(F())
""",
    "array_subclass": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
from array import array
class A(array): pass
a=A('q',bytes(8*10**6))
def f():
    del a[:]
a[999999]=I(f)
""",
    "array_operator": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
import operator
from array import array
a=array('q',bytes(8*10**6))
def f():
    del a[:]
operator.setitem(a,999999,I(f))
""",
    "array_intsub": """
from fractions import Fraction
from array import array
a=array('d',bytes(8*10**6))
class F(Fraction):
    @property
    def numerator(s):
        del a[:]
        return 1
a[999999]=F(1,2)
""",
    "bytearray_setitem": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
b=bytearray(10**6)
def f(): b.clear()
b[999999]=I(f)
print(len(b))
""",
    "bytearray_setitem2": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
b=bytearray(10**6)
def f(): b.clear()
b[I(f,999999)]=5
print(len(b))
""",
    "bytearray_find": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
b=bytearray(b'a'*10**7)
def f(): b.clear()
try: print(b.find(b'zz', I(f,0)))
except ValueError: pass
""",
    "bytearray_rfind": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
b=bytearray(b'a'*10**7)
def f(): b.clear()
try: print(b.rfind(b'zz', I(f,0)))
except ValueError: pass
""",
    "bytearray_index": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
b=bytearray(b'a'*10**7)
def f(): b.clear()
try: print(b.index(b'zz', I(f,0)))
except ValueError: pass
""",
    "bytearray_rindex": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
b=bytearray(b'a'*10**7)
def f(): b.clear()
try: print(b.rindex(b'zz', I(f,0)))
except ValueError: pass
""",
    "bytearray_count": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
b=bytearray(b'a'*10**7)
def f(): b.clear()
try: print(b.count(b'zz', I(f,0)))
except ValueError: pass
""",
    "bytearray_startswith": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
b=bytearray(b'a'*10**7)
def f(): b.clear()
try: print(b.startswith(b'zz', I(f,0)))
except ValueError: pass
""",
    "bytearray_endswith": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
b=bytearray(b'a'*10**7)
def f(): b.clear()
try: print(b.endswith(b'zz', I(f,0)))
except ValueError: pass
""",
    "bytearray_in": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
b=bytearray(b'a'*10**7)
def f(): b.clear()
print(I(f,98) in b)
""",
    "bytearray_find_int": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
b=bytearray(b'a'*10**7)
def f(): b.clear()
print(b.find(I(f,98)))
""",
    "bytearray_extend_hint": """
class E:
    def __iter__(s): return s
    n=0
    def __next__(s):
        s.n+=1
        if s.n>100000: raise StopIteration
        return 65
    def __length_hint__(s): return 0
b=bytearray()
b.extend(E())
print(len(b), bytearray())
""",
    "bytearray_hex": """
class S(str):
    def __len__(s):
        b.clear()
        return 1
b=bytearray(10**7)
print(len(b.hex(S(':'))))
""",
    "memoryview_hex": """
class S(str):
    def __len__(s):
        m.release(); b.clear()
        return 1
b=bytearray(10**7)
m=memoryview(b)
print(len(m.hex(S(':'))))
""",
    "bytearray_mod": """
class S:
    def __str__(s):
        b.clear()
        return 'x'
    __repr__=__str__
b=bytearray(b'%a'+b'x'*10**7)
print(len(b % (S(),)))
""",
    "bytearray_join": """
b=bytearray(b'x'*10**7)
def g():
    b.clear()
    yield b'a'
    yield b'b'
print(len(b.join(g())))
""",
    "bytearray_iter_init": """
b=bytearray(b'x'*10**6)
def g():
    yield 65
    b.clear()
    yield 66
    b.__init__(b'zz')
    yield 67
b.__init__(g())
print(b)
""",
    "bytearray_slice_assign": """
b=bytearray(b'x'*10**6)
def g():
    b.clear()
    yield from range(100)
b[10:200:2]=g()
""",
    "bytearray_slice_assign2": """
b=bytearray(b'x'*10**6)
def g():
    b.clear()
    yield from range(100)
b[10:200]=g()
""",
    "memoryview_setitem": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
b=bytearray(10**6)
m=memoryview(b)
def f():
    m.release(); b.clear()
m[999999]=I(f)
""",
    "memoryview_setitem2": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
b=bytearray(10**6)
m=memoryview(b)
def f():
    m.release(); b.clear()
m[I(f,999999)]=4
""",
    "memoryview_setitem_f": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
b=bytearray(8*10**6)
m=memoryview(b).cast('d')
m2=m
def f():
    m.release(); b.clear()
m[999999]=I(f)
""",
    "memoryview_setitem_bool": """
b=bytearray(8*10**6)
n=memoryview(b)
m=n.cast('?')
class B:
    def __bool__(s):
        m.release(); n.release(); b.clear(); return True
m[999999]=B()
""",
    "memoryview_getitem_tuple": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
b=bytearray(8*10**6)
n=memoryview(b)
m=n.cast('B',[1000,8000])
def f():
    m.release(); n.release(); b.clear()
print(m[I(f,999),7999])
""",
    "memoryview_hash": """
class B(bytearray):
    def __hash__(s):
        m.release()
        s.clear()
        return 1
b=B(10**7)
m=memoryview(b).toreadonly()
print(hash(m))
""",
    "memoryview_hash2": """
from array import array
class B(array):
    def __hash__(s):
        m.release()
        del s[:]
        return 1
b=B('B',bytes(10**7))
m=memoryview(b).toreadonly()
print(hash(m))
""",
    "memoryview_cast_shape": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
b=bytearray(100)
m=memoryview(b)
def f():
    m.release();b.clear()
print(m.cast('B',[I(f,100)]))
""",
    "struct_reinit": """
import struct
class B:
    def __bool__(s):
        S.__init__('c')
        return True
S=struct.Struct('?'*1000)
print(len(S.pack(*[B() for _ in range(1000)])))
""",
    "struct_reinit_into": """
import struct
class B:
    def __bool__(s):
        struct.Struct.__init__(S,'1000000s')
        return True
S=struct.Struct('?'*1000)
b=bytearray(1000)
S.pack_into(b,0,*[B() for _ in range(1000)])
""",
    "struct_subinit": """
import struct
class T(struct.Struct):
    def again(s): super().__init__('1000000s')
class B:
    def __bool__(s):
        S.again()
        return True
S=T('?'*1000)
print(len(S.pack(*[B() for _ in range(1000)])))
""",
    "struct_uninit": """
import struct
S=struct.Struct.__new__(struct.Struct)
for f in (lambda: S.pack(), lambda: S.unpack(b''), lambda: S.size, lambda: S.format, lambda: repr(S), lambda: list(S.iter_unpack(b'')), lambda: S.__sizeof__()):
    try: print(f())
    except Exception as e: print(e)
""",
    "struct_iter": """
import struct
S=struct.Struct('i')
it=S.iter_unpack(bytes(4000))
S.__init__('1000000s')
print(next(it))
""",
    "list_lt": """
class E:
    def __lt__(s,o):
        l.clear(); k.clear()
        return NotImplemented
    def __gt__(s,o):
        return True
    def __eq__(s,o): return False
l=[E()]
k=[E()]
print(l<k)
""",
    "list_lt2": """
class E:
    def __eq__(s,o):
        l.clear(); k.clear()
        return False
    def __lt__(s,o): return True
l=[E()]
k=[E()]
print(l<k)
""",
    "list_ass_slice_ext": """
l=[object() for _ in range(100000)]
def g():
    l.clear()
    yield from range(50000)
l[::2]=g()
print(len(l))
""",
    "list_ass_slice_idx": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
l=[object() for _ in range(100000)]
class S:
    def __iter__(s):
        l.clear()
        return iter(range(50000))
l[0:100000:2]=S()
print(len(l))
""",
    "list_repr": """
class E:
    def __repr__(s):
        l.clear()
        return 'x'
l=[E(),E(),E()]
print(repr(l))
""",
    "list_sort": """
class E:
    def __lt__(s,o):
        l.append(1); l.clear()
        return True
l=[E() for _ in range(50)]
try: l.sort()
except ValueError as e: print(e)
""",
    "list_index": """
class E:
    def __eq__(s,o):
        l.clear()
        return False
l=[E() for _ in range(50)]
print(l.count(E()))
l=[E() for _ in range(50)]
print(E() in l)
""",
    "list_heapq": """
import heapq
class E:
    def __lt__(s,o):
        l.clear()
        return True
for f in (lambda: heapq.heapify(l), lambda: heapq.heappop(l), lambda: heapq.heappush(l,E()), lambda: heapq.heapreplace(l,E()), lambda: heapq.heappushpop(l,E())):
    l=[E() for _ in range(50)]
    try: f()
    except Exception as e: print(e)
""",
    "bisect": """
import bisect
class E:
    def __lt__(s,o):
        l.clear()
        return True
for f in (bisect.bisect_left, bisect.bisect_right, bisect.insort):
    l=[E() for _ in range(50)]
    try: print(f(l,E()))
    except Exception as e: print(e)
""",
    "dict_split_strsub": """
class S(str):
    def __hash__(s): return str.__hash__(s)
    def __eq__(s,o): return str.__eq__(s,o)
class A: pass
a=A(); a.x=1; a.y=2
b=A(); b.x=1
b.__dict__[S('y')]=5
print(b.__dict__)
b.y=6
print(b.__dict__, b.y)
c=A()
c.__dict__[S('y')]=5
c.x=1
print(c.__dict__)
""",
    "odict_eq": """
from collections import OrderedDict
class E:
    def __init__(s,n): s.n=n
    def __hash__(s): return 1
    def __eq__(s,o):
        a.clear(); b.clear()
        return True
a=OrderedDict((E(i),i) for i in range(1))
b=OrderedDict((E(i),i) for i in range(1))
try: print(a==b)
except Exception as e: print(repr(e))
""",
    "odict_eq2": """
from collections import OrderedDict
class E:
    def __init__(s,n): s.n=n
    def __hash__(s): return hash(s.n)
    def __eq__(s,o):
        if armed:
            a.clear(); b.clear()
        return s.n==o.n
armed=False
a=OrderedDict((E(i),i) for i in range(100))
b=OrderedDict((E(i),i) for i in range(100))
armed=True
try: print(a==b)
except Exception as e: print(repr(e))
""",
    "odict_eq3": """
from collections import OrderedDict
class V:
    def __eq__(s,o):
        a.clear(); b.clear()
        return True
a=OrderedDict((i,V()) for i in range(100))
b=OrderedDict((i,V()) for i in range(100))
try: print(a==b)
except Exception as e: print(repr(e))
""",
    "odict_move": """
from collections import OrderedDict
class E:
    armed=False
    def __hash__(s): return 1
    def __eq__(s,o):
        if E.armed: a.clear()
        return s is o
a=OrderedDict()
ks=[E() for _ in range(20)]
for k in ks: a[k]=1
E.armed=True
for f in (lambda: a.move_to_end(ks[-1]), lambda: a.pop(ks[-1]), lambda: a.__delitem__(ks[-1]), lambda: a.popitem(), lambda: a.setdefault(E(),1), lambda: a.copy(), lambda: a.update({E():1}), lambda: repr(a), lambda: a|{E():2}, lambda: list(a.items()), lambda: dict(a)):
    E.armed=False
    a.clear()
    for k in ks: a[k]=1
    E.armed=True
    try: f()
    except Exception as e: print(repr(e))
""",
    "odict_dict_direct": """
from collections import OrderedDict
a=OrderedDict((i,i) for i in range(100))
it=iter(a)
next(it)
dict.clear(a)
for f in (lambda: next(it), lambda: list(a), lambda: a.popitem(), lambda: a.move_to_end(5), lambda: a.copy(), lambda: repr(a), lambda: a==a.copy(), lambda: list(reversed(a)), lambda: a.clear(), lambda: a.pop(3)):
    try: print(f())
    except Exception as e: print(repr(e))
b=OrderedDict((i,i) for i in range(100))
for i in range(99): dict.__delitem__(b,i)
for f in (lambda: list(b.items()), lambda: b.popitem(0), lambda: b.copy(), lambda: repr(b), lambda: b==OrderedDict(b)):
    try: print(f())
    except Exception as e: print(repr(e))
""",
    "odict_sub_getitem": """
from collections import OrderedDict
class O(OrderedDict):
    def __getitem__(s,k):
        s.clear()
        return 1
    def __missing__(s,k): return 1
a=O((i,i) for i in range(100))
for f in (lambda: a.copy(), lambda: repr(a), lambda: list(a.items()), lambda: a.pop(3), lambda: a.popitem()):
    a.clear()
    for i in range(100): a[i]=i
    try: f()
    except Exception as e: print(repr(e))
""",
    "counter_update": """
from collections import Counter
class V:
    def __add__(s,o):
        d.clear()
        return 3
    __radd__=__add__
d=Counter()
d['a']=V()
d.update(['a','a','a'])
print(d)
""",
    "counter_key": """
from collections import Counter
class K:
    armed=False
    def __hash__(s): return 1
    def __eq__(s,o):
        if K.armed: d.clear()
        return True
d=Counter()
d.update([K()])
K.armed=True
d.update([K(),K(),K()])
print(d)
""",
    "deque_ops": """
from collections import deque
class E:
    def __eq__(s,o):
        d.clear()
        return n
for n in (False, True):
  for f in (lambda: d.remove(E()), lambda: d.index(E()), lambda: d.count(E()), lambda: E() in d, lambda: d==deque(d), lambda: d<deque(d), lambda: repr(d), lambda: d.copy(), lambda: d+d, lambda: d*3):
    d=deque(E() for _ in range(200))
    try: print(f())
    except Exception as e: print(repr(e))
""",
    "deque_init": """
from collections import deque
d=deque(range(1000))
def g():
    for i in range(1000):
        if i==500:
            d.clear()
            d.__init__((), 3)
        yield i
d.__init__(g())
print(len(d))
d.extend(g())
d.extendleft(g())
print(len(d))
""",
    "set_eq": """
class E:
    armed=False
    def __hash__(s): return 1
    def __eq__(s,o):
        if E.armed:
            a.clear(); b.clear()
        return False
for f in (lambda: a|b, lambda: a&b, lambda: a-b, lambda: a^b, lambda: a<=b, lambda: a==b, lambda: a.update(b), lambda: a.intersection_update(b), lambda: a.difference_update(b), lambda: a.symmetric_difference_update(b), lambda: a.isdisjoint(b), lambda: E() in a, lambda: a.add(E()), lambda: a.remove(E()), lambda: a.discard(E()), lambda: a.difference({E():1}), lambda: a.difference_update({E():1}), lambda: a.symmetric_difference_update({E():1}), lambda: a.intersection([E()]), lambda: frozenset(a), lambda: a.copy()):
    E.armed=False
    a={E() for _ in range(100)}
    b={E() for _ in range(100)}
    E.armed=True
    try: f()
    except Exception as e: print(repr(e))
""",
    "set_readd": """
class E:
    armed=0
    def __hash__(s): return 1
    def __eq__(s,o):
        if E.armed:
            E.armed=0
            a.discard(x); a.add(E())
        return False
a={E() for _ in range(6)}
x=E()
a.add(x)
E.armed=1
a.add(E())
print(len(a))
for e in list(a): a.remove(e)
""",
    "groupby_eq": """
from itertools import groupby
class K:
    def __init__(s,v): s.v=v
    def __eq__(s,o):
        global armed
        if armed:
            armed=False
            next(g,None)
        return True
armed=True
vals=iter([K(i) for i in range(50)])
g=groupby(vals)
for k,v in g:
    armed=True
    try:
        for x in v: armed=True
    except Exception as e: print(e)
""",
    "groupby_grouper": """
from itertools import groupby
class K:
    n=0
    def __eq__(s,o):
        K.n+=1
        if K.n%2:
            for _ in range(3): next(g,None)
        return K.n%3==0
g=groupby([K() for _ in range(500)])
for k,v in g:
    try: list(v)
    except Exception as e: print(e)
""",
    "pairwise": """
from itertools import pairwise
class I:
    n=0
    def __iter__(s): return s
    def __next__(s):
        s.n+=1
        if s.n in (1,2,3): next(p,None)
        if s.n>10: raise StopIteration
        return [s.n]
i=I()
p=pairwise(i)
print(list(p))
""",
    "zip_longest": """
from itertools import zip_longest
class I:
    n=0
    def __iter__(s): return s
    def __next__(s):
        s.n+=1
        if s.n==3:
            try: next(z)
            except StopIteration: pass
        if s.n>2: raise StopIteration
        return [s.n]
z=zip_longest(I(),[1,2,3,4,5])
print(list(z))
""",
    "iter_callable": """
def f():
    global n
    n+=1
    if n==2:
        list(it)
    return n
n=0
class S:
    def __eq__(s,o):
        return n>5
it=iter(f,S())
print(list(it))
""",
    "iter_reduce": """
import copy
class L(list): pass
for x in (iter([1,2]), reversed([1]), zip([1]), map(int,[1]), enumerate([1])):
    try: print(copy.copy(x), copy.deepcopy(x))
    except Exception as e: print(repr(e))
""",
    "io_readinto_keep": """
import io
kept=[]
class R(io.RawIOBase):
    def readable(s): return True
    def readinto(s,b):
        kept.append(b)
        return 0
r=io.BufferedReader(R(), 100000)
r.read(10)
r.detach()
del r
x=[bytearray(100000) for _ in range(10)]
b=kept[0]
print(len(b))
b[:]=b'A'*len(b)
print([i[:3] for i in x])
""",
    "io_write_keep": """
import io
kept=[]
class W(io.RawIOBase):
    def writable(s): return True
    def write(s,b):
        kept.append(b)
        return len(b)
w=io.BufferedWriter(W(), 100000)
w.write(b'x'*50000)
w.flush()
w.detach()
del w
x=[bytearray(100000) for _ in range(10)]
print(bytes(kept[0][:4]), len(kept[0]))
""",
    "io_reinit_in_readinto": """
import io
class R(io.RawIOBase):
    n=0
    def readable(s): return True
    def readinto(s,b):
        s.n+=1
        if s.n==1:
            try: r.__init__(s, 10)
            except Exception as e: print(repr(e))
        b[:]=b'A'*len(b)
        return len(b)
r=io.BufferedReader(R(), 100000)
print(len(r.read(50)))
print(len(r.peek()))
""",
    "io_detach_in_readinto": """
import io
for what in ('detach','close','__init__'):
  for how in ('read','read1','peek','readline','readall'):
    class R(io.RawIOBase):
        def readable(s): return True
        def readinto(s,b):
            try: r.detach() if what=='detach' else r.close() if what=='close' else r.__init__(io.BytesIO(b''),1)
            except Exception as e: pass
            b[:]=b'A'*len(b)
            return len(b)
    r=io.BufferedReader(R(), 100000)
    try:
        x=getattr(r,how)
        print(len(x(5) if how!='readall' else r.read()))
    except Exception as e: print(repr(e))
""",
    "io_rawread_big": """
import io
class R(io.RawIOBase):
    def readable(s): return True
    def readinto(s,b): return 10**8
try: print(len(R().read(10)))
except Exception as e: print(repr(e))
""",
    "io_rawread_shrink": """
import io
class R(io.RawIOBase):
    def readable(s): return True
    def readinto(s,b):
        b.clear()
        return 10**7
try: print(len(R().read(10**7)))
except Exception as e: print(repr(e))
""",
    "textio_write_reenter": """
import io
class W(io.RawIOBase):
    def writable(s): return True
    def write(s,b):
        global n
        n+=1
        if n<5: t.write('y'*10000)
        return len(b)
n=0
t=io.TextIOWrapper(W())
t.write('x'*100000)
t.write('x'*100000)
t.flush()
""",
    "textio_write_reenter2": """
import io
class W(io.BufferedIOBase):
    def writable(s): return True
    closed=False
    def write(s,b):
        global n
        n+=1
        if n<5:
            t.write('z'*3); t.write('y'*9000)
        return len(b)
    def flush(s): pass
n=0
t=io.TextIOWrapper(W(),'utf-8')
for i in range(10): t.write('abc'); t.write('x'*8190)
t.flush()
""",
    "textio_detach": """
import io
for how in ('read','readline','tell','close','flush','write','seek','truncate','read5'):
    class B(io.BufferedIOBase):
        n=0
        def readable(s): return True
        def writable(s): return True
        def seekable(s): return True
        def d(s):
            s.n+=1
            if armed:
                try: t.detach()
                except Exception as e: print(repr(e))
        def read1(s,n=-1): s.d(); return b'abc' if s.n<9 else b''
        def read(s,n=-1): s.d(); return b'abc'if s.n<9 else b''
        def write(s,b): s.d(); return len(b)
        def flush(s): s.d()
        def tell(s): s.d(); return 0
        def seek(s,*a): s.d(); return 0
        def truncate(s,*a): s.d()
        @property
        def closed(s): s.d(); return False
        def close(s): pass
    armed=False
    t=io.TextIOWrapper(B(),'utf-8')
    armed=True
    try: print(how, t.read(5) if how=='read5' else t.write('x'*100000) if how=='write' else t.seek(0) if how=='seek' else getattr(t,how)())
    except Exception as e: print(how, repr(e))
    armed=False
""",
    "textio_uninit": """
import io
for T in (io.TextIOWrapper, io.BufferedReader, io.BufferedWriter, io.BufferedRandom, io.BufferedRWPair, io.StringIO, io.BytesIO, io.IncrementalNewlineDecoder):
    x=T.__new__(T)
    for m in dir(x):
        if m.startswith('_'): continue
        try:
            f=getattr(x,m)
            f() if callable(f) else None
        except Exception as e: pass
        for a in (1, b'x', 'x'):
            try: f(a)
            except Exception as e: pass
    try: repr(x)
    except Exception as e: pass
    try: next(x)
    except Exception as e: pass
""",
    "textio_reinit": """
import io
class B(io.BytesIO):
    def read1(s,n=-1):
        global n_
        n_+=1
        if n_<3: t.__init__(io.BytesIO(b'zzzzz\\n'*10000), 'utf-16', 'replace')
        return super().read1(n)
n_=0
t=io.TextIOWrapper(B(b'abc\\n'*10000),'utf-8')
for how in (lambda: t.read(5), lambda: t.readline(), lambda: t.read(), lambda: t.tell()):
    n_=0
    t=io.TextIOWrapper(B(b'abc\\n'*10000),'utf-8')
    try: print(len(how()))
    except Exception as e: print(repr(e))
""",
    "stringio_setstate": """
import io, copy
class S(io.StringIO):
    def __getstate__(s): return (None, '\\n', 0, None)
try: print(copy.copy(S('abc')).getvalue())
except Exception as e: print(repr(e))
""",
    "stringio_setstate_memo": """
import io, copy
s=io.StringIO('abc')
try:
    c=copy.deepcopy(s,{id('\\n'):5,id('abc'):None, id(0): 'q', id(s.getvalue()): None})
    print(c.getvalue())
except Exception as e: print(repr(e))
""",
    "bytesio_export": """
import io
b=io.BytesIO(bytes(10**6))
m=b.getbuffer()
for f in (lambda: b.__init__(b'x'), lambda: b.write(b'x'*10**7), lambda: b.truncate(1), lambda: b.close(), lambda: b.seek(10**8)):
    try: f()
    except Exception as e: print(repr(e))
m[999999]=4
b=io.BytesIO(b'abc')
b.seek(10**9)
print(b.read(4), b.readinto(bytearray(5)), b.readline(), b.read1(3))
""",
    "nldecoder": """
import io
class D:
    def decode(s,b,final=False):
        d.__init__(None,True)
        return 'abc\\r\\n'*1000
    def reset(s): d.__init__(None,True)
    def getstate(s): return (b'',0)
    def setstate(s,x): d.__init__(None,True)
d=io.IncrementalNewlineDecoder(D(),True)
print(len(d.decode(b'x')))
d=io.IncrementalNewlineDecoder(D(),True)
d.reset()
d=io.IncrementalNewlineDecoder(D(),True)
d.getstate()
d=io.IncrementalNewlineDecoder(D(),True)
d.setstate((b'',0))
""",
    "buffered_closed": """
import io
class W(io.RawIOBase):
    def writable(s): return True
    @property
    def closed(s):
        if armed: raise ValueError('no')
        return False
armed=False
w=io.BufferedWriter(W())
w.write(b'x')
armed=True
for f in (w.close, w.flush, lambda: w.write(b'x')):
    try: f()
    except Exception as e: print(repr(e))
armed=False
""",
    "buffered_closed_bool": """
import io
class N:
    def __bool__(s): raise ValueError('b')
class W(io.RawIOBase):
    def writable(s): return True
    def readable(s): return True
    closed=None
w=W()
w.closed=N() if False else None
class W2(io.RawIOBase):
    def writable(s): return True
    def readable(s): return True
    @property
    def closed(s): return N() if armed else False
armed=False
w=io.BufferedWriter(W2()); w.write(b'xx')
r=io.BufferedReader(W2())
armed=True
for f in (w.close, w.flush, r.close, lambda: r.read(1)):
    try: f()
    except Exception as e: print(repr(e))
armed=False
""",
    "et_remove": """
import xml.etree.ElementTree as ET
class E(ET.Element):
    def __eq__(s,o):
        r.clear()
        return False
r=ET.Element('r')
for i in range(50): r.append(E('x'))
try: r.remove(ET.Element('z'))
except ValueError as e: print(e)
r=ET.Element('r')
for i in range(50): r.append(E('x'))
try: r.remove(E('z'))
except ValueError as e: print(e)
""",
    "et_remove_true": """
import xml.etree.ElementTree as ET
class E(ET.Element):
    def __eq__(s,o):
        r.clear()
        return True
r=ET.Element('r')
for i in range(50): r.append(ET.Element('x'))
for i in range(50): r.append(E('x'))
try: r.remove(E('z'))
except ValueError as e: print(e)
""",
    "et_find": """
import xml.etree.ElementTree as ET
class T(str):
    def __eq__(s,o):
        r.clear()
        return False
    def __hash__(s): return 1
r=ET.Element('r')
for i in range(50): ET.SubElement(r,T('x'))
class Q:
    def __eq__(s,o):
        r.clear()
        return True
    def __hash__(s): return 1
for t in (T('y'), 'y', Q()):
    r.clear()
    for i in range(50): ET.SubElement(r,T('x')).text='a'
    try: print(r.find(t))
    except Exception as e: print(repr(e))
""",
    "et_findtext": """
import xml.etree.ElementTree as ET
class T(str):
    def __eq__(s,o):
        r.clear()
        return False
    def __hash__(s): return 1
r=ET.Element('r')
for i in range(50): ET.SubElement(r,T('x'))
class Q:
    def __eq__(s,o):
        r.clear()
        return True
    def __hash__(s): return 1
for t in (T('y'), 'y', Q()):
    r.clear()
    for i in range(50): ET.SubElement(r,T('x')).text='a'
    try: print(r.findtext(t))
    except Exception as e: print(repr(e))
""",
    "et_findall": """
import xml.etree.ElementTree as ET
class T(str):
    def __eq__(s,o):
        r.clear()
        return False
    def __hash__(s): return 1
r=ET.Element('r')
for i in range(50): ET.SubElement(r,T('x'))
class Q:
    def __eq__(s,o):
        r.clear()
        return True
    def __hash__(s): return 1
for t in (T('y'), 'y', Q()):
    r.clear()
    for i in range(50): ET.SubElement(r,T('x')).text='a'
    try: print(r.findall(t))
    except Exception as e: print(repr(e))
""",
    "et_iterfind": """
import xml.etree.ElementTree as ET
class T(str):
    def __eq__(s,o):
        r.clear()
        return False
    def __hash__(s): return 1
r=ET.Element('r')
for i in range(50): ET.SubElement(r,T('x'))
class Q:
    def __eq__(s,o):
        r.clear()
        return True
    def __hash__(s): return 1
for t in (T('y'), 'y', Q()):
    r.clear()
    for i in range(50): ET.SubElement(r,T('x')).text='a'
    try: print(r.iterfind(t))
    except Exception as e: print(repr(e))
""",
    "et_getitem": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
import xml.etree.ElementTree as ET
r=ET.Element('r')
for i in range(50): ET.SubElement(r,'x')
def f(): r.clear()
for g in (lambda: r[I(f,49)], lambda: r.__setitem__(I(f,49), ET.Element('q')), lambda: r.__delitem__(I(f,49)), lambda: r[I(f,0):50:I(f,2)], lambda: r.__delitem__(slice(I(f,0),50,2)), lambda: r.insert(I(f,40),ET.Element('q'))):
    r.clear()
    for i in range(50): ET.SubElement(r,'x')
    try: print(g())
    except Exception as e: print(repr(e))
""",
    "et_setslice": """
import xml.etree.ElementTree as ET
r=ET.Element('r')
def g(n):
    r.clear()
    for i in range(n): yield ET.Element('q')
for s in (slice(0,50,2), slice(0,50), slice(49,None,-1), slice(10,20)):
    r.clear()
    for i in range(50): ET.SubElement(r,'x')
    for n in (25,50,10):
        try: r[s]=g(n)
        except Exception as e: print(repr(e))
""",
    "et_extend": """
import xml.etree.ElementTree as ET
r=ET.Element('r')
def g():
    for i in range(50):
        if i==25: r.clear()
        yield ET.Element('q')
r.extend(g())
l=[ET.Element('x') for _ in range(50)]
r.extend(l)
print(len(r))
""",
    "et_deepcopy": """
import xml.etree.ElementTree as ET, copy
class E(ET.Element):
    def __deepcopy__(s,m):
        r.clear()
        return ET.Element('z')
r=ET.Element('r')
for i in range(50): r.append(E('x'))
try: print(len(copy.deepcopy(r)))
except Exception as e: print(repr(e))
""",
    "et_deepcopy_text": """
import xml.etree.ElementTree as ET, copy
class T:
    def __deepcopy__(s,m):
        for e in list(r): e.clear()
        r.clear(); r.text=None; r.tail=None; r.tag=None
        return 'z'
r=ET.Element('r')
for i in range(50): ET.SubElement(r,'x').text=T()
r.text=T(); r.tail=T()
r.tag=T()
r.attrib['q']=T()
try: print(len(copy.deepcopy(r)))
except Exception as e: print(repr(e))
""",
    "et_iter": """
import xml.etree.ElementTree as ET
class T(str):
    def __eq__(s,o):
        r.clear()
        for c in cs: c.clear()
        return False
    def __hash__(s): return 1
r=ET.Element('r')
for i in range(50): ET.SubElement(ET.SubElement(r,T('x')),T('y'))
cs=list(r)
try: print(len(list(r.iter(T('q')))))
except Exception as e: print(repr(e))
it=r.iter()
next(it)
r.clear()
list(it)
print(list(r.itertext()))
""",
    "et_parser_reinit": """
import xml.etree.ElementTree as ET
class T:
    def start(s,t,a):
        try: p.__init__()
        except Exception as e: print(repr(e))
    def end(s,t): pass
    def data(s,d): pass
    def close(s): pass
p=ET.XMLParser(target=T())
try: p.feed('<a>'+'<b>x</b>'*1000+'</a>')
except Exception as e: print(repr(e))
""",
    "et_parser_close": """
import xml.etree.ElementTree as ET
class T:
    def start(s,t,a):
        try: p.close()
        except Exception as e: print(repr(e))
        try: p.feed('<q>')
        except Exception as e: print(repr(e))
    def end(s,t): pass
    def data(s,d): pass
    def close(s): pass
p=ET.XMLParser(target=T())
try: p.feed('<a>'+'<b>x</b>'*10+'</a>')
except Exception as e: print(repr(e))
""",
    "et_parser_drop": """
import xml.etree.ElementTree as ET
class T:
    def start(s,t,a):
        global p
        p=None
    def end(s,t): pass
    def data(s,d): pass
    def close(s): pass
p=ET.XMLParser(target=T())
try: p.feed('<a>'+'<b>x</b>'*10+'</a>')
except Exception as e: print(repr(e))
""",
    "et_treebuilder": """
import xml.etree.ElementTree as ET
class F:
    def __call__(s,*a):
        b.__init__()
        return ET.Element('q')
b=ET.TreeBuilder(F())
for i in range(20):
    try: b.start('x',{}); b.data('abc')
    except Exception as e: print(repr(e))
for i in range(20):
    try: b.end('x')
    except Exception as e: print(repr(e))
try: print(b.close())
except Exception as e: print(repr(e))
""",
    "et_tb_evil_elem": """
import xml.etree.ElementTree as ET
class X:
    def __init__(s,*a): pass
    def append(s,x): b.__init__(X)
    def __setattr__(s,n,v): b.__init__(X)
b=ET.TreeBuilder(X)
for i in range(20):
    try: b.start('x',{}); b.data('abc'); b.start('y',{}); b.data('q'); b.end('y'); b.data('z'); b.end('x')
    except Exception as e: print(repr(e))
""",
    "et_uninit": """
import xml.etree.ElementTree as ET
for T in (ET.Element, ET.XMLParser, ET.TreeBuilder):
    x=T.__new__(T)
    for m in dir(x):
        if m.startswith('_'): continue
        for a in ((),(1,),('x',),('x','y'),('x',{})):
            try:
                f=getattr(x,m)
                f(*a) if callable(f) else None
            except Exception as e: pass
    try: repr(x)
    except Exception as e: pass
    try: len(x), list(x), x[0]
    except Exception as e: pass
""",
    "et_state": """
import xml.etree.ElementTree as ET, copy
class E(ET.Element):
    def __getstate__(s): return {'tag':'x','_children':[1,2,None,'q'],'attrib':5,'text':3,'tail':4}
e=E('x')
try:
    c=copy.copy(e)
    print(c, len(c), list(c), c.attrib)
    c.find('x'); c.findall('y'); list(c.iter())
except Exception as x: print(repr(x))
""",
    "et_attrib": """
import xml.etree.ElementTree as ET
e=ET.Element('a')
try: e.attrib=5
except Exception as x: print(repr(x))
try: print(e.get('x'), e.items(), e.keys())
except Exception as x: print(repr(x))
for n in ('tag','text','tail','attrib'):
    try: delattr(e,n)
    except Exception as x: print(repr(x))
try: print(e.tag, e.text, e.tail, repr(e))
except Exception as x: print(repr(x))
""",
    "json_list": """
import json
class O: pass
def default(o):
    l.clear()
    return 1
l=[O() for _ in range(50)]
try: print(json.dumps(l,default=default))
except Exception as e: print(repr(e))
""",
    "json_nested": """
import json
class O: pass
k=[]
def default(o):
    l.clear(); d.clear(); k.clear()
    return 1
l=[[O() for _ in range(5)] for _ in range(5)]
d={'a':l}
try: print(json.dumps(d,default=default))
except Exception as e: print(repr(e))
d={str(i):{str(j):O() for j in range(5)} for i in range(50)}
try: print(json.dumps(d,default=default))
except Exception as e: print(repr(e))
""",
    "json_dict_items": """
import json
items=[('a',1),('b',2)]*50
class D(dict):
    def items(s): return items
class O: pass
def default(o):
    items.clear()
    return 1
items[0]=('a',O())
try: print(json.dumps(D(a=1),default=default))
except Exception as e: print(repr(e))
items[:]=[1,2,3,None,(1,),()]
try: print(json.dumps(D(a=1),default=default))
except Exception as e: print(repr(e))
""",
    "json_int_float": """
import json
class F(float):
    def __repr__(s):
        l.clear(); return '1'
class I(int):
    def __repr__(s):
        l.clear(); return '1'
l=[F(1),I(2)]*10
try: print(json.dumps(l))
except Exception as e: print(repr(e))
d={I(1):F(2)}
print(json.dumps(d))
""",
    "json_encoder_args": """
import json
class E(json.JSONEncoder):
    item_separator=5
for k in ('item_separator','key_separator','indent','sort_keys','skipkeys'):
    for v in (5,None,'x',b'x',[],E):
        e=json.JSONEncoder()
        setattr(e,k,v)
        try: print(e.encode({'a':[1,2],'b':{}}))
        except Exception as x: print(repr(x))
""",
    "json_scan": """
import json
d=json.JSONDecoder()
for i in (-1,-10**9,10**9,2**62,0):
    try: print(d.scan_once('[1]',i))
    except BaseException as e: print(repr(e))
    try: print(d.raw_decode('[1]',i))
    except BaseException as e: print(repr(e))
    try: print(d.parse_string('"abc"',i,True))
    except BaseException as e: print(repr(e))
""",
    "csv_reader": """
import csv
class I:
    n=0
    def __iter__(s): return s
    def __next__(s):
        s.n+=1
        if s.n<3:
            try: next(r)
            except StopIteration: pass
        if s.n>20: raise StopIteration
        return 'a,b,"c'
r=csv.reader(I())
try: print(list(r))
except Exception as e: print(repr(e))
""",
    "csv_writer": """
import csv
class S:
    def __str__(s):
        w.writerow(['x'*100000])
        return 'y'*10
class F:
    def write(s,x):
        global n
        n+=1
        if n<5: w.writerow(['q'*200000, 'z'])
n=0
w=csv.writer(F())
w.writerow(['a'*1000,S(),'b',S()])
""",
    "context_eq": """
import contextvars
v=contextvars.ContextVar('v')
class E:
    def __eq__(s,o):
        ctx.run(v.set, 5); ctx2.run(v.set,6)
        j=[object() for _ in range(1000)]
        return False
ctx=contextvars.Context(); ctx2=contextvars.Context()
ctx.run(v.set,E()); ctx2.run(v.set,E())
vs=[contextvars.ContextVar(str(i)) for i in range(50)]
for x in vs:
    ctx.run(x.set,E()); ctx2.run(x.set,E())
print(ctx==ctx2)
""",
    "future_remove_cb": """
import asyncio
class E:
    def __eq__(s,o):
        f.remove_done_callback(int)
        f._callbacks if False else None
        return False
class Z:
    def __eq__(s,o):
        global n
        n+=1
        if n==2: f.remove_done_callback(N())
        return False
    def __call__(s,*a): pass
class N:
    def __eq__(s,o): return True
n=0
loop=asyncio.new_event_loop()
f=loop.create_future()
for i in range(50): f.add_done_callback(Z())
print(f.remove_done_callback(Z()))
""",
    "future_remove_cb2": """
import asyncio
class A:
    def __eq__(s,o):
        f.remove_done_callback(o)
        return True
    def __call__(s,*a): pass
loop=asyncio.new_event_loop()
f=loop.create_future()
f.add_done_callback(A())
f.add_done_callback(A())
print(f.remove_done_callback(A()))
class T:
    def __eq__(s,o):
        f.cancel()
        return n
    def __call__(s,*a): pass
for n in (0,1):
    f=loop.create_future()
    for i in range(10): f.add_done_callback(T())
    print(f.remove_done_callback(T()))
""",
    "future_evil_loop": """
import asyncio
class L:
    def get_debug(s): return False
    def call_soon(s,cb,*a,context=None):
        f.remove_done_callback(int)
        for x in cbs: f.remove_done_callback(x)
    def __getattr__(s,n):
        raise AttributeError(n)
cbs=[(lambda i: lambda *_: i)(i) for i in range(50)]
f=asyncio.Future(loop=L())
for x in cbs: f.add_done_callback(x)
try: f.set_result(1)
except Exception as e: print(repr(e))
class L2:
    def get_debug(s): return False
    def __getattr__(s,n):
        if n=='call_soon':
            for x in cbs: f.remove_done_callback(x)
            f.__init__(loop=L())
        raise AttributeError(n)
for op in (lambda: f.set_result(1), lambda: f.cancel(), lambda: f.set_exception(ValueError()), lambda: f.add_done_callback(int)):
    f=asyncio.Future(loop=L2())
    for x in cbs: f.add_done_callback(x)
    try: op()
    except Exception as e: print(repr(e))
""",
    "future_reinit": """
import asyncio
class L:
    def get_debug(s): return False
    def call_soon(s,cb,*a,context=None):
        f.__init__(loop=L())
f=asyncio.Future(loop=L())
for x in range(50): f.add_done_callback(lambda *a: x)
try: f.set_result(1)
except Exception as e: print(repr(e))
for x in range(50): f.add_done_callback(lambda *a: x)
try: f.set_result(1)
except Exception as e: print(repr(e))
""",
    "task_evil_loop": """
import asyncio
class L:
    def get_debug(s): return False
    def __getattr__(s,n):
        if n=='call_soon':
            try: t.__init__(co(), loop=L3())
            except Exception as e: print(repr(e))
            return lambda *a,**k: None
        raise AttributeError(n)
class L3:
    def get_debug(s): return False
    def call_soon(s,cb,*a,**k): pass
async def co(): pass
try:
    t=asyncio.Task(co(), loop=L3())
    t.__init__(co(), loop=L())
except Exception as e: print(repr(e))
x=asyncio.Task.__new__(asyncio.Task)
for m in ('cancel','done','result','get_coro','get_name','exception','cancelled','get_loop','get_stack','cancelling','uncancel'):
    try: print(getattr(x,m)())
    except Exception as e: print(repr(e))
try: repr(x)
except Exception as e: print(repr(e))
f=asyncio.Future.__new__(asyncio.Future)
for m in ('cancel','done','result','exception','cancelled','get_loop','__await__','__iter__'):
    try: print(getattr(f,m)())
    except Exception as e: print(repr(e))
try: f.add_done_callback(int); f.remove_done_callback(int); f.set_result(1)
except Exception as e: print(repr(e))
""",
    "task_evil_yield": """
import asyncio
class Y:
    def __getattr__(s,n):
        if n=='_asyncio_future_blocking':
            try: t.__init__(co2(), loop=loop)
            except Exception as e: print(repr(e))
            return True
        raise AttributeError(n)
async def co2(): pass
class A:
    def __await__(s): yield Y()
async def co(): await A()
loop=asyncio.new_event_loop()
t=loop.create_task(co())
loop.call_later(.05, loop.stop)
loop.run_forever()
print(t)
""",
    "unicodeerror_str": """
for E,o in ((UnicodeEncodeError,'x'),(UnicodeDecodeError,b'x'),(UnicodeTranslateError,'x')):
    for st,en in ((10**12,10**12+1),(-5,-4),(-10**12,-10**12+1),(5,6),(2**62,2**62+1),(0,1),(1,0),(2**63-1,-2**63)):
        try:
            e=E('utf-8',o,st,en,'why') if E is not UnicodeTranslateError else E(o,st,en,'why')
            print(str(e), e.start, e.end)
            e.object=o*0
            print(str(e))
        except Exception as x: print(repr(x))
""",
    "unicodeerror_attr": """
class S(str):
    def __str__(s):
        e.encoding='z'; e.object='q' if not isinstance(e,UnicodeDecodeError) else b'q'; e.reason='w'
        return 'x'
for mk in (lambda: UnicodeEncodeError('a','xxx',0,1,'r'), lambda: UnicodeDecodeError('a',b'xxx',0,1,'r'), lambda: UnicodeTranslateError('xxx',0,1,'r')):
    e=mk()
    class R:
        def __str__(s):
            e.object='' if not isinstance(e,UnicodeDecodeError) else b''
            e.encoding='k'; e.reason='l'
            return 'y'
    for n in ('encoding','reason'):
        try: setattr(e,n,R())
        except Exception as x: print(repr(x))
    try: print(str(e))
    except Exception as x: print(repr(x))
    for n in ('encoding','reason','object','start','end'):
        try: delattr(e,n)
        except Exception as x: print(repr(x))
        try: print(str(e))
        except Exception as x: print(repr(x))
for E in (UnicodeEncodeError,UnicodeDecodeError,UnicodeTranslateError):
    e=E.__new__(E)
    try: print(str(e), repr(e), e.start, e.end, e.object)
    except Exception as x: print(repr(x))
""",
    "partial_repr": """
from functools import partial
class R:
    def __repr__(s):
        try: p.__setstate__((int,(),{},None))
        except Exception as e: pass
        p.keywords.clear()
        return 'x'
p=partial(R(), R(), R(), a=R(), b=R())if False else partial(lambda: 1, R(), R(), a=R(), b=R(), c=R())
print(len(repr(p)))
""",
    "partial_kw": """
from functools import partial
import json, re
for f in (int, dict, print, sorted, open, str, json.dumps, re.compile, max, sum, enumerate, bytes, bytearray, round, zip, property, type('x'), complex, list):
    p=partial(f, a=1)
    p.keywords[5]=6
    p.keywords[None]=6
    try: p()
    except Exception as e: print(repr(e)[:80])
    try: p('1', b=3)
    except Exception as e: print(repr(e)[:80])
""",
    "lru": """
from functools import lru_cache
class K:
    def __hash__(s): return 1
    def __eq__(s,o):
        f.cache_clear()
        return False
@lru_cache(maxsize=3)
def f(x):
    f.cache_clear()
    return x
for i in range(20): f(K())
@lru_cache(maxsize=3)
def f(x):
    if n:
        for i in range(5): f2(i)
    return x
n=0
for i in range(20): f(K())
""",
    "genericalias_repr": """
class R:
    def __repr__(s):
        l.clear()
        return 'x'
    def __getattr__(s,n):
        l.clear()
        raise AttributeError(n)
import types
l=[R() for _ in range(20)]
print(repr(types.GenericAlias(list,(l,))))
""",
    "genericalias_subst": """
import types, typing
class P:
    def __getattr__(s,n):
        if n=='__typing_subst__': return lambda *a: 5
        if n=='__parameters__': return (s,)
        if n=='__typing_prepare_subst__': return lambda *a: 7
        if n=='__typing_unpacked_tuple_args__': return 5
        raise AttributeError(n)
try: print(types.GenericAlias(list,(P(),))[int])
except Exception as e: print(repr(e))
try: print(list[P()][int])
except Exception as e: print(repr(e))
class Q:
    def __getattr__(s,n):
        if n in ('__parameters__',): return [1,2]
        if n=='__typing_subst__': return lambda *a: ()
        if n=='__typing_is_unpacked_typevartuple__': return True
        raise AttributeError(n)
try: print(list[Q()].__parameters__)
except Exception as e: print(repr(e))
try: print(list[Q()][int])
except Exception as e: print(repr(e))
""",
    "genericalias_150146": """
import typing
from typing import TypeVar
try: print(memoryview[TypeVar('')][*typing.Mapping[..., ...]])
except Exception as e: print(repr(e))
""",
    "classmethod_uninit": """
for T in (classmethod, staticmethod, property, super):
    x=T.__new__(T)
    for f in (lambda: repr(x), lambda: x.__get__(1), lambda: x.__get__(1,int), lambda: x(), lambda: x.__func__, lambda: x.__wrapped__, lambda: x.__isabstractmethod__, lambda: x.fget, lambda: x.getter(int), lambda: x.foo, lambda: x.__doc__):
        try: print(f())
        except Exception as e: print(repr(e)[:80])
    class C:
        m=x
    try: print(C.m)
    except Exception as e: print(repr(e)[:80])
    try: print(C().m)
    except Exception as e: print(repr(e)[:80])
""",
    "super_reinit": """
class A:
    def f(s): return 1
class B(A):
    def f(s):
        x=super()
        try:
            super.__init__(x, B, s)
            x.__init__(B, s)
        except Exception as e: print(repr(e))
        return x.f()
print(B().f())
""",
    "method_get": """
for f in (str.upper, [].append, dict.get, int.__add__, bytes.fromhex, dict.fromkeys, int.from_bytes):
    for a in ((None,None),(1,None),(None,),('a',None),(None,5)):
        try: print(f.__get__(*a))
        except Exception as e: print(repr(e)[:70])
""",
    "weakref_proxy": """
import weakref
class A:
    def __eq__(s,o):
        global a
        a=None
        return NotImplemented
    def __lt__(s,o):
        global a
        a=None
        return NotImplemented
    def __repr__(s):
        global a
        a=None
        return 'q'
    __str__=__repr__
    def __len__(s):
        global a
        a=None
        return 5
    def __bool__(s):
        global a
        a=None
        return True
    def __contains__(s,x):
        global a
        a=None
        return True
    def __iter__(s):
        global a
        a=None
        return iter([])
    def __next__(s):
        global a
        a=None
        raise StopIteration
    def __getitem__(s,x):
        global a
        a=None
        return 1
    def __setitem__(s,x,y):
        global a
        a=None
    def __delitem__(s,x):
        global a
        a=None
    def __call__(s,*x):
        global a
        a=None
    def __getattr__(s,n):
        global a
        a=None
        raise AttributeError(n)
    def __setattr__(s,n,v):
        global a
        a=None
    def __add__(s,o):
        global a
        a=None
        return NotImplemented
    __radd__=__add__
    def __index__(s):
        global a
        a=None
        return 1
    def __hash__(s): return 1
class Z:
    def __eq__(s,o): return True
    def __gt__(s,o): return True
    def __radd__(s,o): return 1
for f in (lambda p: p==Z(), lambda p: p<Z(), lambda p: repr(p), lambda p: str(p), lambda p: len(p), lambda p: bool(p), lambda p: 1 in p, lambda p: iter(p), lambda p: next(p), lambda p: p[1], lambda p: p.__setitem__(1,2), lambda p: p(), lambda p: p.foo, lambda p: setattr(p,'x',1), lambda p: p+Z(), lambda p: p+p, lambda p: p==p, lambda p: [1,2][p], lambda p: list(p), lambda p: dir(p), lambda p: p<p, lambda p: hash(p)):
    a=A()
    p=weakref.proxy(a)
    try: f(p)
    except Exception as e: print(repr(e)[:60])
""",
    "dict_views": """
class E:
    armed=False
    def __hash__(s): return 1
    def __eq__(s,o):
        if E.armed:
            d.clear(); k.clear()
        return False
for f in (lambda: d.keys()&k.keys(), lambda: d.keys()|k.keys(), lambda: d.keys()^k.keys(), lambda: d.keys()-k.keys(), lambda: d.items()^k.items(), lambda: d.items()&k.items(), lambda: d.items()-k.items(), lambda: d.keys()==k.keys(), lambda: d.items()<=k.items(), lambda: d==k, lambda: d|k, lambda: d.update(k), lambda: dict.fromkeys(d,1), lambda: dict.fromkeys(set(d),1), lambda: d.keys().isdisjoint(k), lambda: (5,E()) in d.items(), lambda: d.setdefault(E(),1), lambda: d.pop(E(),1), lambda: dict(**{'a':1},**k) , lambda: k.items()==d.items()):
    E.armed=False
    d={E():E() for _ in range(40)}
    k={E():E() for _ in range(40)}
    E.armed=True
    try: f()
    except Exception as e: print(repr(e)[:80])
""",
    "sqlite_fts3_tokenizer": """
import sqlite3
c=sqlite3.connect(':memory:')
try: print(c.execute("select hex(fts3_tokenizer('simple'))").fetchall())
except Exception as e: print(repr(e))
try:
    c.execute('select fts3_tokenizer(?,?)',('evil',b'AAAAAAAA'))
    c.execute('create virtual table t using fts3(tokenize=evil)')
except Exception as e: print(repr(e))
""",
    "sqlite_trace": """
import sqlite3
c=sqlite3.connect(':memory:')
def t(s):
    c.set_trace_callback(None)
    c.set_progress_handler(None,1)
c.set_trace_callback(t)
c.execute('select 1')
def p():
    c.set_progress_handler(None,1)
    c.set_trace_callback(None)
c.set_progress_handler(p,1)
c.execute('with recursive a(x) as (select 1 union all select x+1 from a limit 1000) select sum(x) from a').fetchall()
def f(x):
    c.create_function('f',1,None)
    c.create_function('f',1,lambda x: x)
    return 1
c.create_function('f',1,f)
try: c.execute('select f(1), f(2)').fetchall()
except Exception as e: print(repr(e))
def co(a,b):
    c.create_collation('z',None)
    return 0
c.create_collation('z',co)
try: c.execute('select 1 from (values(1),(2),(3)) order by cast(column1 as text) collate z').fetchall()
except Exception as e: print(repr(e))
""",
    "sqlite_executemany": """
import sqlite3
for what in ('close','init','cur','rollback','commit'):
    c=sqlite3.connect(':memory:')
    c.execute('create table t(a)')
    def g():
        yield (1,)
        try:
            if what=='close': c.close()
            elif what=='init': c.__init__(':memory:')
            elif what=='cur': cur.__init__(c)
            else: getattr(c,what)()
        except Exception as e: print(repr(e))
        yield (2,)
        yield (3,)
    cur=c.cursor()
    try: cur.executemany('insert into t values(?)',g())
    except Exception as e: print(repr(e))
""",
    "sqlite_params": """
import sqlite3
for what in ('close','init','cur'):
  for mode in ('seq','map','conform','adapt','textf','rowf','conv'):
    c=sqlite3.connect(':memory:', detect_types=sqlite3.PARSE_COLNAMES)
    c.execute('create table t(a)')
    cur=c.cursor()
    def boom():
        try:
            if what=='close': c.close()
            elif what=='init': c.__init__(':memory:')
            else: cur.__init__(c)
        except Exception as e: print(repr(e)[:60])
    class S:
        def __len__(s): return 2
        def __getitem__(s,i):
            boom(); return i
    class M(dict):
        def __missing__(s,k):
            boom(); return 1
    class Co:
        def __conform__(s,p):
            boom(); return 1
    try:
        if mode=='seq': cur.execute('select ?,?',S()).fetchall()
        if mode=='map': cur.execute('select :a,:b',M()).fetchall()
        if mode=='conform': cur.execute('select ?,?',(Co(),Co())).fetchall()
        if mode=='textf':
            c.text_factory=lambda b: boom()
            print(cur.execute('select "a","b" union all select "c","d"').fetchall())
        if mode=='rowf':
            cur.row_factory=lambda *a: boom()
            print(cur.execute('select "a","b" union all select "c","d"').fetchall())
        if mode=='conv':
            sqlite3.register_converter('ZZ', lambda b: boom())
            print(cur.execute('select "a" as "x [ZZ]" union all select "b"').fetchall())
    except Exception as e: print(what,mode,repr(e)[:80])
""",
    "sqlite_cb_close": """
import sqlite3
for what in ('close','init','interrupt','rollback'):
    c=sqlite3.connect(':memory:')
    def boom(*a):
        try:
            if what=='close': c.close()
            elif what=='init': c.__init__(':memory:')
            else: getattr(c,what)()
        except Exception as e: print(repr(e)[:60])
        return 1
    c.create_function('f',-1,boom)
    c.create_collation('z',boom)
    class A:
        def step(s,*a): boom()
        def finalize(s): return boom()
        def value(s): return boom()
        def inverse(s,*a): boom()
    c.create_aggregate('g',1,A)
    try: c.create_window_function('w',1,A)
    except Exception as e: print(repr(e))
    for q in ('select f(1)','select g(column1) from (values(1),(2))','select column1 from (values("a"),("b"),("c")) order by 1 collate z', 'select w(column1) over (order by column1 rows between 1 preceding and current row) from (values(1),(2),(3))'):
        try: print(c.execute(q).fetchall())
        except Exception as e: print(repr(e)[:80])
    for setter in ('set_trace_callback',):
        try:
            getattr(c,setter)(boom)
            print(c.execute('select 1').fetchall())
        except Exception as e: print(repr(e)[:80])
    try:
        c.set_trace_callback(None)
        c.set_progress_handler(boom,1)
        print(c.execute('select 1').fetchall())
    except Exception as e: print(repr(e)[:80])
""",
    "sqlite_backup": """
import sqlite3
c=sqlite3.connect(':memory:')
c.execute('create table t(a)')
c.executemany('insert into t values(?)',[('x'*1000,) for _ in range(1000)])
c.commit()
for what in (0,1,2,3):
    d=sqlite3.connect(':memory:')
    def p(*a):
        try:
            if what==0: d.close()
            elif what==1: d.__init__(':memory:')
            elif what==2: c.close()
        except Exception as e: print(repr(e)[:60])
    try: c.backup(d,pages=1,progress=p)
    except Exception as e: print(repr(e)[:80])
""",
    "sqlite_delattr": """
import sqlite3
c=sqlite3.connect(':memory:')
for n in ('row_factory','text_factory','isolation_level'):
    try: delattr(c,n)
    except Exception as e: print(repr(e))
    try: print(c.execute('select "a"').fetchall())
    except Exception as e: print(repr(e))
cur=c.cursor()
for n in ('row_factory','arraysize'):
    try: delattr(cur,n)
    except Exception as e: print(repr(e))
    try: print(cur.execute('select "a"').fetchall())
    except Exception as e: print(repr(e))
""",
    "sqlite_uninit": """
import sqlite3
for T in (sqlite3.Connection, sqlite3.Cursor, sqlite3.Row, sqlite3.Blob):
    try: x=T.__new__(T)
    except Exception as e:
        print(repr(e)); continue
    for m in dir(x):
        if m.startswith('_'): continue
        for a in ((),(1,),('select 1',),('x','y'),('x',1,int)):
            try:
                f=getattr(x,m)
                f(*a) if callable(f) else None
            except Exception as e: pass
    try: repr(x), len(x), list(x), hash(x), x==x
    except Exception as e: pass
""",
    "sqlite_blob": """
import sqlite3
c=sqlite3.connect(':memory:')
c.execute('create table t(a)')
c.execute('insert into t values(zeroblob(1000))')
b=c.blobopen('t','a',1)
from array import array
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
def f(): b.close(); c.close()
for g in (lambda: b[I(f,5)], lambda: b.__setitem__(I(f,5),1), lambda: b.__setitem__(5,I(f,5)), lambda: b[0:5:I(f,2)], lambda: b.read(I(f,2)), lambda: b[5:5], lambda: b.__setitem__(slice(0,9,2),b'aaaaa')):
    try: print(g())
    except Exception as e: print(repr(e))
""",
    "sqlite_pragma": """
import sqlite3
c=sqlite3.connect('x.db')
for p in ('writable_schema=on','mmap_size=100000000','trusted_schema=on','cell_size_check=off'):
    try: print(p, c.execute('pragma '+p).fetchall())
    except Exception as e: print(p, repr(e))
try:
    c.execute('create table t(a)')
    c.executemany('insert into t values(?)',[('x'*1000,) for _ in range(2000)]); c.commit()
    print(len(c.execute('select * from t').fetchall()))
    open('x.db','r+b').truncate(8192)
    print(len(c.execute('select * from t').fetchall()))
except Exception as e: print(repr(e))
""",
    "sqlite_schema": """
import sqlite3
c=sqlite3.connect(':memory:')
try:
    c.execute('pragma writable_schema=on')
    c.execute('create table t(a,b,c)')
    c.execute("update sqlite_schema set rootpage=99999")
    c.execute('select * from t').fetchall()
except Exception as e: print(repr(e))
for q in ('create virtual table v using sqlite_dbpage','select * from sqlite_dbpage','create virtual table v using fts4(a)','create virtual table v2 using rtree(a,b,c)','create virtual table v3 using fts5(a)','select load_extension("x")','select * from json_each("[1]")','create virtual table v4 using dbstat'):
    try: print(c.execute(q).fetchall())
    except Exception as e: print(q, repr(e))
""",
    "zoneinfo": """
import zoneinfo
class Z(zoneinfo.ZoneInfo):
    pass
for v in (5, {}, None, 'x'):
    try:
        Z._weak_cache=v
        Z('UTC')
        Z.clear_cache()
    except Exception as e: print(repr(e))
try:
    del Z._weak_cache
    Z('UTC')
except Exception as e: print(repr(e))
class D:
    def get(s,k,d=None): return 5
    def setdefault(s,k,v): return None
    def __get__(s,o,t): return {}
class Y(zoneinfo.ZoneInfo): pass
try:
    Y._weak_cache=D()
    print(Y('UTC'), Y('Europe/Berlin'))
except Exception as e: print(repr(e))
""",
    "zoneinfo_file": """
import zoneinfo, io, struct
for n in range(200):
    b=b'TZif2'+bytes(15)+struct.pack('>6l',*(n*7%300,1,1,n%5,n%7,n%9))+bytes(range(256))*(n%4)
    try:
        z=zoneinfo.ZoneInfo.from_file(io.BytesIO(b))
        import datetime
        datetime.datetime(2020,1,1,tzinfo=z).utcoffset()
    except Exception as e: pass
class F:
    def read(s,n): return b'TZif'
class G:
    def read(s,n): return 'x'
for f in (F(),G()):
    try: zoneinfo.ZoneInfo.from_file(f)
    except Exception as e: print(repr(e))
z=zoneinfo.ZoneInfo.__new__(zoneinfo.ZoneInfo,'UTC')
""",
    "datetime_state": """
import datetime, copy
for T,n in ((datetime.date,4),(datetime.datetime,10),(datetime.time,6)):
    for fill in (b'\\x01',b'\\xff',b'\\x00',b'\\x0c'):
        b=bytearray(fill*n)
        for i in range(n):
            for v in (1,12,255,31):
                b2=bytearray(b); b2[i]=v
                if n!=6: b2[2]=min(max(b2[2],1),12)
                try: x=T(bytes(b2))
                except Exception as e: continue
                for f in (repr,str,hash,lambda x: x.isoformat(),lambda x: x.strftime('%A %B %c'),lambda x: x.ctime(),lambda x: x.weekday(),lambda x: x.toordinal(),lambda x: x.timetuple(),lambda x: x.isocalendar(),lambda x: x.timestamp(),lambda x: x+datetime.timedelta(1), lambda x: x.replace(year=5), lambda x: x.isoweekday(), lambda x: format(x,'%j %U')):
                    try: f(x)
                    except Exception as e: pass
""",
    "deep_json": """
import json
for s in ('['*500000, '{"a":'*500000):
    try: json.loads(s)
    except (RecursionError,ValueError) as e: print(repr(e)[:50])
x=[]
for _ in range(200000): x=[x]
try: json.dumps(x)
except (RecursionError,ValueError) as e: print(repr(e)[:50])
x={}
for _ in range(200000): x={'a':x}
try: json.dumps(x)
except (RecursionError,ValueError) as e: print(repr(e)[:50])
""",
    "deep_xml": """
import xml.etree.ElementTree as ET
s='<a>'*300000+'</a>'*300000
r=ET.fromstring(s)
for f in (lambda: ET.tostring(r), lambda: list(r.iter()), lambda: list(r.itertext()), lambda: ET.indent(r), lambda: r.findall('.//b')):
    try: f()
    except RecursionError as e: print('rec')
import copy
try: copy.copy(r)
except RecursionError: print('rec')
del r
""",
    "deep_recursive_call": """
class A: pass
A.__call__=A()
try: A()()
except (RecursionError,TypeError) as e: print(repr(e)[:50])
import types
class B: pass
b=B()
B.__call__=types.MethodType(b,1)
try: b()
except (RecursionError,TypeError) as e: print(repr(e)[:50])
class D: pass
D.__get__=D()
class E:
    x=D()
try: E().x
except (RecursionError,TypeError) as e: print(repr(e)[:50])
class F: pass
F.__getattr__=F()
try: F().x
except (RecursionError,TypeError,AttributeError) as e: print(repr(e)[:50])
class G: pass
G.__len__=G(); G.__hash__=G(); G.__repr__=G(); G.__eq__=G(); G.__iter__=G(); G.__getitem__=G()
for f in (len,hash,repr,iter,lambda g: g==g,lambda g: g[1]):
    try: f(G())
    except (RecursionError,TypeError,AttributeError) as e: print(repr(e)[:50])
""",
    "thread_deep": """
import threading
class A:
    def __repr__(s): return repr(s)
    def __eq__(s,o): return [s]==[o]
    def __lt__(s,o): return sorted([s,o])
def run(f):
    try: f(A())
    except (RecursionError,MemoryError,TypeError) as e: print(repr(e)[:50])
for f in (repr, lambda a: a==A(), lambda a: a<A()):
    t=threading.Thread(target=run,args=(f,)); t.start(); t.join()
""",
    "decimal_ctx": """
import decimal
D=decimal.Decimal
class C(decimal.Context): pass
class E(int): pass
class T(tuple): pass
for x in ((0,(1,2),'n'),(0,[1,2],3),(0,(1,10),3),(2,(1,),0),(0,(),0),(0,(1,)*100000,0),(0,(1,),10**30)):
    try: print(D(x))
    except Exception as e: print(repr(e)[:60])
ctx=decimal.getcontext()
for n in ('prec','rounding','Emin','Emax','capitals','clamp','flags','traps'):
    try: delattr(ctx,n)
    except Exception as e: print(repr(e)[:60])
    for v in (None,10**30,-1,'x',{},[],[5],{decimal.Inexact:5}):
        try: setattr(ctx,n,v)
        except Exception as e: pass
print(D(1)/3)
""",
    "asyncgen": """
async def g():
    try: yield 1
    finally: pass
x=g()
a=x.asend(None)
try: a.send(None)
except StopIteration as e: print(e.value)
for f in (lambda: a.send(None), lambda: a.throw(ValueError), lambda: a.close(), lambda: x.athrow(ValueError).send(None), lambda: x.aclose().send(None), lambda: x.aclose().throw(ValueError), lambda: anext(x,5).send(None), lambda: anext(x,5).close(), lambda: anext(x,5).throw(ValueError)):
    try: print(f())
    except BaseException as e: print(repr(e)[:50])
""",
    "gen_reenter": """
def g():
    try:
        yield next(x)
    except ValueError as e: print(e)
    yield x.throw(ValueError('a')) if False else 1
    try: x.close()
    except ValueError as e: print(e)
    try: x.throw(KeyError)
    except ValueError as e: print(e)
    yield 2
x=g()
print(list(x))
class I:
    def __iter__(s): return s
    def __next__(s):
        try: y.close()
        except ValueError as e: print(e)
        raise StopIteration
    def throw(s,*a): y.close()
    def close(s):
        try: y.send(None)
        except ValueError as e: print(e)
def h():
    yield 1
    yield from I()
y=h()
print(list(y))
class J:
    def __iter__(s): return s
    def __next__(s): return 1
    def throw(s,*a):
        global z
        z=None
        return 1
    def close(s):
        global z
        z=None
def k(): yield from J()
z=k(); next(z); z.throw(ValueError)
z=k(); next(z); z.close()
""",
    "slice_evil": """
class I:
    def __init__(s, f, v=1): s.f, s.v = f, v
    def __index__(s):
        s.f()
        return s.v
    def __float__(s):
        s.f()
        return 1.0
l=list(range(1000))
def f(): l.clear()
s=slice(I(f,0),I(f,1000),I(f,2))
for g in (lambda: l[s], lambda: l.__setitem__(s,[1]*500), lambda: l.__delitem__(s), lambda: bytearray(1000)[s], lambda: s.indices(1000), lambda: 'a'*1000 and ('a'*1000)[s], lambda: (1,)*1000 and ((1,)*1000)[s], lambda: memoryview(bytes(1000))[s]):
    l.clear(); l.extend(range(1000))
    try: g()
    except Exception as e: print(repr(e)[:50])
""",
    "ast_misc": """
import ast
class A(ast.AST): pass
for f in (lambda: ast.Name(**{'id':5}), lambda: ast.AST(**{5:1}) , lambda: compile, lambda: ast.unparse(ast.Constant(1)), lambda: ast.dump(ast.Name()), lambda: ast.literal_eval(ast.Constant(ast)), lambda: ast.Name('a',ast.Load(),lineno=2**100)):
    try: print(f())
    except Exception as e: print(repr(e)[:60])
class N(ast.Name):
    _fields=None
try: print(N('a'))
except Exception as e: print(repr(e)[:60])
class M(ast.AST):
    _fields=('a',1,None)
try: print(M(1,2,3), ast.dump(M(1,2,3)))
except Exception as e: print(repr(e)[:60])
class F(list):
    def __len__(s): return 5
class O(ast.AST):
    _fields=F()
    _attributes=F()
try: print(O(1,2)); ast.dump(O())
except Exception as e: print(repr(e)[:60])
import copy
class P(ast.Name): pass
x=P('a')
x.__dict__[5]=6
try: print(copy.copy(x)); repr(x)
except Exception as e: print(repr(e)[:60])
""",
    "re_groups": """
import re
for p in ('(?:(a)|b)*+c','(?>(a)|b)*','((a)|b)*+(?:\\\\1|\\\\2)','(?=(a))*+b\\\\1','(?:(?=(a))a)++b','(?!(a)b)a(?(1)x|y)','(a*+)*+b','(?<=(a))b\\\\1','(?>((a))b?)*\\\\2','((?=(a))|b)*?\\\\2c','(?:a(b)?)*+\\\\1','(?(1)a|b)(c)'):
    for s in ('aab','ab'*50,'aaaaac','ba'*9+'c','abc'):
        try:
            for m in re.finditer(p,s): m.groups(), m.regs, m.span(), [m.group(i) for i in range(m.re.groups+1)]
            re.sub(p,'\\\\g<0>',s)
            re.split(p,s)
        except (re.error,IndexError) as e: pass
""",
    "bz2_reuse": """
import bz2,lzma,zlib
for mk in (bz2.BZ2Decompressor, lzma.LZMADecompressor, zlib.decompressobj):
    d=mk()
    good=bz2.compress(b'x'*100000)
    for i in range(5,len(good)):
        d=mk()
        bad=bytearray(good); bad[i]^=255
        for _ in range(4):
            try: d.decompress(bytes(bad))
            except Exception as e: pass
    for a in ((b'',0),(b'x',-1),(b'x',10**9)):
        try: mk().decompress(*a)
        except Exception as e: pass
""",
    "random_state": """
import random
r=random.Random()
for s in ((3,(2**32,)*625,None),(3,tuple([0]*624+[624]),None),(3,tuple([0]*624+[10**6]),None),(3,tuple([0]*624+[-1]),None),(3,(1,2),None)):
    try: r.setstate(s); r.random()
    except Exception as e: print(repr(e)[:60])
r2=random.Random.__new__(random.Random)
try: print(r2.random(), r2.getstate()[0])
except Exception as e: print(repr(e))
""",
    "ordereddict_iter": """
from collections import OrderedDict
class K:
    def __init__(s,n): s.n=n
    def __hash__(s): return 1
    def __eq__(s,o):
        if armed and n_():
            od.pop(ks[3],None) if False else od.clear()
        return s is o
def n_():
    global cnt
    cnt+=1
    return cnt==2
cnt=0
armed=False
od=OrderedDict()
ks=[K(i) for i in range(10)]
for k in ks: od[k]=1
armed=True
for it in (lambda: list(od.items()), lambda: list(od.values()), lambda: OrderedDict(od), lambda: od.update(od.copy()), lambda: od.move_to_end(ks[5],False), lambda: [od[k] for k in ks], lambda: od.__ior__({ks[2]:3})):
    armed=False
    od.clear()
    for k in ks: od[k]=1
    armed=True; cnt=0
    try: it()
    except Exception as e: print(repr(e)[:60])
""",
    "mappingproxy_leak": """
import types,re,enum
class X:
    def __eq__(s,o):
        s.o=o
        return True
    def __ror__(s,o):
        s.o=o
        return 1
x=X()
re.RegexFlag.__members__==x
x.o['evil']=1
print('evil' in re.RegexFlag.__members__)
""",
    "type_dict": """
class A: pass
try:
    A.__bases__=(int,)
except Exception as e: print(repr(e))
class M:
    __slots__=('a',)
m=M()
try: M.a.__set__(5,1)
except Exception as e: print(repr(e))
try: M.a.__get__(A())
except Exception as e: print(repr(e))
class B(int): pass
try:
    b=B(); b.__class__=A
except Exception as e: print(repr(e))
""",
    "attr_cache": """
class K(str):
    def __hash__(s): return hash('x')
    def __eq__(s,o):
        A.x=5
        del A.x
        return False
class A: pass
a=A()
a.__dict__[K('q')]=1
for i in range(100):
    try: a.x
    except AttributeError: pass
a.__dict__.clear()
""",
    "gen_dealloc_reenter": """
class G:
    pass
l=[]
def g():
    try: yield
    finally:
        l.clear(); d.clear(); s.clear(); dq.clear()
from collections import deque, OrderedDict
d={}; s=set(); dq=deque()
def mk():
    x=g(); next(x); return x
for i in range(30): l.append(mk()); d[i]=mk(); dq.append(mk())
l[5:20]=[]
del l[:]
l.extend(mk() for _ in range(30))
l.clear()
l.extend(mk() for _ in range(30))
l[::2]=[1]*15
d.clear()
for i in range(30): d[i]=mk()
d.update({i:1 for i in range(30)})
for i in range(30): d[i]=mk()
for i in range(30): dq.append(mk())
dq.clear()
for i in range(30): dq.append(mk())
dq.rotate(3); dq.popleft()
od=OrderedDict((i,mk()) for i in range(30))
d=od
od.clear()
for i in range(30): od[i]=mk()
for i in range(30):
    try: del od[i]
    except KeyError: pass
""",
    "et_deepcopy_deep": """
import xml.etree.ElementTree as ET, copy
r=e=ET.Element('r')
for i in range(30000): e=ET.SubElement(e,'x')
copy.deepcopy(r)
""",
}
