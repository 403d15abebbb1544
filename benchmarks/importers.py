"""Compare the cases that expensive importers read with as many random cases: distinct operators with their dtypes.

    python benchmarks/importers.py [--tests 1000] [--seeds 3] [--first 1] [--random]

Nothing is compiled. Cases are drawn as a guided campaign draws them (with `--random`, at random), as if every importer
accepted them and nothing failed. The random cases stand for a fixed percentage: the mean of 100 draws of as many cases.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fuzzer.campaign.cases.guidance import Guidance
from fuzzer.campaign.lanes.importer_chooser import features
from fuzzer.campaign.plan.settings import DRAWN, LaneMix, Settings
from fuzzer.campaign.test.tier_lanes import expensive_importers
from fuzzer.lanes import OFTEN, SAMPLED_LANES, SCREENING
from generators.graph import Case
from oracles.importers import EXPENSIVE, Importer

DRAWS = 100
TIER_1_SECONDS = 0.2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--random", action="store_true", help="cases of a campaign without guidance")
    arguments = parser.parse_args()
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        with tempfile.TemporaryDirectory(prefix="difftvm-") as folder:
            compare(Path(folder), seed, arguments.tests, arguments.random)


def compare(folder: Path, seed: int, tests: int, at_random: bool) -> None:
    cases, read = campaign(folder, seed, tests, at_random)
    for importer, numbers in read.items():
        taken = [cases[number] for number in numbers]
        chosen = distinct(importer, taken)
        generator = random.Random(seed)
        draws = [distinct(importer, generator.sample(cases, len(numbers))) for _ in range(DRAWS)]
        mean = statistics.mean(draws)
        print(
            f"seed {seed} {importer:11} reads {len(numbers):3} of {tests} cases: {chosen} operators with a dtype; "
            f"as many random cases: {mean:.0f} ({min(draws)} to {max(draws)}); ratio {chosen / mean:.2f}; "
            f"{nodes(taken):.1f} nodes each, {nodes(cases):.1f} in all cases",
            flush=True,
        )


def campaign(folder: Path, seed: int, tests: int, at_random: bool) -> tuple[list[Case], dict[Importer, list[int]]]:
    """The cases of a campaign in which nothing fails, and by importer the numbers of those that it reads."""
    mix = LaneMix(SCREENING, SAMPLED_LANES, OFTEN, DRAWN, steered=True)
    settings = Settings(folder, seed, mix, guided=True)
    guidance = Guidance(settings, seed)
    cases, read = list[Case](), dict[Importer, list[int]]({importer: [] for importer in EXPENSIVE})
    for index in range(tests):
        case = guidance.case_source.random(index) if at_random else guidance.case(index)
        guidance.chooser.begin(TIER_1_SECONDS)
        for importer in expensive_importers(settings, seed, index, case, {}, guidance.chooser):
            read[importer].append(index)
        guidance.learn(index, case, {}, ())
        cases.append(case)
    return cases, read


def distinct(importer: Importer, cases: Sequence[Case]) -> int:
    """How many operators with a dtype the cases have."""
    found = (features(importer, case) for case in cases)
    return len({name for weights in found for name, weight in weights.items() if weight == 1})


def nodes(cases: Sequence[Case]) -> float:
    return statistics.mean(len(case.graph.nodes) for case in cases)


if __name__ == "__main__":
    main()
