"""A computation whose result a device must give bit for bit before anything else runs on it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from generators.graph import Array, Case, DType, Graph, Input, Node, TensorType, Value
from oracles.lane import Engine, Importer, LaneSpec
from oracles.outcome import Outcome, Ran

SIZE = 32


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    case: Case
    lane: LaneSpec
    expected: Array

    def is_given(self, outcome: Outcome) -> bool:
        """Whether each run of the lane gave the expected dtype, shape and bits."""
        if not isinstance(outcome, Ran):
            return False
        runs = (outcome.outputs,) if outcome.again is None else (outcome.outputs, outcome.again)
        return all(len(outputs) == 1 and self._equals(outputs[0]) for outputs in runs)

    def _equals(self, array: Array) -> bool:
        expected = self.expected
        return (array.dtype, array.shape, array.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())


def matmul() -> KnownAnswer:
    """x @ y of integers. Each product and sum is exact in float32, in every order. The elements of x have 13 bits; TF32
    keeps 11 bits and gives another result, so that a device which passes computes in full float32."""
    numbers = np.arange(SIZE * SIZE).reshape(SIZE, SIZE)
    x, y = 4097 + numbers % 7 * 2, numbers % 11 - 5
    values = {name: Value(name, TensorType(DType.FLOAT32, (SIZE, SIZE))) for name in ("x0", "x1", "v0")}
    graph = Graph(
        (Input(values["x0"]), Input(values["x1"])),
        (Node("matmul", ("x0", "x1"), {}, (values["v0"],)),),
        ("v0",),
    )
    case = Case(graph, {"x0": x.astype(np.float32), "x1": y.astype(np.float32)})
    lane = LaneSpec("known-answer", Engine.TVM, Importer.EXPORT, "relax", target="cuda")
    return KnownAnswer(case, lane, (x @ y).astype(np.float32))


def of_target(target: str) -> KnownAnswer:
    """The same computation for another target."""
    return replace(KNOWN_ANSWER, lane=replace(KNOWN_ANSWER.lane, name=f"known-answer-{target}", target=target))


KNOWN_ANSWER = matmul()
