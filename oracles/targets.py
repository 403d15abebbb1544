"""What TVM compiles for, as data. Importing this loads no compiler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto


class Runs(Enum):
    """Where the code of a target can run."""

    HERE = auto()
    ON_A_DEVICE = auto()
    NOWHERE = auto()  # it is compiled, and looked at


@dataclass(frozen=True, slots=True)
class Target:
    """A name that lanes use; what `tvm.target.Target` takes; for targets that give source, what compiles it.

    The name begins with the plain target of its family (`family_of`).
    compilers  for a shared library, the first that is installed
    flags      of that compiler
    """

    name: str
    config: Mapping[str, object]
    runs: Runs = Runs.HERE
    compilers: tuple[str, ...] = ()
    flags: tuple[str, ...] = field(default=())


TARGETS: tuple[Target, ...] = (
    Target("llvm", {"kind": "llvm"}),
    Target("llvm-O0", {"kind": "llvm", "opt-level": 0}),
    # left to itself TVM takes g++, for which C takes twice as long (measured: 240 against 120 ms)
    Target("c", {"kind": "c"}, compilers=("gcc", "cc"), flags=("-O1",)),
)

NAMED = {target.name: target for target in TARGETS}


def family_of(target: str) -> str:
    """The plain target that a target is a variant of: `llvm` of `llvm-O0`."""
    return target.partition("-")[0]
