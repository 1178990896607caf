"""Text that a program evaluates: CPython's meaning, and the policy's judgement."""

from __future__ import annotations

import pytest

from policy_attacks import DESCRIPTORS, PREAMBLE, TOOLS
from policy_runner import PolicyRunner

ORDINARY = {
    "arithmetic": """
operator, operand = ["+", "*", "-"], [2, 3, 4, 5]
text = str(operand[0])
for o, n in zip(operator, operand[1:]): text += o + str(n)
print(eval(text), eval("  1 + 1"), eval(b"2 ** 5"), eval(bytearray(b"3")), list(map(eval, ["1", "len('ab')"])))
""",
    "names of the caller": """
x = 1
def f(a, *b, c=3):
    d = 4
    return eval("(x, a, b, c, d)"), sorted(locals()), vars() == locals()
print(f(1, 2), [eval("i * x") for i in range(2)] if hasattr(f, "no") else "", (lambda q: eval("q + x"))(5))
exec("y = x + 1"); print(y, globals()["y"], "f" in globals())
globals()["z"] = 7; print(z); globals().update(w=8); print(w, globals() is globals(), vars() is globals())
del globals()["z"]
try: z
except NameError as e: print(e)
def outer():
    k = 5
    def inner():
        k
        return locals(), eval("k")
    return inner()
print(outer(), "{x} {y}".format(**globals()), "%(x)s" % globals())
""",
    "namespaces that are given": """
ns = {"start": 10}
exec('''
count = start
class Counter:
    "counts"
    def __init__(self): self._n = 0; self.__m = 1
    def step(self):
        global count
        self._n += 1; count += 1
        return self._n, count, self.__m
def double(v): return v * 2
''', ns)
c = ns["Counter"]()
print(c.step(), c.step(), ns["count"], ns["double"](4), "__builtins__" in ns, sorted(k for k in ns if k[:2] != "__"))
ns["count"] = 100; print(c.step(), c._n, vars(c))
print(eval("a + b", {"a": 1}, {"b": 2}), eval("a", {"a": 1, "b": 3}), eval("q", None, {"q": 5}))
class Names(dict):
    def __missing__(self, key): return "<" + key + ">" if key != "len" else len
print(eval("foo + bar", {}, Names()), eval("v", globals=ns | {"v": 3}) if hasattr(ns, "no") else "")
locals_only = {}; exec("t = 1\\nu = t + 1", {}, locals_only); print(locals_only)
for limits in ({"__builtins__": {}}, {"__builtins__": {"abs": abs}}, {"__builtins__": None}, {"abs": len}):
    try: print(eval("abs('xy')" if limits.get("abs") else "abs(-2)", limits))
    except Exception as e: print(type(e).__name__, e)
try: exec("class A: pass", {"__builtins__": {}})
except NameError as e: print(e)
try: exec("import math", {"__builtins__": {}})
except ImportError as e: print(e)
""",
    "compiled code": """
import copy
c = compile("x * 2", "<expression>", "eval")
x = 4
print(eval(c), eval(c, {"x": "ab"}), c == compile("x * 2", "<expression>", "eval"), type(c).__name__, copy.copy(c) is c, c.co_names)
print(eval(compile("y = 1\\ny += 1", "f.py", "exec")), y, exec(compile("x", "f", "eval")))
exec(compile("3 + 4", "f", "single")); exec(compile("None", "f", "single"))
allowed = {"abs", "x"}
for text in ("abs(x)", "open(x)"):
    bad = [n for n in compile(text, "<s>", "eval").co_names if n not in allowed]
    print(text, "uses", bad) if bad else print(eval(compile(text, "<s>", "eval")))
for wrong in (lambda: compile("1", "f", "other"), lambda: compile(1, "f", "exec"), lambda: eval(1), lambda: exec(None), lambda: eval("1", []), lambda: exec("1", 3), lambda: eval("1", {}, 3), lambda: compile("1", "f", "exec", 1 << 30), lambda: eval()):
    try: wrong()
    except (TypeError, ValueError) as e: print(type(e).__name__)
""",
    "syntax errors": """
for text in ("1 +", "x = 1", "def f(:", "", "a b", "'"):
    try: eval(text)
    except SyntaxError as e: print(type(e).__name__, e.msg, e.lineno, e.offset, e.filename)
try: exec("if x:\\n  y\\n z")
except IndentationError as e: print(type(e).__name__, e.lineno)
try: exec("1\\0")
except (SyntaxError, ValueError) as e: print("null bytes" in str(e))
try: exec("def f():\\n    return 1 / 0\\nf()")
except ZeroDivisionError as e: print(e, e.__traceback__.tb_lineno)
try: eval("(" * 300 + ")" * 300)
except (SyntaxError, MemoryError, RecursionError) as e: print("too deep")
""",
    "trees": """
import ast
class Double(ast.NodeTransformer):
    def visit_Constant(self, node): return ast.Constant(node.value * 2)
tree = ast.fix_missing_locations(Double().visit(ast.parse("print(3 + 4)")))
exec(compile(tree, "<tree>", "exec"))
print(eval(compile(ast.parse("1 + 1", mode="eval"), "<tree>", "eval")), ast.dump(compile("a", "f", "eval", 0x400)))
try: compile(ast.parse("1"), "f", "eval")
except TypeError as e: print(e)
""",
    "classes and dataclasses of text": """
import dataclasses, typing, enum
ns = {"__name__": "__main__"}
exec('''
import dataclasses, enum, functools
@dataclasses.dataclass(order=True)
class P:
    x: int
    y: list = dataclasses.field(default_factory=list)
class C(enum.Enum):
    A = 1; B = 2
class D(P):
    def __init__(self): super().__init__(9); self._hidden = 3
    @property
    def hidden(self): return self._hidden
@functools.cache
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
''', ns)
print(ns["P"](1), ns["P"](1) < ns["P"](2), ns["C"].B, ns["D"]().hidden, ns["fib"](20), ns["D"].__mro__[1].__name__)
print(typing.get_type_hints(ns["P"]), dataclasses.asdict(ns["P"](4)))
class Here:
    exec("made = 3")
    both = eval("made + 1")
    names = sorted(n for n in locals() if n[0] != "_")
print(Here.made, Here.both, Here.names)
""",
    "generated functions": """
def make(name, args, body):
    ns = {}
    exec(f"def {name}({', '.join(args)}):\\n    return {body}", ns)
    return ns[name]
add = make("add", ["a", "b"], "a + b")
print(add(1, 2), add.__name__, add.__module__ if hasattr(add, "no") else "")
ops = {n: eval(f"lambda a, b: a {n} b") for n in "+-*"}
print({n: f(6, 3) for n, f in ops.items()})
def test():
    exec("inside = 5", globals())
    return inside
print(test())
async def main():
    return eval("1 + 1")
import asyncio; print(asyncio.run(main()))
gen = (eval(str(i)) for i in range(3)); print(list(gen))
""",
    "futures": """
from __future__ import annotations
ns = {}
exec("def f(a: nosuch): pass", ns)
print(ns["f"].__annotations__)
exec(compile("def g(a: nosuch.other): pass", "f", "exec"), ns); print(ns["g"].__annotations__)
""",
}


