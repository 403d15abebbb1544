"""Random against guided, at equal CPU time: distinct failures and features over time, seed by seed.

    python benchmarks/guidance.py [--seeds 5] [--cpu 200] [--first 1] [--arms random,guided] [--jobs 1]

All arms run the default mix over the same lanes, without triage: a failure counts by its coarse signature, and a wrong
result, which has no message, by the operators of the case that showed it, unless those of another are among them.
`novelty` is guidance that takes no notice of what stops roads, `hazards` guidance that takes none of what was seen,
`even` guidance to which all dtypes are alike.
Prints a line for each seed and arm, at each fifth of the time; then medians with the extremes, and ratios by seed.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

from fuzzer.campaign.cases import random_cases
from fuzzer.campaign.failure_rates import FailureRates, Typed
from fuzzer.campaign.features import features_of, of_case
from fuzzer.campaign.guidance import YIELD, Guidance
from fuzzer.campaign.lane_mix import lanes_of
from fuzzer.campaign.name_counts import Counts
from fuzzer.campaign.settings import DRAWN, LaneMix, Settings
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import OFTEN, SAMPLED_LANES, SCREENING
from fuzzer.signature import Signature, known, signature_of
from fuzzer.triage.reproduce import judged_run
from generators.graph import Case
from oracles import judge_all
from oracles.finding import Component, Finding
from oracles.lane import Importer

STEPS = 5


@dataclass
class Seen:
    """What an arm has met: failures of TVM's that have a message, sets of operators of those that have none."""

    failures: set[str] = field(default_factory=set)
    silent: dict[str, set[frozenset[str]]] = field(default_factory=dict)
    features: set[str] = field(default_factory=set)
    tests: int = 0

    @property
    def distinct(self) -> int:
        return len(self.failures) + sum(map(len, self.silent.values()))

    def add(self, case: Case, failures: Iterable[Signature], features: frozenset[str]) -> None:
        self.tests += 1
        self.features |= features
        for signature in failures:
            if not signature.needs_ops:
                self.failures.add(signature.id)
                continue
            ops, others = frozenset(case.graph.ops), self.silent.setdefault(signature.id, set())
            if not any(other <= ops for other in others):
                self.silent[signature.id] = {other for other in others if not ops <= other} | {ops}


def failures_of(found: Iterable[Finding]) -> tuple[Signature, ...]:
    """TVM's, that are not known behaviour."""
    signatures = [signature_of(finding) for finding in found if finding.component is Component.TVM]
    return tuple(signature for signature in signatures if not known.match(signature))


class Careless(FailureRates):
    """Nothing stops a road."""

    def passable(self, road: Importer, operators: Collection[Typed]) -> float:
        return 1.0


class Forgetful(Counts):
    """Nothing was ever seen."""

    def __getitem__(self, name: str) -> int:
        return 0


ARMS: dict[str, Callable[[Settings, int], Guidance | None]] = {
    "random": lambda settings, seed: None,
    "guided": Guidance,
    "novelty": lambda settings, seed: Guidance(settings, seed, failure_rates=Careless()),
    "hazards": lambda settings, seed: Guidance(settings, seed, counts=Forgetful()),
    "even": lambda settings, seed: Guidance(settings, seed, yields=dict.fromkeys(YIELD, 1.0)),
}

Point = tuple[int, int, int]
"""Tests, distinct failures, features."""

WHAT = ("tests", "distinct failures", "features")


def curve_of(name: str, seed: int, cpu: float) -> list[Point]:
    """At each fifth of the CPU time."""
    with tempfile.TemporaryDirectory(prefix="difftvm-") as folder:
        return curve_in(Path(folder), name, seed, cpu)


def curve_in(folder: Path, name: str, seed: int, cpu: float) -> list[Point]:
    settings = Settings(folder, seed, LaneMix(SCREENING, SAMPLED_LANES, OFTEN, DRAWN, steered=True))
    guidance = ARMS[name](settings, seed)
    draw: Callable[[int], Case | None] = guidance.case if guidance else random_cases(settings, seed)
    seen, curve = Seen(), list[Point]()
    with Executor(folder / "scratch") as executor:
        warm, began, index = executor.cpu_seconds, time.process_time(), 0
        while len(curve) < STEPS:
            case = draw(index)
            assert case is not None, "neither ends"
            result = judged_run(executor.run, case, lanes_of(settings, seed, index, case))
            found = tuple(judge_all(case, result.outcomes))
            seen.add(case, failures_of(found), features_of(result.outcomes, found) | frozenset(of_case(case)))
            if guidance:
                guidance.learn(index, case, result.outcomes, found)
            index += 1
            spent = executor.cpu_seconds - warm + time.process_time() - began
            if spent >= cpu * (len(curve) + 1) / STEPS:
                curve.append((seen.tests, seen.distinct, len(seen.features)))
    return curve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--cpu", type=float, default=200.0)
    parser.add_argument("--arms", default="random,guided")
    parser.add_argument("--jobs", type=int, default=1, help="arms at a time; one more than there are cores is unfair")
    asked = parser.parse_args()
    arms, seeds = asked.arms.split(","), range(asked.first, asked.first + asked.seeds)
    with ProcessPoolExecutor(asked.jobs, get_context("spawn")) as pool:
        running = {(name, seed): pool.submit(curve_of, name, seed, asked.cpu) for seed in seeds for name in arms}
        curves = {}
        for (name, seed), future in running.items():
            curves[name, seed] = future.result()
            print(f"seed {seed} {name:8} {'  '.join(map(str, curves[name, seed]))}", flush=True)
    print(f"\nmedians of {len(seeds)} seeds (and extremes), after each fifth of {asked.cpu:g} CPU seconds")
    for place, what in enumerate(WHAT):
        for name in arms:
            fifths = [[curves[name, seed][step][place] for seed in seeds] for step in range(STEPS)]
            told = "  ".join(f"{statistics.median(each):g} ({min(each)} to {max(each)})" for each in fifths)
            print(f"{what:18} {name:8} {told}")
    for place, what in enumerate(WHAT):
        for name in arms[1:]:
            ratios = sorted(curves[name, seed][-1][place] / curves[arms[0], seed][-1][place] for seed in seeds)
            told = ", ".join(f"{ratio:.2f}" for ratio in ratios)
            print(f"{what:18} {name} / {arms[0]}: {statistics.median(ratios):.2f} in the median; {told}")


if __name__ == "__main__":
    main()
