"""Kernel confinement: what makes the failure of every layer above harmless.

`enter` confines a zygote, `confine_child` each child that it forks; the order of it all is in `enter.py`, one
file for each mechanism beside it. `probing.py` finds out, by trying, what this machine can hold.
"""

from litany_runtime.confine.child import Script, confine_child, prepare_child
from litany_runtime.confine.enter import Entered, enter
from litany_runtime.confine.faults import ConfinementError
from litany_runtime.confine.plan import ChildPlan, Isolation, Layer, ZygotePlan
from litany_runtime.confine.rlimits import explain_death

__all__ = [
    "ChildPlan",
    "ConfinementError",
    "Entered",
    "Isolation",
    "Layer",
    "Script",
    "ZygotePlan",
    "confine_child",
    "enter",
    "explain_death",
    "prepare_child",
]