@pytest.mark.parametrize("what", ORDINARY)
def test_text_runs_as_under_cpython(what: str, policy: PolicyRunner, plain: PolicyRunner) -> None:
    run, expected = policy.run(ORDINARY[what]), plain.run(ORDINARY[what])
    assert expected.exit_code == 0, expected.stderr
    assert (run.stdout, run.exit_code) == (expected.stdout, 0), run


REFUSED = [
    # text, the rule, a part of the advice
    ("().__class__.__base__", "dunder-attribute", "name the class"),
    ("f.__globals__", "dunder-attribute", "as arguments"),
    ("__import__('os').system('id')", "builtin", "import statement"),
    ("__builtins__", "builtin", "by their names"),
    ("(x for x in ()).gi_frame", "introspection", "public attributes"),
    ("'{0.__class__}'.format(1)", "format-string", "argument"),
    ("_litany_value", "reserved-name", "another name"),
]


@pytest.mark.parametrize(("text", "rule", "hint"), REFUSED)
def test_refused_text_is_a_syntax_error_with_its_place(
    text: str, rule: str, hint: str, policy: PolicyRunner
) -> None:
    program = f"""
for way in (eval, exec, lambda t: compile(t, "<mine>", "eval")):
    try: way({text!r})
    except SyntaxError as e: print(e.lineno, e.offset > 0, e.text, e.msg)
"""
    lines = policy.run(program).stdout.splitlines()
    assert len(lines) == 3
    for line in lines:
        assert line.startswith(f"1 True {text} {rule}: ")
        assert hint in line


