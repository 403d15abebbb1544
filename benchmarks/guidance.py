"""Random against guided, at equal CPU time: distinct failures and features, seed by seed.

    python benchmarks/guidance.py [--seeds 5] [--cpu 120] [--first 1]

Both arms run the default mix over the same lanes, without triage: a failure counts by its coarse signature, and a wrong
result, which has no message, by the operators of the case that showed it, unless those of another are among them.
Prints a line for each seed and arm at each fifth of the time, then medians with the extremes, and the ratios by seed.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.campaign.features import features_of
from fuzzer.campaign.guidance import Guidance
from fuzzer.campaign.loop import random_cases
from fuzzer.campaign.mix import lanes_of
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import OFTEN, SAMPLED_LANES, SCREENING
from fuzzer.settings import DRAWN, Settings
from fuzzer.triage import known
from fuzzer.triage.reproduce import judged_run
from fuzzer.triage.signature import signature_of
from generators.graph import Case
from oracles import judge_all
from oracles.finding import Component, Finding

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

    def add(self, case: Case, found: Sequence[Finding], features: frozenset[str]) -> bool:
        """Whether a failure is new."""
        before = self.distinct
        self.tests += 1
        self.features |= features
        for finding in found:
            signature = signature_of(finding)
            if finding.component is not Component.TVM or known.match(signature):
                continue
            if not signature.needs_ops:
                self.failures.add(signature.id)
                continue
            ops, others = frozenset(case.graph.ops), self.silent.setdefault(signature.id, set())
            if not any(other <= ops for other in others):
                self.silent[signature.id] = {other for other in others if not ops <= other} | {ops}
        return self.distinct > before


def arm(seed: int, cpu: float, guided: bool, scratch: Path) -> list[tuple[int, int, int]]:
    """(tests, distinct failures, features) at each fifth of the CPU time."""
    settings = Settings(scratch, seed, SCREENING, SAMPLED_LANES, often=OFTEN, steered=True, drawn=DRAWN, guided=guided)
    guidance = Guidance(settings, seed) if guided else None
    draw: Callable[[int], Case | None] = guidance.case if guidance else random_cases(settings, seed)
    seen, curve = Seen(), []
    with Executor(scratch / "scratch") as executor:
        warm, began, index = executor.cpu_seconds, time.process_time(), 0
        while len(curve) < STEPS:
            case = draw(index)
            assert case is not None, "neither ends"
            result = judged_run(executor.run, case, lanes_of(settings, seed, index, case))
            found = tuple(judge_all(case, result.outcomes))
            features = features_of(case, result.outcomes, found)
            new = seen.add(case, found, features)
            if guidance:
                failed = any(finding.component is Component.TVM for finding in found)
                guidance.learn(index, case, features, failed=failed, found=new)
            index += 1
            spent = executor.cpu_seconds - warm + time.process_time() - began
            if spent >= cpu * (len(curve) + 1) / STEPS:
                curve.append((seen.tests, seen.distinct, len(seen.features)))
    return curve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--cpu", type=float, default=120.0)
    arguments = parser.parse_args()
    ends: dict[bool, list[tuple[int, int, int]]] = {False: [], True: []}
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        for guided in (False, True):
            scratch = Path(tempfile.mkdtemp(prefix="difftvm-"))
            curve = arm(seed, arguments.cpu, guided, scratch)
            ends[guided].append(curve[-1])
            name = "guided" if guided else "random"
            print(f"seed {seed} {name}  (tests, failures, features): {'  '.join(map(str, curve))}", flush=True)
    for place, what in enumerate(("tests", "distinct failures", "features")):
        for guided in (False, True):
            values = [end[place] for end in ends[guided]]
            told = f"median {statistics.median(values):g} ({min(values)} to {max(values)})"
            print(f"{what}, {'guided' if guided else 'random'}: {told}")
        ratios = sorted(g[place] / max(1, r[place]) for r, g in zip(ends[False], ends[True], strict=True))
        print(f"{what}, guided / random by seed: {', '.join(f'{ratio:.2f}' for ratio in ratios)}")


if __name__ == "__main__":
    main()
