"""What the references of cases of ONNX cost, and how often the two readers disagree.

    python benchmarks/onnx_references.py --count 200 --seed 1 --show 3

For random cases it prints the CPU milliseconds of each reference and of all four, the share of elements that are not
compared, and the cases in which the witness does not agree with onnxruntime, with the worst element.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import defaultdict

import numpy as np

from fuzzer.lanes import ONNX_LANES, ONNX_WITNESS
from fuzzer.lanes.base.prepared_case import PreparedCase, Quiet
from fuzzer.lanes.runners import runner_of
from generators.choice import NumpySource
from generators.graph import Case
from generators.onnx.random_graph import generate
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Raised, Stage
from oracles.reference import expected, witnesses_disagree


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=5, help="how many disagreements are printed")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    spent: dict[str, list[float]] = defaultdict(list)
    elements = ill = disputed = without = 0
    for number in range(-1, arguments.count):  # the first case loads what all cases share
        source = NumpySource(arguments.seed, number + 1)
        case = source.choice(generate(source, origin=f"seed {arguments.seed} test {number + 1}").instances())
        outcomes, times = run(case)
        if number < 0:
            continue
        for name, seconds in (*times.items(), ("all", sum(times.values()))):
            spent[name].append(1000 * seconds)
        right = expected(outcomes)
        if right is not None:
            elements += sum(each.eager.size for each in right)
            ill += sum(int(each.ill.sum()) for each in right)
        elif witnesses_disagree(outcomes):
            disputed += 1
            if disputed <= arguments.show:
                print(f"-- {case.origin}, opset {case.graph.opset}, {case.profile}: {', '.join(case.graph.ops)}")
                print(f"   {outcomes[ONNX_WITNESS]}"[:300])
        else:
            without += 1
    print(f"{'CPU ms':16} {'median':>8} {'mean':>8} {'90 %':>8} {'most':>8}")
    for name, found in spent.items():
        print(
            f"{name:16} {np.median(found):8.1f} {np.mean(found):8.1f} {np.quantile(found, 0.9):8.1f} {max(found):8.1f}"
        )
    print(f"{arguments.count} cases: {disputed} disputed, {without} without another reference")
    print(f"{elements} elements, of which {100 * ill / max(elements, 1):.2f} % are not compared")
    return 0


def run(case: Case) -> tuple[dict[LaneSpec, Outcome], dict[str, float]]:
    """The outcomes of the references, and the CPU seconds of each."""
    prepared, step = PreparedCase(case, Quiet()), Quiet()
    outcomes: dict[LaneSpec, Outcome] = {}
    times = {}
    for lane in ONNX_LANES:
        began = time.thread_time()
        try:
            outcomes[lane] = runner_of(lane).run(prepared, lane, step)
        except Exception as error:
            outcomes[lane] = Raised(Stage.RUN, type(error).__name__, str(error))
        times[lane.name] = time.thread_time() - began
    return outcomes, times


if __name__ == "__main__":
    sys.exit(main())
