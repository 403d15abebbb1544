"""Calibrate `slow` and `bloat`: what compilations need for their work, and how often these oracles object.

    python benchmarks/compile_work.py [--cases 500] [--seed 7]

Each random case is compiled in the lanes that a test without tiers takes, with two drawn ones, and as a shared library
after three pipelines. Prints, for all lane results together:

    constants  bytes of constants after all passes, without those that the imported module needs
    imported   bytes of constants in the imported module that the graph does not need
    code       code of a library, in multiples of the smallest other one of the same import
    seconds    CPU seconds for the work of a lane (`oracles.slow`), in multiples of the median of the others
    fit        the CPU seconds of a compilation, of a kernel and of a pass that fit best

with their smallest, 1 %, median, 99 % and largest values; then each objection of the two oracles. An objection that is
no bug is a false alarm. Exits with 1 if there was an objection.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np

from fuzzer.campaign.cases.cases import random_cases
from fuzzer.campaign.lanes.lane_mix import lanes_of
from fuzzer.campaign.plan.settings import DRAWN, LaneMix, Settings
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import EVERY_TVM_LANE, OFTEN, SAMPLED_LANES, SCREENING
from generators.graph import Case
from oracles.bloat import EMPTY_LIBRARY, bloat, foldable_bytes
from oracles.finding import Finding
from oracles.lane import LaneSpec, is_relax
from oracles.outcome import Built, Facts, Outcomes, Ran, facts_of
from oracles.slow import slow, work

QUANTILES = (0.0, 0.01, 0.5, 0.99, 1.0)
NAMED = {lane.name: lane for lane in EVERY_TVM_LANE}
LIBRARIES = tuple(
    replace(NAMED[f"relax-export-{name}"], name=f"relax-export-{name}-library", as_library=True)
    for name in ("llvm", "zero", "cpu")
)


def lanes(settings: Settings, index: int, case: Case) -> tuple[LaneSpec, ...]:
    chosen = [
        lane for lane in lanes_of(settings, settings.seed, index, case) if is_relax(lane) and lane.toolchain == "host"
    ]
    return tuple(dict.fromkeys((*chosen, *LIBRARIES)))


def compiled(outcomes: Outcomes) -> dict[LaneSpec, Facts]:
    """The facts of the lanes of Relax that compiled the case."""
    done = {lane: facts_of(outcome) for lane, outcome in outcomes.items() if isinstance(outcome, Ran | Built)}
    return {lane: facts for lane, facts in done.items() if facts.passes}


def multiples(values: Mapping[LaneSpec, float], least: float = 0.0) -> Iterator[float]:
    """Each value, divided by the median of the others that are larger than `least`."""
    for lane, value in values.items():
        others = [other for each, other in values.items() if each != lane and other > least]
        if others:
            yield value / median(others)


class Measured:
    """What all cases together gave, by name of the row."""

    def __init__(self) -> None:
        self.rows: dict[str, list[float]] = {name: [] for name in ("constants", "imported", "code", "seconds")}
        self.work: list[tuple[float, float, float, float]] = []
        self.objections: list[str] = []

    def add(self, index: int, case: Case, outcomes: Outcomes) -> None:
        facts = compiled(outcomes)
        for each in facts.values():
            needed = each.needed_bytes or 0
            self.rows["constants"].append(each.constant_bytes - needed)
            self.rows["imported"].append(each.constant_bytes - each.parameter_bytes - foldable_bytes(case))
            self.work.append((each.compile_seconds, 1.0, each.kernels, each.passes))
        plain = {lane: each for lane, each in facts.items() if lane.target == "llvm" and not lane.asserts}
        self.rows["seconds"] += multiples({lane: each.compile_seconds / work(each) for lane, each in plain.items()})
        code = {lane: facts[lane].built_bytes - facts[lane].constant_bytes for lane in LIBRARIES if lane in facts}
        self.rows["code"] += multiples({lane: max(0, size - EMPTY_LIBRARY) for lane, size in code.items()}, 4096)
        self.objections += [self._line(index, case, found) for found in (*bloat(case, outcomes), *slow(case, outcomes))]

    def _line(self, index: int, case: Case, found: Finding) -> str:
        return f"case {index} {found.lane}: {found.evidence} ({', '.join(case.graph.ops)})"

    def report(self) -> list[str]:
        lines = [f"{len(self.work)} compilations; {', '.join(f'{each:.0%}' for each in QUANTILES)}:"]
        for name, values in self.rows.items():
            numbers = np.quantile(values, QUANTILES) if values else []
            lines.append(f"  {name:10} {'  '.join(f'{number:10.2f}' for number in numbers)}  ({len(values)})")
        return [*lines, f"  fit        {'  '.join(f'{number:.5f}' for number in fit(self.work))}", *self.objections]


def fit(rows: Sequence[tuple[float, float, float, float]]) -> Sequence[float]:
    """The weights of once, kernels and passes with the smallest relative error, by least squares."""
    table = np.array(rows)
    weights: Sequence[float] = np.linalg.lstsq(table[:, 1:] / table[:, :1], np.ones(len(table)), rcond=None)[0]
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    measured = Measured()
    with tempfile.TemporaryDirectory(prefix="difftvm-") as folder, Executor(Path(folder) / "scratch") as executor:
        mix = LaneMix(SCREENING, SAMPLED_LANES, OFTEN, DRAWN, steered=True)
        settings = Settings(Path(folder), arguments.seed, mix)
        draw = random_cases(settings, arguments.seed)
        for index in range(arguments.cases):
            case = draw(index)
            assert case is not None, "random cases do not end"
            measured.add(index, case, executor.run(case, lanes(settings, index, case)).outcomes)
            if sys.stderr.isatty():
                print(f"\r{index + 1} of {arguments.cases} cases", end="", file=sys.stderr, flush=True)
    print(*measured.report(), sep="\n")
    sys.exit(1 if measured.objections else 0)


if __name__ == "__main__":
    main()
