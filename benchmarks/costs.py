"""Measure the constants of guidance: what tests cost by nodes and lanes, which importers they use, what finds failures.

    python benchmarks/costs.py [--tests 400] [--seed 11]

Runs random tests of the default mix without triage. A least-squares fit of `CPU seconds = test + node * nodes + lane *
lanes that ended normally` gives TEST_SECONDS, NODE_SECONDS and LANES_SECONDS (for all lanes of a test) of
`fuzzer.campaign.cases.guidance`. For YIELD, the time of a test and its new failures of TVM are divided equally among
the dtypes that its operators read. Early tests find more new failures, so tables of runs of different lengths cannot be
compared.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from guidance import failures_of

from fuzzer.campaign.cases.cases import random_cases
from fuzzer.campaign.cases.failure_rates import typed_operators
from fuzzer.campaign.lanes.lane_chooser import TIER_1, TIER_2, LaneChooser, record_of
from fuzzer.campaign.plan.settings import DRAWN, LaneMix, Settings
from fuzzer.campaign.test.tiers import run_test
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import OFTEN, SAMPLED_LANES, SCREENING
from generators.graph import Case
from oracles.finding import Finding
from oracles.importers import EXPENSIVE
from oracles.judge import judge_all
from oracles.lane import Engine
from oracles.outcome import Built, Ran

WARM = 5
"""Tests that are not counted, because the first children of a zygote cost more."""


@dataclass
class Yields:
    """New failures, CPU seconds and nodes of each dtype."""

    new: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    nodes: Counter[str] = field(default_factory=Counter)
    _failures: set[str] = field(default_factory=set)

    def add(self, case: Case, found: Iterable[Finding], seconds: float) -> None:
        new = {signature.id for signature in failures_of(found)} - self._failures
        self._failures |= new
        dtypes = [typed.dtype for typed in typed_operators(case.graph)]
        for dtype in dtypes:
            self.new[dtype] += len(new) / len(dtypes)
            self.seconds[dtype] += seconds / len(dtypes)
            self.nodes[dtype] += 1

    def print(self) -> None:
        print(f"{len(self._failures)} failures; new ones per CPU second:")
        for dtype, nodes in self.nodes.most_common():
            print(f"  {dtype:10} {self.new[dtype] / self.seconds[dtype]:.2f}  ({nodes} nodes)")


def tier_line(chooser: LaneChooser, tier: str) -> str:
    """What a tier cost and found in all tests, with the first ones."""
    record = chooser.records.of(tier)
    each, rate = 1000 * record.seconds / chooser.tests, record.found / max(record.seconds, 1e-9)
    return f"{tier}: {each:.0f} CPU ms per test, {rate:.2f} new failures per CPU second"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=400)
    parser.add_argument("--seed", type=int, default=11)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="difftvm-") as folder:
        measure(Path(folder), arguments)


def measure(folder: Path, arguments: argparse.Namespace) -> None:
    mix = LaneMix(SCREENING, SAMPLED_LANES, OFTEN, DRAWN, steered=True)
    settings, chooser = Settings(folder, arguments.seed, mix, guided=True), LaneChooser()
    draw, rows, spent, importers = random_cases(settings, arguments.seed), [], [], Counter[str]()
    yields = Yields()
    with Executor(folder / "scratch") as executor:
        for index in range(WARM + arguments.tests):
            case, before = draw(index), executor.cpu_seconds
            assert case is not None
            outcomes = run_test(executor.run, settings, arguments.seed, index, case, chooser).result.outcomes
            found = list(judge_all(case, outcomes))
            chooser.learn(case, found)
            tvm = {lane: outcome for lane, outcome in outcomes.items() if lane.engine is Engine.TVM}
            ended = sum(isinstance(outcome, Ran | Built) for outcome in tvm.values())
            if index >= WARM:
                rows.append((1.0, len(case.graph.nodes), ended, len(tvm)))
                spent.append(executor.cpu_seconds - before)
                yields.add(case, found, spent[-1])
                importers.update(lane.importer.route.value for lane in tvm)
    table = np.array(rows)
    fitted, (residual,), *_ = np.linalg.lstsq(table[:, :3], np.array(spent), rcond=None)
    test, node, lane = fitted
    error = np.sqrt(residual / (len(table) - 3) * np.diag(np.linalg.inv(table[:, :3].T @ table[:, :3])))
    each = float(table[:, 3].mean())
    ended_well = float(table[:, 2].mean())
    print(
        f"{arguments.tests} tests, {np.mean(spent):.2f} CPU s each; "
        f"{each:.1f} lanes of TVM, {ended_well:.1f} ended normally"
    )
    print(
        f"TEST_SECONDS {test:.2f} +- {error[0]:.2f}  NODE_SECONDS {node:.3f} +- {error[1]:.3f}  "
        f"LANES_SECONDS {lane * each:.2f} +- {error[2] * each:.2f} ({lane:.3f} each)"
    )
    names = (TIER_1, *map(record_of, EXPENSIVE), TIER_2)
    print(*(tier_line(chooser, name) for name in names), sep="\n")
    yields.print()
    print(
        "importers: "
        + ", ".join(f"{importer} {count / importers.total():.2f}" for importer, count in importers.most_common())
    )


if __name__ == "__main__":
    main()
