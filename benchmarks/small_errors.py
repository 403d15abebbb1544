"""Measure the share of small errors that is detected: one element of a right result is changed by a few uncertainties.

    python benchmarks/small_errors.py [--cases 300] [--seed 200] [--times 3]

The results are those of eager PyTorch, of onnxruntime, and of PyTorch with another layout. In each output, `--errors`
compared elements are changed, one at a time. The size of an error is a multiple of the element's uncertainty (envelope
+ |eager - truth| + ULPS ulps, the term that C multiplies), and in a second series a multiple of its envelope alone.
Prints the detected shares for each dtype.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
from collections import Counter
from pathlib import Path

import numpy as np

from fuzzer.evaluation.false_alarms import FalseAlarmOptions, each_result
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import HONEST_LANES, TORCH
from generators.graph import Case, holds_floats
from oracles.against_torch import comparable_results, judge
from oracles.outcome import Ran, Result
from oracles.reference import Expected, expected, rounded_to
from oracles.tolerance import mismatch, uncertainty

LANES = "torch-layout,onnxruntime-all"


class Errors:
    def __init__(self, times: float, per_output: int, seed: int) -> None:
        self.times, self.per_output = times, per_output
        self._rng = np.random.default_rng(seed)
        self.planted: Counter[tuple[str, str]] = Counter()
        self.detected: Counter[tuple[str, str]] = Counter()

    def add_result(self, number: int, case: Case, result: Result) -> None:
        right = expected(result.outcomes)
        if right is None:
            return
        good = comparable_results(result.outcomes)
        for lane, outcome in result.outcomes.items():
            right_lane = lane is TORCH or (lane in HONEST_LANES and lane in good)
            if isinstance(outcome, Ran) and right_lane and judge(outcome.outputs, right) is None:
                for index, (actual, want) in enumerate(zip(outcome.outputs, right, strict=True)):
                    if holds_floats(actual):
                        self._plant(index, actual, want)

    def _plant(self, index: int, actual: np.ndarray, want: Expected) -> None:
        sizes = {"uncertainty": uncertainty(want), "envelope": want.envelope}
        finite = np.isfinite(want.eager.astype(np.float64)) & np.isfinite(rounded_to(want.truth, want.eager.dtype))
        for kind, size in sizes.items():
            places = np.flatnonzero(finite & ~want.ill & (size > 0))
            for place in self._rng.permutation(places)[: self.per_output]:
                wrong = np.array(actual)
                sign = self._rng.choice((-1.0, 1.0))
                with np.errstate(over="ignore"):
                    wrong.flat[place] = float(wrong.flat[place]) + sign * self.times * size.flat[place]
                self.planted[kind, str(actual.dtype)] += 1
                self.detected[kind, str(actual.dtype)] += mismatch(index, wrong, want) is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=200)
    parser.add_argument("--times", type=float, default=3.0, help="the size of an error in uncertainties")
    parser.add_argument("--errors", type=int, default=8, help="errors in each output")
    arguments = parser.parse_args()
    errors = Errors(arguments.times, arguments.errors, arguments.seed)
    with Executor(Path(tempfile.mkdtemp(prefix="difftvm-"))) as executor:
        each_result(
            executor,
            FalseAlarmOptions(arguments.cases, arguments.seed, lanes=LANES),
            errors.add_result,
            threading.Event(),
        )
    for kind in ("uncertainty", "envelope"):
        for (unit, dtype), count in sorted(errors.planted.items()):
            if unit == kind:
                share = errors.detected[unit, dtype] / count
                print(f"{arguments.times:g} x {kind:11} {dtype:9} {count:7} errors, {100 * share:6.2f} % detected")
        planted, detected = (
            sum(n for (unit, _), n in c.items() if unit == kind) for c in (errors.planted, errors.detected)
        )
        print(
            f"{arguments.times:g} x {kind:11} {'all':9} {planted:7} errors, "
            f"{100 * detected / max(planted, 1):6.2f} % detected"
        )


if __name__ == "__main__":
    main()
