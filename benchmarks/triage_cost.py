"""Measure what an investigation costs: CPU seconds and runs of each step, for the failures of TVM's in some tests.

    python benchmarks/triage_cost.py [--tests 60] [--seed 1] [--most 40] [--save FILE]

The tests run first, then one failure of each coarse signature is investigated as in a campaign, one after the other.
CPU seconds are those of the children, the zygote and this process. Findings with a message and findings without one
are summed up apart.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reduction import Found, real

from fuzzer.isolate.executor import Executor
from fuzzer.report.own_script import with_own_script
from fuzzer.triage import investigate as investigation
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Result

STEPS = {"located": "locate", "reproduces": "confirm", "reduce": "reduce", "name_failure": "name", "blame": "blame"}
"""Functions that `investigate` calls, and the names of the steps."""


@dataclass
class Cost:
    """What one investigation cost, by step."""

    name: str
    message: bool
    before: int
    after: int = 0
    blame: str = ""
    flaky: bool = False
    script: str = ""
    cpu: Counter[str] = field(default_factory=Counter)
    runs: Counter[str] = field(default_factory=Counter)
    fresh: int = 0

    @property
    def total(self) -> float:
        return sum(self.cpu.values())

    def __str__(self) -> str:
        cpu = " ".join(f"{step} {seconds:.2f}" for step, seconds in self.cpu.items())
        runs = f"{sum(self.runs.values())} runs ({self.fresh} fresh)"
        flaky = " FLAKY" if self.flaky else ""
        return (
            f"{self.total:6.2f} s  {self.before:2} -> {self.after} ops  {runs}  {cpu}  {self.name}: {self.blame}{flaky}"
        )


class Meter:
    """Runs lanes, and adds CPU seconds and runs to the step that asks for them."""

    def __init__(self, executor: Executor) -> None:
        self._executor, self.step, self.cost = executor, "other", Cost("", False, 0)
        self._since = self._cpu()

    def _cpu(self) -> float:
        return self._executor.cpu_seconds + time.process_time()

    def begin(self, cost: Cost) -> None:
        self.cost, self.step, self._since = cost, "other", self._cpu()

    def flush(self) -> None:
        now = self._cpu()
        self.cost.cpu[self.step] += now - self._since  # type: ignore[assignment]
        self._since = now

    @contextmanager
    def during(self, step: str) -> Iterator[None]:
        self.flush()
        outer, self.step = self.step, step
        try:
            yield
        finally:
            self.flush()
            self.step = outer

    def run(self, case: Case, lanes: Sequence[LaneSpec], *more: Any) -> Result:
        self.cost.runs[self.step] += 1
        return self._executor.run(case, lanes, *more)

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec], *more: Any) -> Result:
        self.cost.runs[self.step] += 1
        self.cost.fresh += 1
        return self._executor.run_fresh(case, lanes, *more)

    def run_script(self, source: str, lane: LaneSpec) -> Any:
        return self._executor.run_script(source)


def counted(meter: Meter, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        with meter.during(step):
            return function(*arguments, **named)

    return call


def cost_of(meter: Meter, executor: Executor, found: Found) -> Cost:
    name, case, sighting = found
    cost = Cost(name, bool(sighting.signature.error), len(case.graph.nodes))
    meter.begin(cost)
    confirmed = investigation.investigate(meter, case, sighting, lambda lane: (), executor.examine)
    with meter.during("script"):
        confirmed = with_own_script(meter, confirmed, executor.versions)
    meter.flush()
    cost.after, cost.flaky = len(confirmed.case.graph.nodes), confirmed.flaky
    cost.blame = f"{'+'.join(confirmed.case.graph.ops)} {confirmed.blame.place} {confirmed.blame.culprit}"
    cost.script = str(confirmed.script)
    return cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=40, help="the most findings that are investigated")
    parser.add_argument("--save", type=Path, help="write the figures as JSON here")
    arguments = parser.parse_args()
    with Executor(Path(tempfile.mkdtemp(prefix="difftvm-"))) as executor:
        bugs = list(real(executor, arguments.seed, arguments.tests))[: arguments.most]
        meter = Meter(executor)
        for function, step in STEPS.items():
            setattr(investigation, function, counted(meter, step, getattr(investigation, function)))
        costs = []
        for found in bugs:
            costs.append(cost_of(meter, executor, found))
            print(costs[-1], flush=True)
            if arguments.save:
                arguments.save.write_text(json.dumps([vars(cost) for cost in costs], indent=1))
    for what, some in (
        ("with a message", [cost for cost in costs if cost.message]),
        ("without one", [cost for cost in costs if not cost.message]),
    ):
        print_summary(what, some)


def print_summary(what: str, costs: Sequence[Cost]) -> None:
    if not costs:
        return
    totals = sorted(cost.total for cost in costs)
    runs = [sum(cost.runs.values()) for cost in costs]
    steps = sorted({step for cost in costs for step in cost.cpu})
    operators = statistics.median(cost.after for cost in costs)
    each = ", ".join(f"{step} {statistics.median(cost.cpu.get(step, 0.0) for cost in costs):.2f}" for step in steps)
    print(
        f"{len(costs)} {what}: median {statistics.median(totals):.2f} CPU s, mean {statistics.mean(totals):.2f}, "
        f"at most {totals[-1]:.2f}; {statistics.median(runs):.0f} runs; operators {operators};"
        f" medians by step: {each}"
    )


if __name__ == "__main__":
    main()
