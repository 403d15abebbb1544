"""Measure how small reduction makes findings, and what it costs: operators, calls of the predicate, CPU seconds.

    python benchmarks/reduction.py [--bugs 60] [--seed 1] [--nodes 20] [--jobs 2]
    python benchmarks/reduction.py --real 60 [--seed 1]

Without --real, bugs are planted: in a random graph of 20 operators, one operator gives wrong numbers, raises or dies,
in a lane that otherwise runs PyTorch (`planted_fault.py`). With --real N, the bugs are TVM's failures in N random
tests, whose lanes are chosen as in a campaign. Each bug is confirmed, reduced and named as in a campaign. The largest
results are printed last, before the figures.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from fuzzer.campaign.cases.cases import random_cases
from fuzzer.campaign.lanes.lane_chooser import LaneChooser
from fuzzer.campaign.plan.settings import DRAWN, LaneMix, Settings
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.test.judging import judged
from fuzzer.campaign.test.tiers import run_test
from fuzzer.isolate.fleet import Fleet, Runner
from fuzzer.lanes import OFTEN, SAMPLED_LANES, SCREENING
from fuzzer.toolchains.preload import read
from fuzzer.toolchains.toolchain import HOST
from fuzzer.triage.investigate import Investigated, Sighting, confirm_and_reduce, sightings
from fuzzer.triage.reproduce import judged_by, judged_run
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Case, Invalid
from generators.torch.random_graph import generate
from oracles.finding import Component, Kind
from oracles.judge import judge_all
from oracles.lane import Engine, LaneSpec

HOW = {"wrong": Kind.WRONG_VALUE, "raise": Kind.INTERNAL_ERROR, "die": Kind.DIED}
FAULTS = Path(__file__).with_name("planted_fault.py")
Found = tuple[str, Case, Sighting]
"""The name of a bug, a case that shows it, and its sighting."""


@dataclass(frozen=True)
class ReducedBug:
    name: str
    before: int
    after: int
    calls: int
    cpu: float
    finished: bool
    flaky: bool
    left: str

    def __str__(self) -> str:
        marks = f"{'' if self.finished else ' UNFINISHED'}{' FLAKY' if self.flaky else ''}"
        cost = f"{self.before:3} -> {self.after:2} ops {self.calls:4} calls {self.cpu:6.1f} s"
        return f"{cost}  {self.name}: {self.left}{marks}"


def planted(fleet: Runner, seed: int, count: int, nodes: int) -> Iterator[Found]:
    """Yield bugs of different operators, each kind in turn. A fault that does not change the outputs is left out."""
    used: set[str] = set()
    index = 0
    while len(used) < count:
        index += 1
        source = NumpySource(seed, index)
        try:
            case = generate(source, Limits(max_nodes=nodes, min_nodes=nodes), symbolic=False, origin=f"{seed} {index}")
        except Invalid:
            continue
        fresh = [node.op for node in case.graph.nodes if node.op not in used]
        if not fresh or len(case.graph.nodes) < nodes:
            continue
        op, how = source.choice(fresh), list(HOW)[len(used) % len(HOW)]
        lane = LaneSpec(f"planted-{how}-{op}", Engine.FAULTY, variant=f"{how} {op}")
        outcomes = judged_run(fleet.run, case, judged_by(lane)).outcomes
        for sighting in sightings(f for f in judge_all(case, outcomes) if f.lane == lane and f.kind is HOW[how]):
            used.add(op)
            yield f"{how} {op}", case, sighting


def real(fleet: Runner, seed: int, tests: int) -> Iterator[Found]:
    """Yield the failures of random tests in both tiers that a campaign investigates, one for each signature."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder), seed) as store:
        mix = LaneMix(SCREENING, SAMPLED_LANES, OFTEN, DRAWN, steered=True)
        settings, chooser = Settings(Path(folder), seed, mix, guided=True), LaneChooser()
        draw = random_cases(settings, seed)
        for index in range(tests):
            case = draw(index)
            assert case is not None, "random cases do not end"
            result = run_test(fleet.run, settings, seed, index, case, chooser).result
            _, found = judged(fleet.run_fresh, case, result)
            chooser.learn(case, found)
            for sighting in sightings(found):
                if sighting.signature.component is Component.TVM and store.claim(case, sighting):
                    yield f"test {index} {sighting.signature.kind} {sighting.finding.lane.name}", case, sighting


def measured(fleet: Fleet, found: Found) -> ReducedBug:
    name, case, sighting = found
    confirmed = confirm_and_reduce(fleet, case, sighting)
    calls = confirmed.reduction.calls if confirmed.reduction else 0
    finished = confirmed.reduction.finished if confirmed.reduction else True
    before, after = len(case.graph.nodes), len(confirmed.case.graph.nodes)
    return ReducedBug(name, before, after, calls, confirmed.cpu_seconds, finished, confirmed.flaky, _text(confirmed))


def _text(found: Investigated) -> str:
    graph = found.case.graph
    inputs = ", ".join(f"{item.value.type}" for item in graph.inputs)
    nodes = "; ".join(f"{node.op}{dict(node.attrs) or ''}" for node in graph.nodes)
    return f"{inputs} | {nodes}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bugs", type=int, default=60, help="the number of planted bugs")
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", type=int, default=0, metavar="N", help="instead: the bugs of TVM in N tests")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    toolchain = replace(HOST, preload=read(FAULTS))
    find: Callable[[Fleet], Iterator[Found]] = (
        (lambda fleet: real(fleet, arguments.seed, arguments.real))
        if arguments.real
        else (lambda fleet: planted(fleet, arguments.seed, arguments.bugs, arguments.nodes))
    )
    with (
        Fleet(Path(tempfile.mkdtemp(prefix="difftvm-")), lambda name: toolchain) as fleet,
        ThreadPoolExecutor(arguments.jobs) as pool,
    ):
        rows = list(pool.map(lambda found: measured(fleet, found), find(fleet)))
    for row in sorted(rows, key=lambda row: (row.after, row.calls, row.name)):
        print(row)
    for what, numbers in (
        ("operators", [row.after for row in rows]),
        ("calls", [row.calls for row in rows]),
        ("CPU seconds", [row.cpu for row in rows]),
    ):
        ordered = sorted(numbers)
        print(
            f"{what:12} median {statistics.median(ordered):6.1f}  mean {statistics.mean(ordered):6.1f}"
            f"  90 % up to {ordered[int(0.9 * (len(ordered) - 1))]:6.1f}  at most {ordered[-1]:6.1f}"
        )
    unfinished, flaky = sum(not row.finished for row in rows), sum(row.flaky for row in rows)
    print(f"{len(rows)} bugs; {unfinished} not finished, {flaky} flaky")


if __name__ == "__main__":
    main()
