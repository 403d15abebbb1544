"""Measure tier 1: where its CPU time goes, what it says of each importer, and where its evaluation is wrong.

    python benchmarks/evaluation.py [--tests 500] [--seed 900]

Runs tier 1 of random cases, and compiles the plain lane of each importer whose evaluated module differs from PyTorch.
Compiled code that agrees with PyTorch there shows a wrong definition in difftvm's table of meanings, and an evaluation
that raises an exception shows another mistake: there should be none of these. Prints how often the evaluation had no
result, and why. Exits with 1 if an evaluation was wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from fuzzer.campaign.cases.cases import random_cases
from fuzzer.campaign.lanes.lane_chooser import LaneChooser
from fuzzer.campaign.plan.settings import DRAWN, LaneMix, Settings
from fuzzer.campaign.test.tier_lanes import expensive_importers, tier_1
from fuzzer.campaign.test.tier_one import ImportVerdict, evaluation_disagrees, references, verdicts
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import OFTEN, SAMPLED_LANES, SCREENING, TORCH_LANES, plain_of
from oracles.outcome import Stage, facts_of

MOST_REASONS = 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=500)
    parser.add_argument("--seed", type=int, default=900)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="difftvm-") as folder:
        sys.exit(1 if measure(Path(folder), arguments.tests, arguments.seed) else 0)


def measure(folder: Path, tests: int, seed: int) -> int:
    """Print the figures. Return how many evaluations were wrong."""
    settings = Settings(folder, seed, LaneMix(SCREENING, SAMPLED_LANES, OFTEN, DRAWN, steered=True))
    draw, stages, seconds = random_cases(settings, seed), Counter[Stage](), 0.0
    verdict_counts, undefined, disagreements, confirmed = Counter[tuple[str, str]](), Counter[str](), 0, 0
    with Executor(folder / "scratch") as executor:
        for index in range(tests):
            case = draw(index)
            assert case is not None, "random cases do not end"
            imports = tier_1(settings, seed, index, case)
            for lanes in expensive_importers(settings, seed, index, case, {}, LaneChooser()).values():
                imports += lanes
            first = executor.run(case, tuple(dict.fromkeys((*TORCH_LANES, *references(imports), *imports))))
            seconds += first.cpu_seconds
            stages.update(first.stage_cpu)
            found = verdicts(first.outcomes)
            verdict_counts.update((lane.name, verdict.value) for lane, verdict in found.items())
            for lane in found:
                reasons = [name for name in facts_of(first.outcomes[lane]).behaviour if name.startswith("undefined ")]
                undefined.update(reason.removeprefix("undefined ") for reason in reasons)
            wrong = [plain_of(lane) for lane, verdict in found.items() if verdict is ImportVerdict.WRONG]
            outcomes = {**first.outcomes, **(executor.run(case, wrong).outcomes if wrong else {})}
            confirmed += len(wrong)
            for lane in evaluation_disagrees(first.outcomes, outcomes):
                disagreements += 1
                print(f"test {index} {lane}: the evaluation is wrong ({', '.join(case.graph.ops)})", flush=True)
    print(f"{1000 * seconds / tests:.0f} CPU ms per test")
    for stage, spent in [*stages.most_common(), ("processes", seconds - sum(stages.values()))]:
        print(f"  {stage:10} {1000 * spent / tests:7.1f} ms per test  {100 * spent / seconds:5.1f} %")
    for (name, verdict), count in sorted(verdict_counts.items()):
        print(f"  {count:5} {name} {verdict}")
    print(f"{sum(undefined.values())} evaluations without a result:")
    for reason, count in undefined.most_common(MOST_REASONS):
        print(f"  {count:5} {reason}")
    print(f"{confirmed} modules differ from PyTorch; {disagreements} evaluations are wrong")
    return disagreements


if __name__ == "__main__":
    main()
