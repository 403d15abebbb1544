"""What share of small lies is caught: one element of an honest result is moved by a few uncertainties, up or down.

    python benchmarks/small_lies.py [--cases 300] [--seed 200] [--times 3]

Lies are told about elements that are compared, in results of eager PyTorch and of onnxruntime and PyTorch on another
layout, as many as `--lies` per output, each alone. Their size is taken once from the uncertainty of the element, which
is what C multiplies (envelope + |eager - truth| + ULPS ulps), and once from the envelope alone, where there is one.
Prints the shares that are caught, by dtype.
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


class Lies:
    def __init__(self, times: float, per_output: int, seed: int) -> None:
        self.times, self.per_output = times, per_output
        self._rng = np.random.default_rng(seed)
        self.told: Counter[tuple[str, str]] = Counter()
        self.caught: Counter[tuple[str, str]] = Counter()

    def seen(self, number: int, case: Case, result: Result) -> None:
        right = expected(result.outcomes)
        if right is None:
            return
        good = comparable_results(result.outcomes)
        for lane, outcome in result.outcomes.items():
            honest = lane is TORCH or (lane in HONEST_LANES and lane in good)
            if isinstance(outcome, Ran) and honest and judge(outcome.outputs, right) is None:
                for index, (actual, want) in enumerate(zip(outcome.outputs, right, strict=True)):
                    if holds_floats(actual):
                        self._lie(index, actual, want)

    def _lie(self, index: int, actual: np.ndarray, want: Expected) -> None:
        sizes = {"uncertainty": uncertainty(want), "envelope": want.envelope}
        finite = np.isfinite(want.eager.astype(np.float64)) & np.isfinite(rounded_to(want.truth, want.eager.dtype))
        for kind, size in sizes.items():
            places = np.flatnonzero(finite & ~want.ill & (size > 0))
            for place in self._rng.permutation(places)[: self.per_output]:
                lie = np.array(actual)
                sign = self._rng.choice((-1.0, 1.0))
                with np.errstate(over="ignore"):
                    lie.flat[place] = float(lie.flat[place]) + sign * self.times * size.flat[place]
                self.told[kind, str(actual.dtype)] += 1
                self.caught[kind, str(actual.dtype)] += mismatch(index, lie, want) is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=200)
    parser.add_argument("--times", type=float, default=3.0, help="size of a lie in uncertainties")
    parser.add_argument("--lies", type=int, default=8, help="per output")
    arguments = parser.parse_args()
    lies = Lies(arguments.times, arguments.lies, arguments.seed)
    with Executor(Path(tempfile.mkdtemp(prefix="difftvm-"))) as executor:
        each_result(
            executor, FalseAlarmOptions(arguments.cases, arguments.seed, lanes=LANES), lies.seen, threading.Event()
        )
    for kind in ("uncertainty", "envelope"):
        for (of, dtype), told in sorted(lies.told.items()):
            if of == kind:
                share = lies.caught[of, dtype] / told
                print(f"{arguments.times:g} x {kind:11} {dtype:9} {told:7} lies, {100 * share:6.2f} % caught")
        told, caught = (sum(n for (of, _), n in c.items() if of == kind) for c in (lies.told, lies.caught))
        print(f"{arguments.times:g} x {kind:11} {'all':9} {told:7} lies, {100 * caught / max(told, 1):6.2f} % caught")


if __name__ == "__main__":
    main()
