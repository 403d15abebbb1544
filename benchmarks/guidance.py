"""Compare random and guided campaigns at equal CPU time: distinct failures and features over time, for each seed.

    python benchmarks/guidance.py [--seeds 5] [--cpu 200] [--first 1] [--arms random,guided] [--jobs 1]

All arms run the default mix over the same lanes, without triage. Failures with different coarse signatures are
distinct. Wrong results have no message: one is distinct if its case does not contain all operators of another.
`novelty` is guidance that ignores which operators stop an importer; `hazards` ignores which features were observed;
`even` treats all dtypes alike. Prints a line for each seed and arm with the figures after each fifth of the time, then
medians with minimum and maximum, and the ratios for each seed.
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

from fuzzer.campaign.cases.cases import Cases, random_cases
from fuzzer.campaign.cases.failure_rates import FailureRates, Typed
from fuzzer.campaign.cases.guidance import YIELD, Guidance
from fuzzer.campaign.lanes.lane_chooser import LaneChooser
from fuzzer.campaign.lanes.name_counts import Counts
from fuzzer.campaign.plan.settings import DRAWN, LaneMix, Settings
from fuzzer.campaign.store.features import features_of, of_case
from fuzzer.campaign.test.tiers import run_test
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import OFTEN, SAMPLED_LANES, SCREENING
from fuzzer.signature import Signature, known, signature_of
from generators.graph import Case
from oracles.finding import Component, Finding
from oracles.judge import judge_all
from oracles.lane import Importer

STEPS = 5


@dataclass
class Found:
    """What an arm found: failures of TVM with a message, and minimal sets of operators of those without one."""

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
    """The signatures of failures of TVM that are not known behaviour."""
    signatures = [signature_of(finding) for finding in found if finding.component is Component.TVM]
    return tuple(signature for signature in signatures if not known.match(signature))


class Careless(FailureRates):
    """Failure rates that let every importer pass."""

    def passable(self, route: Importer, operators: Collection[Typed]) -> float:
        return 1.0


class Forgetful(Counts):
    """Counts that remember nothing."""

    def __getitem__(self, name: str) -> int:
        return 0


ARMS: dict[str, Callable[[Settings, int], Guidance | None]] = {
    "random": lambda settings, seed: None,
    "guided": Guidance,
    "novelty": lambda settings, seed: Guidance(settings, seed, failure_rates=Careless()),
    "hazards": lambda settings, seed: Guidance(settings, seed, counts=Forgetful()),
    "even": lambda settings, seed: Guidance(settings, seed, yields=dict.fromkeys(YIELD, 1.0)),
}

Point = tuple[int, int, int, int]
"""Tests, distinct failures, those of them with a message, features."""

FIGURES = ("tests", "distinct failures", "with a message", "features")


def curve_of(name: str, seed: int, cpu: float) -> list[Point]:
    """The figures after each fifth of the CPU time."""
    with tempfile.TemporaryDirectory(prefix="difftvm-") as folder:
        return curve_in(Path(folder), name, seed, cpu)


def curve_in(folder: Path, name: str, seed: int, cpu: float) -> list[Point]:
    settings = Settings(folder, seed, MIX, guided=name != "random")
    guidance = ARMS[name](settings, seed)
    return curve_of_cases(settings, guidance.case if guidance else random_cases(settings, seed), guidance, cpu)


MIX = LaneMix(SCREENING, SAMPLED_LANES, OFTEN, DRAWN, steered=True)


def curve_of_cases(settings: Settings, draw: Cases, guidance: Guidance | None, cpu: float) -> list[Point]:
    """Run cases until the CPU seconds are used. Raise `RuntimeError` if there are too few cases."""
    seed, chooser = settings.seed, guidance.chooser if guidance else LaneChooser()
    found, curve = Found(), list[Point]()
    with Executor(settings.campaign / "scratch") as executor:
        warm, began, index = executor.cpu_seconds, time.process_time(), 0
        while len(curve) < STEPS:
            case = draw(index)
            if case is None:
                raise RuntimeError(f"all {index} cases have run")
            result = run_test(executor.run, settings, seed, index, case, chooser).result
            findings = tuple(judge_all(case, result.outcomes))
            features = features_of(result.outcomes, findings) | frozenset(of_case(case.graph))
            found.add(case, failures_of(findings), features)
            if guidance:
                guidance.learn(index, case, result.outcomes, findings)
            else:
                chooser.learn(case, findings)
            index += 1
            spent = executor.cpu_seconds - warm + time.process_time() - began
            if spent >= cpu * (len(curve) + 1) / STEPS:
                curve.append((found.tests, found.distinct, len(found.failures), len(found.features)))
    return curve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--cpu", type=float, default=200.0)
    parser.add_argument("--arms", default="random,guided")
    parser.add_argument("--jobs", type=int, default=1, help="arms at the same time; at most one for each core")
    arguments = parser.parse_args()
    arms, seeds = arguments.arms.split(","), range(arguments.first, arguments.first + arguments.seeds)
    with ProcessPoolExecutor(arguments.jobs, get_context("spawn")) as pool:
        running = {(name, seed): pool.submit(curve_of, name, seed, arguments.cpu) for seed in seeds for name in arms}
        curves = {}
        for (name, seed), future in running.items():
            curves[name, seed] = future.result()
            print(f"seed {seed} {name:8} {'  '.join(map(str, curves[name, seed]))}", flush=True)
    print(f"\nmedians of {len(seeds)} seeds (and extremes), after each fifth of {arguments.cpu:g} CPU seconds")
    for place, what in enumerate(FIGURES):
        for name in arms:
            fifths = [[curves[name, seed][step][place] for seed in seeds] for step in range(STEPS)]
            values = "  ".join(f"{statistics.median(each):g} ({min(each)} to {max(each)})" for each in fifths)
            print(f"{what:18} {name:8} {values}")
    for place, what in enumerate(FIGURES):
        for name in arms[1:]:
            ratios = sorted(curves[name, seed][-1][place] / curves[arms[0], seed][-1][place] for seed in seeds)
            values = ", ".join(f"{ratio:.2f}" for ratio in ratios)
            print(f"{what:18} {name} / {arms[0]}: median {statistics.median(ratios):.2f}; {values}")


if __name__ == "__main__":
    main()
