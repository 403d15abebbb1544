"""A compiled model is a function: its second run on the same inputs gives what the first gave, bit for bit."""

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
        for index, (first, second) in enumerate(zip(outcome.outputs, outcome.again, strict=True)):
            if not _same(first, second):
                count = int(np.count_nonzero(first != second)) if first.shape == second.shape else first.size
                evidence = Mismatch(index, "the first run's result", f"{count} of {first.size} elements differ")
                yield Finding(Kind.UNSTABLE, component, lane, Stage.RUN, evidence)
                break


def _same(first: Array, second: Array) -> bool:
    return first.dtype == second.dtype and first.shape == second.shape and first.tobytes() == second.tobytes()