WAYS = {
    "a refused attribute in text": "escaped(eval('victim.__globals__'))",
    "a walk in text": 'escaped(eval("[c for c in ().__class__.__base__.__subclasses__()]"))',
    "by getattr in text": "escaped(eval(\"getattr(victim, '__globals__')\"))",
    "text as a str subclass": "class S(str):\n    def __str__(self): return '1'\n    def lstrip(self, *a): return 'victim.__globals__'\n    def encode(self, *a): return b'1'\n    def __eq__(self, o): return True\n    __hash__ = str.__hash__\nescaped(eval(S('victim.__code__')))",
    "text that changes": "class B(bytearray):\n    def __len__(self): return 1\n    def __bytes__(self): return b'1'\nescaped(eval(B(b'victim.__code__')))",
    "kept text of another": "class S(str):\n    def __hash__(self): return hash('1')\n    def __eq__(self, o): return True\neval('1'); escaped(eval(S('victim.__globals__'))) if eval(S('victim.__globals__')) != 1 else None",
    "text in an encoding": "escaped(eval(b'# coding: utf-7\\nvictim.+AF8AXw-globals+AF8AXw-'))",
    "a normalized name": "escaped(eval('victim.__ｇｌｏｂａｌｓ__'))",
    "text from text": 'escaped(eval("eval(\\"eval(\'victim.__globals__\')\\")"))',
    "exec in a thread": "import threading\nt = threading.Thread(target=exec, args=('escaped(victim.__globals__)',)); t.start(); t.join()",
    "the builtins of globals": "b = globals()['__builtins__']\nimport io\n[escaped(n) for n in b if n.startswith('_litany_')]\nescaped(b['open']('/etc/hostname'))",
    "importer of globals": "escaped(globals()['__builtins__']['__import__']('os').system('id'))",
    "importer with a list": "f = globals()['__builtins__']['__import__']\nm = f('subprocess', None, None, ['x'])\nescaped(m.Popen)",
    "importer that loads": "f = globals()['__builtins__']['__import__']\nf('antigravity', None, None, ['x']); escaped()",
    "importer by a str subclass": "class S(str):\n    def __eq__(self, o): return True\n    __hash__ = str.__hash__\nescaped(globals()['__builtins__']['__import__'](S('subprocess')))",
    "class builder with a library's function": "import json\nescaped(globals()['__builtins__']['__build_class__'](json.dumps, 'A'))",
    "class builder with a function": "escaped(globals()['__builtins__']['__build_class__'](victim, 'A'))",
    "class builder with a metaclass": "def make(*a, **k): escaped(a)\nns = {}\nb = globals()['__builtins__']['__build_class__']\nexec('class A: pass', {'__builtins__': {'__build_class__': lambda f, n: b(f, n, metaclass=make), '__name__': 'x'}})",
    "class builder with a base": "import types\nb = globals()['__builtins__']['__build_class__']\nns = {'__builtins__': {'__build_class__': lambda f, n: b(f, n, types.ModuleType), '__name__': 'x'}}\nexec('class A: pass', ns); escaped(ns['A'])",
    "class builder with a str subclass": "class S(str): pass\nb = globals()['__builtins__']['__build_class__']\nns = {'__builtins__': {'__build_class__': lambda f, n: b(f, S(n)), '__name__': 'x'}}\nexec('class A: pass', ns); type(ns['A'].__name__) is S and escaped(ns['A'])",
    "guards replaced in builtins": "ns = {'__builtins__': {**globals()['__builtins__'], '_litany_private': lambda o, n: o, '_litany_attribute': lambda o, n: escaped(o), 'type': lambda o: Own, 'private': lambda o, n: o, 'own': {Own}}}\nimport threading\nns['t'] = threading.Thread(target=victim); ns['out'] = []\nexec('def f(o): return o._target\\nout.append(f(t))\\nout.append(t.__dict__)', ns)\nns['out'] and escaped(ns['out'])",
    "guards replaced later": "import threading\nns = {'t': threading.Thread(target=victim)}\nexec('def f(o):\\n    def g(o): return o._target\\n    return g', ns)\nns['__builtins__'] = {'type': lambda o: Own, 'private': lambda o, n: o, '_litany_private': lambda o, n: o}\nescaped(ns['f'](0)(ns['t']))",
    "guards replaced in globals": "import threading\nglobals()['__builtins__']['type'] = lambda o: Own\nglobals()['__builtins__']['_litany_type'] = lambda o: Own\nglobals()['type'] = lambda o: Own\ndef f(o): return o._target\nescaped(f(threading.Thread(target=victim)))",
    "builtins removed, then a dataclass": "import dataclasses\ndel globals()['__builtins__']\n@dataclasses.dataclass\nclass A: a: int = 1\nescaped(globals()['__builtins__']['eval']('1 .__class__.__base__'))",
    "builtins removed, then a named tuple": "import collections\ndel globals()['__builtins__']\ncollections.namedtuple('A', 'a')\nescaped(globals()['__builtins__']['eval']('1 .__class__.__base__'))",
    "builtins removed, then text": "b = globals().pop('__builtins__')\nns = {}\nb['exec']('x = 1', ns)\nescaped(ns['__builtins__']['eval']('1 .__class__.__base__'))",
    "builtins removed meanwhile": "import threading\nns = {}\nstop = []\ndef spin():\n    while not stop: ns.pop('__builtins__', None)\nt = threading.Thread(target=spin, daemon=True); t.start()\nfor i in range(3000):\n    try: exec('def f(): return len', ns)\n    except KeyError: pass\n    b = ns.get('__builtins__')\n    if b is not None and (not isinstance(b, dict) or 'help' in b): stop.append(1); escaped(b); break\nstop.append(1); t.join()",
    "dataclass of another module": "import dataclasses\nns = {'__name__': 'os'}\nexec('import dataclasses\\n@dataclasses.dataclass\\nclass A:\\n    a: \"environ\" = 1', ns)\nA = ns['A']\nescaped(getattr(A, '__init__').__globals__) if False else None\nimport typing\n'environ' in str(typing.get_type_hints(A)) and escaped()",
    "code of another": "escaped(eval(getattr(victim, '__code__')))",
    "code made": "c = compile('1', 'f', 'eval'); escaped(type(c)())",
    "code subclassed": "class C(type(compile('1', 'f', 'eval'))): pass\nescaped(C)",
    "code's insides": "c = compile('1', 'f', 'eval')\nfor n in ('_kept', 'co_code', 'co_consts', 'replace', '__reduce_ex__', '__slots__'):\n    try: got = getattr(c, n)\n    except AttributeError: continue\n    got and escaped(n, got)",
    "code copied": "import copy\nc = compile('1', 'f', 'eval'); d = copy.deepcopy([c])[0]\nd is not c and escaped(d)",
    "code's names of a foreign": "import json; escaped(json.dumps.co_names)",
    "flags unknown": "escaped(compile('1', 'f', 'eval', 1 << 30))",
    "a file as text's name": "c = compile('1 / 0', '/etc/hostname', 'eval')\nimport traceback\ntry: eval(c)\nexcept ZeroDivisionError:\n    t = traceback.format_exc().splitlines()\n    [escaped(a, b) for a, b in zip(t, t[1:]) if '/etc/hostname' in a and 'File' not in b and 'Error' not in b]",
    "a tree with a name that is text": "import ast\ntree = ast.parse('x', mode='eval')\ntree.body.id = 'victim.__globals__'\nescaped(eval(compile(tree, 'f', 'eval')))",
    "a tree of own nodes": "import ast\nclass N(ast.Attribute): pass\nt = ast.Expression(N(value=ast.Name('victim', ast.Load()), attr='__globals__', ctx=ast.Load()))\nescaped(eval(compile(t, 'f', 'eval')))",
    "a tree whose strings differ": "import ast\nclass S(str):\n    def __eq__(self, o): return False\n    __hash__ = str.__hash__\n    def startswith(self, *a): return False\nt = ast.Expression(ast.Attribute(value=ast.Name('victim', ast.Load()), attr=S('__globals__'), ctx=ast.Load()))\nescaped(eval(compile(t, 'f', 'eval')))",
    "a tree with an object": "import ast\nt = ast.Expression(ast.Constant(victim))\nescaped(eval(compile(t, 'f', 'eval')).__globals__) if False else eval(compile(t, 'f', 'eval')) is victim and escaped()",
    "a tree that unparses itself": "import ast\nclass M(ast.Module):\n    def visit(self, *a): return 'escaped()'\nexec(compile(M([], []), 'f', 'exec')); escaped()",
    "locals of a library": "import concurrent.futures\nwith concurrent.futures.ThreadPoolExecutor(1) as p: d = p.submit(locals).result()\n'self' in d and escaped(d)",
    "globals of a library": "import concurrent.futures\nwith concurrent.futures.ThreadPoolExecutor(1) as p: d = p.submit(globals).result()\n'victim' not in d and escaped(d)",
    "vars of a library": "import functools\nd = functools.partial(vars)()\n'victim' not in d and escaped(d)\nimport json\nclass E(json.JSONEncoder):\n    def default(self, o): d = vars; return list(sorted([0], key=lambda _: 0))\nlist(sorted([1], key=lambda x: 0)); d = next(map(lambda f: f(), [vars])); [escaped(k) for k in d if k == 'self']",
    "names of a library by a callback": "import json\ngot = []\nclass F:\n    __call__ = locals\ntry: json.loads('{\"a\": 1}', object_hook=lambda o: got.append(eval('dir()', None, None)))\nexcept Exception: pass\n'scanner' in str(got) and escaped(got)",
    "eval as a library's callback": "import concurrent.futures\nwith concurrent.futures.ThreadPoolExecutor(1) as p: r = p.submit(eval, 'sorted(globals())').result()\n'_threads_queues' in r and escaped(r)",
    "globals that is a subclass": "class D(dict):\n    def __getitem__(self, k): return super().__getitem__(k)\nescaped(eval('1', D()))",
    "globals of a library's": "import json\nescaped(eval('codecs', vars(json)))",
    "a module as builtins": "import json\nescaped(eval('codecs', {'__builtins__': json}))",
    "a module as locals": "import json\nescaped(eval('codecs', {}, json))",
    "a closure given": "def outer(x):\n    def inner(): return x\n    return inner\nescaped(exec('1', closure=getattr(outer(1), '__closure__')))",
    "class names past the rules": "import contextlib\nclass R(contextlib.redirect_stdout):\n    exec('_stream = \"modules\"')\nwith R({}): escaped()",
    "class names past the rules by locals": "import contextlib\nclass R(contextlib.redirect_stdout):\n    locals()['_stream'] = 'modules'\nR._stream == 'modules' and escaped() if 'R' in dir() else None",
    "special names past the rules": "class A:\n    locals()['__getattribute__'] = lambda s, n: 7\nA().zz == 7 and escaped()",
    "special names by exec": "class A:\n    exec('g = lambda s, n: 7', None, locals())\n    vars()['__reduce_ex__'] = g if 'g' in dir() else victim\n'__reduce_ex__' in vars(A) and escaped()",
    "the namespace of a class body": "class A:\n    d = locals()\nA.d.get('__classdict__') is not None and escaped()",
    "the cell of a class": "kept = []\ndef make(body, name, *bases):\n    kept.append(body()); return object\nns = {'__builtins__': {'__build_class__': make, '__name__': 'x'}, '__name__': 'x'}\nexec('class A:\\n    def f(self): return __class__', ns)\nescaped(type(kept[0]))",
    "await at the top of text": "c = compile('victim.__globals__', 'f', 'eval', 0x2000); escaped(eval(c))",
    "a listing of names": "[escaped(n) for n in eval('dir()') if n.startswith('_litany_')]",
    "an object under a name": "ns = {}\nexec('x = 1', ns)\nb = ns['__builtins__']\n[escaped(k) for k, v in b.items() if k in ('help', 'breakpoint', 'license', '__loader__', '__spec__')]",
    "displayhook": "import sys\nexec(compile('5', 'f', 'single')); escaped(sys.displayhook)",
    "the last value": "exec(compile('victim', 'f', 'single'))\nescaped(eval('_'))",
    "future flag hides a name": "ns = {'victim': victim}\nexec(compile('def f(a: victim.__globals__): pass', 'f', 'exec', 0x1000000 if False else 1 << 24), ns); escaped(ns)",
    "annotations by flag": "import __future__, typing\nns = {'victim': victim}\nexec(compile('def f(a: victim.__globals__): pass', 'f', 'exec', 0x1000000), ns)\nescaped(typing.get_type_hints(ns['f']))",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_way_out_by_text_is_closed(way: str, policy: PolicyRunner) -> None:
    run = policy.run(PREAMBLE + WAYS[way], tools=TOOLS, trusted=DESCRIPTORS)
    assert "ESCAPED" not in run.stdout
    assert run.exit_code in {0, 1, 126}, f"died: {run}"


def test_the_ways_by_text_are_programs() -> None:
    for way, source in WAYS.items():
        compile(PREAMBLE + source, way, "exec")
