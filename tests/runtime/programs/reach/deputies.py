"""Looks for deputies: library code that reads, sets or copies for a program by names the program chose.

An untrusted program, the same under the policy and without it. It knows no way out by name: it baits every
callable and every class of every module it may import, and says `FOUND kind callable` when a bait was taken.
"""

import abc, argparse, array, ast, asyncio, base64, bisect, bz2, calendar, cmath, codecs, collections, collections.abc, colorsys
import configparser, contextlib, contextvars, copy, csv, dataclasses, datetime, decimal, difflib, enum, fnmatch, fractions
import functools, gzip, hashlib, heapq, html, html.parser, inspect, io, ipaddress, itertools, json, keyword, logging, lzma, math
import numbers, operator, pathlib, pprint, queue, random, re, reprlib, sched, shlex, statistics, string, struct, tarfile, textwrap
import threading, traceback, types, typing, unicodedata, uuid, warnings, weakref, xml.etree.ElementTree, zipfile, zoneinfo
import concurrent.futures, graphlib, hmac, secrets, urllib.parse, tempfile
import atexit, email, email.charset, email.encoders, email.generator, email.header, email.headerregistry, email.message, email.mime.base
import email.mime.multipart, email.mime.text, email.parser, email.policy, email.utils, http, importlib, json.decoder, json.encoder
import logging.handlers, platform, timeit, unittest

MODULES = [
    abc, argparse, array, ast, asyncio, base64, bisect, calendar, codecs, collections, collections.abc, configparser, contextlib,
    contextvars, copy, csv, dataclasses, datetime, decimal, difflib, enum, fractions, functools, heapq, html.parser, inspect, io,
    ipaddress, itertools, json, logging, numbers, operator, pathlib, pprint, queue, random, re, reprlib, sched, shlex, statistics,
    string, struct, tarfile, textwrap, threading, traceback, types, typing, uuid, warnings, weakref, xml.etree.ElementTree,
    zipfile, graphlib, hmac, urllib.parse, concurrent.futures, tempfile,
    email, email.charset, email.encoders, email.generator, email.header, email.headerregistry, email.message, email.mime.base,
    email.mime.multipart, email.mime.text, email.parser, email.policy, email.utils, http, importlib, json.decoder, json.encoder,
    logging.handlers, platform, timeit, unittest,
]
# What waits, ends the program, takes memory without end, or only writes is not called.
SKIPPED = """
    as_completed cycle repeat count run sleep timeout_at disable Runner Timer serve_forever run_coroutine_threadsafe wait
    ThreadPoolExecutor basicConfig scheduler captureWarnings permutations product calendar prcal prmonth print_exc
    print_exception print_tb pprint pp dump warn simplefilter register_dialect setLevel redirect_stdout redirect_stderr
    set_event_loop new_event_loop exit settrace main register Timer autorange repeat timeit
""".split()

NAMES = {}  # the host fills in the table of modules
listed = [
    (m.__name__ + "." + n, getattr(m, n)) for m in MODULES for n in NAMES[m.__name__] if n not in SKIPPED and n in dir(m)
]
functions = [(n, v) for n, v in listed if callable(v)]
classes = [(n, v) for n, v in listed if isinstance(v, type)]


def target(a=1): return a


target = json.loads  # a library's function: nothing the program does may mark it, but by its own assignment
secret = collections.UserString("secret")
foreign = threading.Thread(target=secret)


def quietly(f, *args, **kwargs):
    try: return f(*args, **kwargs)
    except BaseException: return None


def found(kind, name): print("FOUND", kind, name)


def give(*args, **kwargs): return target


def marked():
    if "marked" in dir(target):
        del target.marked
        return True
    return False


# -- names on instances that only a class may answer to ----------------------------------------------------------------

STEERING = "__reduce_ex__ __reduce__ __getstate__ __getnewargs__ __getnewargs_ex__ __setstate__ __mro_entries__".split()
STATES = [{"marked": 1}, (None, {"marked": 1}), ({"marked": 1}, None)]


class Bare: pass
class Wrong(Exception): pass


def baits():
    for name in STEERING:
        for state in STATES:
            answers = {name: lambda *a, state=state: (give, (), state)}
            yield types.SimpleNamespace(**answers)
            yield quietly(argparse.Namespace, **answers)
            yield quietly(logging.makeLogRecord, answers)
            for made in (Bare(), Wrong()):
                quietly(lambda: vars(made).update(answers))
                yield made


