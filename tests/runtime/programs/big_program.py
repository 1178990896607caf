from __future__ import annotations
import json, re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Iterator
@dataclass
class Event:
    kind: str
    amount: float
    tags: set[str] = field(default_factory=set)
class Ledger:
    _RE = re.compile(r"(?P<kind>\w+)\s+(?P<amount>-?\d+(?:\.\d+)?)\s*(?P<tags>#.*)?")
    def __init__(self) -> None:
        self._events: list[Event] = []
        self._totals: defaultdict[str, float] = defaultdict(float)
    def __iter__(self) -> Iterator[Event]: return iter(self._events)
    def __len__(self) -> int: return len(self._events)
    def parse(self, text: str) -> Ledger:
        for n, line in enumerate(text.splitlines(), 1):
            if not (m := self._RE.match(line.strip())): raise ValueError(f"line {n}: {line!r}")
            tags = {t.strip("#") for t in (m["tags"] or "").split()}
            e = Event(m["kind"], float(m["amount"]), tags)
            self._events.append(e); self._totals[e.kind] += e.amount
        return self
    @property
    def totals(self) -> dict[str, float]: return dict(sorted(self._totals.items()))
ledger = Ledger().parse("food 12.5 #a #b\nrent 800\nfood 3 #a")
print(len(ledger), ledger.totals, json.dumps({e.kind: sorted(e.tags) for e in ledger}))
match ledger.totals:
    case {"food": float(f), **rest} if f > 10: print(f"food {f:.2f}", rest)
try: Ledger().parse("???")
except ValueError as err: print(err)
print("\n".join(f"{k:<6}|{v:>8.2f}" for k, v in ledger.totals.items()))
