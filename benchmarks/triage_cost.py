"""Measure what triage costs: CPU seconds of each step.

    python benchmarks/triage_cost.py [--tests 60] [--seed 1] [--most 40]
    python benchmarks/triage_cost.py --campaign DIR

Without --campaign, some tests run first. Then one failure of each coarse signature is investigated as in a campaign,
one after the other. Findings with a message and findings without one are summed up apart. With --campaign, print what
the steps of the triage of a campaign have cost. CPU seconds are those of the children.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reduction import Found, real

from fuzzer.campaign.store import state
from fuzzer.isolate.fleet import Fleet
from fuzzer.report.own_script import with_own_script
from fuzzer.toolchains.registry import find
from fuzzer.triage.investigate import Investigated, investigate
from fuzzer.triage.metered import CostBySteps, MeteredLab, Step
from generators.graph import Invalid


@dataclass(frozen=True)
class Cost:
    """What one investigation ended with, and what it cost by step."""

    name: str
    before: int
    found: Investigated
    by_step: CostBySteps

    @property
    def total(self) -> float:
        return sum(self.by_step.values())

    def __str__(self) -> str:
        steps = " ".join(f"{step} {seconds:.2f}" for step, seconds in self.by_step.items())
        after, flaky = len(self.found.case.graph.nodes), " FLAKY" if self.found.flaky else ""
        place = f"{'+'.join(self.found.case.graph.ops)} {self.found.blame.place} {self.found.blame.culprit}"
        return f"{self.total:6.2f} s  {self.before:2} -> {after} ops  {steps}  {self.name}: {place}{flaky}"


def cost_of(fleet: Fleet, found: Found) -> Cost:
    name, case, sighting = found
    lab = MeteredLab(fleet)
    confirmed = investigate(lab, case, sighting, lambda lane: (), lab.examine)
    lab.by_step.update(confirmed.costs)
    with lab.during(Step.SCRIPT):
        confirmed = with_own_script(lab.run_script, confirmed, fleet.versions)
    return Cost(name, len(case.graph.nodes), confirmed, lab.by_step)


def of_investigations(seed: int, tests: int, most: int) -> None:
    with Fleet(Path(tempfile.mkdtemp(prefix="difftvm-")) / "scratch", find) as fleet:
        bugs = list(real(fleet, seed, tests))[:most]
        costs = []
        for found in bugs:
            costs.append(cost_of(fleet, found))
            print(costs[-1], flush=True)
    for what, message in (("with a message", True), ("without one", False)):
        print_summary(what, [cost for cost in costs if bool(cost.found.signature.error) is message])


def print_summary(what: str, costs: Sequence[Cost]) -> None:
    if not costs:
        return
    totals = [cost.total for cost in costs]
    operators = statistics.median(len(cost.found.case.graph.nodes) for cost in costs)
    medians = ((step, statistics.median(cost.by_step.get(step, 0.0) for cost in costs)) for step in Step)
    print(
        f"{len(costs)} {what}: median {statistics.median(totals):.2f} CPU s, mean {statistics.mean(totals):.2f}, "
        f"at most {max(totals):.2f}; operators {operators:g}; medians by step: "
        f"{', '.join(f'{step} {seconds:.2f}' for step, seconds in medians if seconds)}"
    )


def of_campaign(folder: Path) -> None:
    read = state.read(folder)
    if read is None:
        raise Invalid(f"{folder}: no campaign")
    counters, findings = read.counters, len(read.found)
    for step in Step:
        seconds = counters.triage_steps.get(step, 0.0)
        print(f"{step:10} {seconds:8.1f} CPU s  {seconds / max(findings, 1):6.2f} for each finding")
    total = sum(counters.triage_steps.values())
    print(f"{'all':10} {total:8.1f} CPU s  {total / max(findings, 1):6.2f} for each of {findings} findings")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=40, help="the most findings that are investigated")
    parser.add_argument("--campaign", type=Path, help="a campaign's directory")
    arguments = parser.parse_args()
    if arguments.campaign:
        of_campaign(arguments.campaign)
    else:
        of_investigations(arguments.seed, arguments.tests, arguments.most)


if __name__ == "__main__":
    main()
