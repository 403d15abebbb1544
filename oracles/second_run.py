"""A compiled model is a function: its second run on the same inputs gives the numbers that the first gave."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from generators.graph import Array, Case
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.lane import Engine
from oracles.outcome import Outcomes, Ran, Stage


def second_run(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    for lane, outcome in outcomes.items():
        if not isinstance(outcome, Ran) or outcome.again is None:
            continue
        component = Component.ONNXRUNTIME if lane.engine is Engine.ONNXRUNTIME else Component.TVM
        if evidence := _difference(outcome.outputs, outcome.again):
            yield Finding(Kind.UNSTABLE, component, lane, Stage.RUN, evidence)


def _difference(first: tuple[Array, ...], second: tuple[Array, ...]) -> Mismatch | None:
    if len(first) != len(second):
        return Mismatch(0, f"the first run's {len(first)} outputs", f"{len(second)} outputs")
    for index, (one, other) in enumerate(zip(first, second, strict=True)):
        if one.shape != other.shape or one.dtype != other.dtype:
            return Mismatch(index, f"the first run's {one.dtype}{list(one.shape)}", f"{other.dtype}{list(other.shape)}")
        changed = (one != other) & ~((one != one) & (other != other))  # NaN is what it was, whatever its payload
        if count := int(np.count_nonzero(changed)):
            return Mismatch(index, "the first run's result", f"{count} of {one.size} elements differ")
    return None