everything = [b for b in baits() if b is not None]
for name, function in functions:
    for bait in everything:
        quietly(function, bait)
        if marked(): found("instance", name); break


# -- objects whose class's __new__ returns something else ----------------------------------------------------------------

armed = False


def another(base):
    class P(base):
        def __new__(cls, *args, **kwargs): return target if armed else base.__new__(cls)
        def __init__(self, *args, **kwargs): quietly(base.__init__, self)
    return P


class Stateful:
    def __new__(cls, *args): return target if armed else object.__new__(cls)
    def __getstate__(self): return {"marked": 1}


def subclasses():
    yield "object", Stateful
    for name, cls in classes:
        sub = quietly(another, cls)
        if sub is not None: yield name, sub


for name, sub in subclasses():
    armed = False
    made = quietly(sub)
    if made is None: continue
    quietly(lambda: setattr(made, "marked", 1))
    armed = True
    for how in (copy.copy, copy.deepcopy, lambda o: o.__copy__(), lambda o: o.copy(), lambda o: o.__deepcopy__({})):
        quietly(how, made)
        if marked(): found("new", name); break
armed = False


# -- fields, states and neighbours that name a library's private attributes --------------------------------------------------

OPENED = "_generate_next_value_ _missing_ _ignore_ _fields _attributes _init _put _get _qsize".split()
OPENED_BY = {"threading.Thread": "_target _args _kwargs".split()}  # what subclasses of one class read by custom
HARMLESS = []  # the host fills in the names that were found harmless wherever they are


class Field:
    init = True; _field_type = None; default = dataclasses.MISSING
    def __init__(self, name): self.name = name


def captured(base):
    got = []
    class P(base):
        def __new__(cls, *args, **kwargs):
            got.extend(kwargs); return base.__new__(cls)
        def __init__(self, *args, **kwargs):
            got.extend(kwargs)
            if not kwargs: quietly(base.__init__, self)
        def __setstate__(self, state): got.extend(state if isinstance(state, dict) else ())
    return P, got


def neighbour(base, names):
    got = []
    class M: pass
    for name in names:
        def get(self): return 0
        def set(self, value, name=name): got.append(name)
        setattr(M, name, property(get, set))
    class C(M, base):
        def __init__(self): quietly(base.__init__, self)
    return C, got


for name, cls in classes:
    made = quietly(cls)
    private = [n for n in dir(cls if made is None else made) if n[:1] == "_" and n[:2] != "__" and n not in HARMLESS and n not in [*OPENED, *OPENED_BY.get(name, ())]]
    if not private: continue
    pair = quietly(captured, cls)
    if pair:
        sub, got = pair
        for each in private:
            made = quietly(sub)
            if made is None: break
            quietly(lambda: vars(made).update({"__dataclass_fields__": {"a": Field(each)}}))
            quietly(lambda: setattr(sub, "__dataclass_fields__", {"a": Field(each)}))
            for wrapped in (sub, quietly(dataclasses.dataclass(init=False), sub)):
                quietly(dataclasses.replace, made)
                for value in quietly(dataclasses.asdict, made) or (): got.append(value)
                if each in got: break
            quietly(lambda: copy.copy(made))
            if each in got: found("private", name + " " + each); break
    for each in private:
        pair = quietly(neighbour, cls, [each])
        if pair:
            quietly(pair[0])
            if pair[1]: found("neighbour", name + " " + each); break


# -- objects that are told a name and use it --------------------------------------------------------------------------------

def value(self=None, *args): return None


for name, cls in classes + [(n, f) for n, f in functions if not isinstance(f, type)]:
    for given in ((value,), (), ("_target",)):
        made = quietly(cls, *given)
        if made is None or isinstance(made, (str, bytes, int, float, list, dict, tuple)): continue
        for attribute in quietly(dir, made) or ():
            if attribute[:1] != "_": quietly(lambda: setattr(made, attribute, "_target"))
        for how in (
            lambda: made.__get__(foreign), lambda: made.__get__(foreign, threading.Thread), lambda: made(foreign),
            lambda: made.__getitem__(foreign), lambda: made.convert(foreign), lambda: made.format(foreign),
        ):
            if quietly(how) is secret: found("told", name)

print("DONE", len(functions), len(classes), len(everything))
