"""What programs that try a way out of the language policy are given to try it with."""

from __future__ import annotations

PREAMBLE = """
def escaped(*what): print("ESCAPED", *what)
def victim(a=1): return a
class Own:
    def __init__(self): self.x = 1
class Catch:
    def __init__(self): self.got = []
    def __setattr__(self, n, v):
        if n != "got": self.got.append((n, v))
        super().__setattr__(n, v)
    def __add__(self, o): return o
    __radd__ = __iadd__ = __add__
"""
"""`escaped(what)` says that a way out is open; the rest is material to try with."""

TOOLS = """
import json
_secret = {"token": 1}
class Result:
    ok = False
def call(): return Result()
__all__ = ["Result", "call"]
"""
"""A stub module with something to change and something to hide."""

DESCRIPTORS = """
import os
os.dup2(os.open("/dev/null", os.O_RDWR), 50)
os.dup2(os.open("/", os.O_RDONLY), 51)
"""
"""Open in the child as its wire is: a descriptor of a file, and one of a folder, at known numbers."""
