import math, os.path as osp, collections.abc
import xml.etree.ElementTree
import concurrent.futures as cf
from collections import (deque, OrderedDict as OD,)
from os import path, sep
from math import pi as PI
from concurrent import futures
from xml.etree import ElementTree
from urllib import parse
import urllib.parse, json as j
print(math.pi == PI, osp.join("a", "b"), collections.abc.Sized.__name__, xml.etree.ElementTree.Element("a").tag, cf.Future is futures.Future, deque([1]), OD(), path.basename("a/b"), sep, ElementTree.Element("q").tag, parse.quote(" "), urllib.parse.quote("é"), j.dumps(1))
def f():
    import random as r, string
    from textwrap import dedent
    return r.Random(1).random(), string.digits, dedent(" x")
print(f())
class C:
    import math
    from math import tau
    r = math.pi
print(C.r, C.tau, C.math.e)
try: import math as m2
except ImportError: m2 = None
print(m2.sqrt(4), getattr(math, "sqrt")(9), hasattr(math, "nope"), [n for n in ("sin", "cos") if hasattr(math, n)], math.__name__)
try: print(math.nope)
except AttributeError as e: print(type(e).__name__)
