"""The start-up self-test: lanes that misbehave on purpose prove that each kind of failure is seen."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from fuzzer.isolate.child_process import Bounds
from fuzzer.isolate.fleet import Backend
from fuzzer.lanes import TORCH, TORCH_ENVELOPE, TORCH_F64
from generators.graph import Case, DType, Graph, Input, Node, TensorType, Value
from oracles import judge_all
from oracles.finding import Kind
from oracles.lane import Engine, LaneSpec

EXPECTED: dict[str, Kind | None] = {
    "honest": None,
    "lie": Kind.WRONG_VALUE,
    "raise": Kind.INTERNAL_ERROR,
    "hang": Kind.TIMED_OUT,
    "spin": Kind.TIMED_OUT,
    "segfault": Kind.DIED,
    "exit": Kind.DIED,
    "leak": Kind.OUT_OF_MEMORY,
}
SHORT = Bounds(wall_seconds=1.0, cpu_seconds=0.7)
SMALL = Bounds(memory_bytes=1 << 30)


@dataclass(frozen=True, slots=True)
class Check:
    """`seen` is what the oracles said of a lane that does `sin`."""

    sin: str
    expected: Kind | None
    seen: Kind | None
    seconds: float

    @property
    def passed(self) -> bool:
        return self.seen is self.expected


def self_test(executor: Backend) -> list[Check]:
    """One check per sin, each in children of its own; about 4 s."""
    checks = []
    for sin, kind in EXPECTED.items():
        began = time.monotonic()
        lane = LaneSpec(f"faulty-{sin}", Engine.FAULTY, variant=sin)
        lanes = (TORCH, TORCH_F64, TORCH_ENVELOPE, lane)
        result = executor.run(_case(), lanes, SMALL if sin == "leak" else SHORT)
        found = [finding.kind for finding in judge_all(_case(), result.outcomes) if finding.lane == lane]
        checks.append(Check(sin, kind, found[0] if found else None, time.monotonic() - began))
    return checks


def _case() -> Case:
    x, v = (Value(name, TensorType(DType.FLOAT32, (2, 3))) for name in ("x0", "v0"))
    graph = Graph((Input(x),), (Node("sin", ("x0",), {}, (v,)),), ("v0",))
    return Case(graph, {"x0": np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)})
