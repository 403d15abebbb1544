"""Measure what C of oracles/tolerance.py must be: how far implementations that are right by definition differ.

    python benchmarks/calibration.py [--cases 500] [--seed 100] [--lanes GLOB] [--dialect onnx]

The unit is the measured uncertainty. For each compared element of the float outputs of random cases, it computes

    |x - truth| / (envelope + |eager - truth| + ULPS ulps)

where x comes from an implementation that is right by definition (`fuzzer.lanes.honest`). For the eager run itself
(PyTorch, or onnxruntime without optimisers), the second term of the denominator is left out. Prints quantiles for each
implementation and dtype, the worst cases with their operators, and C: the largest ratio, without the files that the
exporter wrote wrongly (no C covers them; `fuzz bench honesty` lists them).
"""

from __future__ import annotations

import argparse
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fuzzer.evaluation.false_alarms import FalseAlarmOptions, each_result
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import HONEST_LANES
from generators.graph import Case, holds_floats
from oracles.against_torch import comparable_results
from oracles.outcome import Ran, Result
from oracles.reference import Expected, eager_run, expected, rounded_to, rounding_error
from oracles.tolerance import C, uncertainty

QUANTILES = (0.5, 0.9, 0.99, 0.999, 0.9999, 1.0)
SHOWN = 20
EAGER = "eager"

Outputs = tuple[np.ndarray, ...]
Ratios = dict[tuple[str, str], list[np.ndarray]]


class Calibration:
    def __init__(self) -> None:
        self.ratios: Ratios = defaultdict(list)
        self.worst: list[tuple[float, str, str, int, str]] = []
        self.elements = self.ill = 0

    def add_result(self, number: int, case: Case, result: Result) -> None:
        right = expected(result.outcomes)
        if right is None:
            return
        self.elements += sum(r.eager.size for r in right)
        self.ill += sum(int(r.ill.sum()) for r in right)
        good = comparable_results(result.outcomes)
        eager = eager_run(result.outcomes)
        assert eager is not None
        self._add(EAGER, eager.outputs, right, number, case)
        for lane, outcome in result.outcomes.items():
            if lane in HONEST_LANES and lane in good and isinstance(outcome, Ran):
                self._add(lane.name, outcome.outputs, right, number, case)

    def _add(self, lane: str, outputs: Outputs, right: tuple[Expected, ...], number: int, case: Case) -> None:
        for dtype, ratios in _ratios(lane, outputs, right):
            self.ratios[lane, dtype].append(ratios)
            if ratios.size and ratios.max() > 1:
                self.worst.append((float(ratios.max()), lane, dtype, number, ", ".join(case.graph.ops)))

    def print(self) -> None:
        share = self.ill / max(self.elements, 1)
        print(
            f"{self.elements} elements of reference outputs, {100 * share:.2f} % of them ill-conditioned (not compared)"
        )
        print(
            f"{'implementation':22} {'dtype':9} {'elements':>9}  quantiles " + " ".join(f"{q:<7g}" for q in QUANTILES)
        )
        for (lane, dtype), parts in sorted(self.ratios.items()):
            values = np.concatenate(parts)
            if values.size:
                shown = " ".join(f"{np.quantile(values, q):<7.2g}" for q in QUANTILES)
                print(f"{lane:22} {dtype:9} {values.size:>9}            {shown}")
        print("worst cases:")
        for ratio, lane, dtype, number, ops in sorted(self.worst, reverse=True)[:SHOWN]:
            print(f"  {ratio:9.3g} {lane} {dtype} test {number}: {ops}")
        most = max((ratio for ratio, lane, *_ in self.worst if lane != EAGER), default=1.0)
        print(f"C must be {most:.2f} (without the eager run, whose error is part of the equation); it is {C}")


def _ratios(lane: str, outputs: Outputs, right: tuple[Expected, ...]) -> Iterator[tuple[str, np.ndarray]]:
    """For each float output: its dtype, and the ratio of each compared element."""
    if len(outputs) != len(right):
        return
    for actual, want in zip(outputs, right, strict=True):
        if actual.dtype != want.eager.dtype or actual.shape != want.eager.shape or not holds_floats(actual):
            continue
        unit = want.envelope + rounding_error(want.truth, want.eager.dtype) if lane == EAGER else uncertainty(want)
        with np.errstate(all="ignore"):
            ratio = np.abs(actual.astype(np.float64) - want.truth) / unit
            finite = np.isfinite(want.eager.astype(np.float64)) & np.isfinite(rounded_to(want.truth, want.eager.dtype))
        yield str(actual.dtype), np.nan_to_num(ratio[finite & ~want.ill], nan=np.inf)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--lanes", default="*", help="globs for the lanes that are right by definition")
    parser.add_argument("--dialect", default="torch", help="torch or onnx")
    arguments = parser.parse_args()
    calibration = Calibration()
    with Executor(Path(tempfile.mkdtemp(prefix="difftvm-"))) as executor:
        order = FalseAlarmOptions(arguments.cases, arguments.seed, lanes=arguments.lanes, dialect=arguments.dialect)
        each_result(executor, order, calibration.add_result, threading.Event())
    calibration.print()


if __name__ == "__main__":
    main()
