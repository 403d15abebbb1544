"""Three small models that every lane of TVM supports."""

from __future__ import annotations

import numpy as np
from graphs_by_hand import case_of

from fuzzer.isolate.executor import Executor
from generators.graph import Array, Case, Input
from oracles.lane import LaneSpec
from oracles.outcome import Outcome


def small(item: Input) -> Array:
    """Numbers between -2 and 2 that differ, none of them zero; those of integers are 1, 2, ..."""
    kind = item.value.type.dtype
    count = np.arange(item.value.type.numel).reshape(item.value.type.sizes)
    if not kind.is_float:
        return np.array(1 + count % 5, kind.numpy)
    start = 0.5 if item.value.name == "b1" else -1.9  # a variance is positive
    return np.array(start + 0.37 * (count % 7) * np.where(start > 0, 0.3, 1) + 0.013 * (count % 11), kind.numpy)


LINEAR = case_of(
    {"x0": "float32[3,4]", "w0": "float32[5,4]", "w1": "float32[5]"},
    [("v0", "linear", "x0 w0 w1"), ("v1", "relu", "v0")],
    "v1",
    small,
)
CONV = case_of(
    {
        "x0": "float32[2,3,6,6]",
        "w0": "float32[4,3,3,3]",
        "w1": "float32[4]",
        "w2": "float32[4]",
        "b0": "float32[4]",
        "b1": "float32[4]",
    },
    [("v0", "conv2d", "x0 w0"), ("v1", "batch_norm", "v0 b0 b1 w1 w2")],
    "v1",
    small,
)
INTEGERS = case_of(
    {"x0": "float32[2,3]", "x1": "int64[2,3]", "b0": "int64[3]"},
    [("v0", "add", "x1 b0"), ("v1", "mul", "x0 v0"), ("v2", "exp", "x0")],
    "v0 v1 v2",
    small,
)
CASES = {"linear": LINEAR, "conv": CONV, "integers": INTEGERS}


def outcome_of(executor: Executor, case: Case, lane: LaneSpec) -> Outcome:
    return executor.run(case, (lane,)).outcomes[lane]
