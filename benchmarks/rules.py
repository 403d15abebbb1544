"""Compare rules of guidance on recorded tests: which rule orders them best? It takes seconds, a campaign takes hours.

    python benchmarks/rules.py record FILE [--tests 1000] [--seed 101]
    python benchmarks/rules.py replay FILE ... [--share 0.2] [--orders 6] [--arms guided,even,novelty,hazards]

`record` runs random tests of the default mix without triage, and writes what a rule learns from: a line of JSON for
each test. In `replay`, each arm of `benchmarks/guidance.py` repeatedly chooses one of 64 remaining tests, until it has
spent a share of all CPU seconds. It prints the distinct failures beside those of a random order. A rule can only choose
among recorded tests, so the ratios are smaller than in a campaign.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from guidance import ARMS, Found, failures_of

from fuzzer.campaign.cases.cases import random_cases
from fuzzer.campaign.cases.failure_rates import ended_well, typed_operators
from fuzzer.campaign.cases.guidance import CANDIDATES, Guidance
from fuzzer.campaign.lanes.lane_chooser import LaneChooser
from fuzzer.campaign.plan.settings import DRAWN, LaneMix, Settings
from fuzzer.campaign.store.features import features_of, of_case
from fuzzer.campaign.test.tiers import run_test
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import OFTEN, SAMPLED_LANES, SCREENING
from fuzzer.signature import Signature
from generators.graph import Case
from oracles.judge import judge_all
from oracles.lane import Importer

DRAWING = 0.0006
"""CPU seconds for each candidate that is drawn."""


@dataclass(frozen=True, slots=True)
class RecordedTest:
    """Its case is drawn again from the seed and the number."""

    seed: int
    number: int
    seconds: float
    ends: dict[Importer, float]
    failures: tuple[Signature, ...]
    features: frozenset[str]


def record(path: Path, tests: int, seed: int) -> None:
    with tempfile.TemporaryDirectory(prefix="difftvm-") as folder, path.open("wb") as file:
        settings = mix_of(Path(folder), seed)
        draw, chooser = random_cases(settings, seed), LaneChooser()
        with Executor(Path(folder) / "scratch") as executor:
            for index in range(tests):
                case, before = draw(index), executor.cpu_seconds
                assert case is not None, "random cases do not end"
                outcomes = run_test(executor.run, settings, seed, index, case, chooser).result.outcomes
                found = tuple(judge_all(case, outcomes))
                chooser.learn(case, found)
                features = features_of(outcomes, found) | frozenset(of_case(case.graph))
                seconds, ends = executor.cpu_seconds - before, ended_well(outcomes, found)
                test = RecordedTest(seed, index, seconds, ends, failures_of(found), features)
                file.write(msgspec.json.encode(test) + b"\n")


def recorded(path: Path, folder: Path) -> Iterator[tuple[Case, RecordedTest]]:
    with path.open("rb") as file:
        for line in file:
            test = msgspec.json.decode(line, type=RecordedTest)
            case = random_cases(mix_of(folder, test.seed), test.seed)(test.number)
            assert case is not None
            yield case, test


def mix_of(folder: Path, seed: int) -> Settings:
    return Settings(folder, seed, LaneMix(SCREENING, SAMPLED_LANES, OFTEN, DRAWN, steered=True), guided=True)


def replay(
    rule: Guidance | None, tests: Sequence[tuple[Case, RecordedTest]], order: random.Random, seconds: float
) -> Found:
    left, found = list(tests), Found()
    while seconds > 0:
        places = order.sample(range(len(left)), min(CANDIDATES if rule else 1, len(left)))
        place = max(places, key=lambda place: rule.worth(left[place][0].graph)) if rule else places[0]
        left[place], left[-1] = left[-1], left[place]
        case, test = left.pop()
        seconds -= test.seconds + DRAWING * len(places)
        found.add(case, test.failures, test.features)
        if rule:
            for name in frozenset(of_case(case.graph)):
                rule.counts.add(name)
            rule.failure_rates.learn(typed_operators(case.graph), test.ends)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record")
    recording.add_argument("file", type=Path)
    recording.add_argument("--tests", type=int, default=1000)
    recording.add_argument("--seed", type=int, default=101)
    replaying = verbs.add_parser("replay")
    replaying.add_argument("files", type=Path, nargs="+")
    replaying.add_argument("--share", type=float, default=0.2)
    replaying.add_argument("--orders", type=int, default=6)
    replaying.add_argument("--arms", default="guided,even,novelty,hazards")
    arguments = parser.parse_args()
    if arguments.verb == "record":
        record(arguments.file, arguments.tests, arguments.seed)
        return
    with tempfile.TemporaryDirectory(prefix="difftvm-") as folder:
        tests = [test for path in arguments.files for test in recorded(path, Path(folder))]
        seconds = arguments.share * sum(test.seconds for _, test in tests)
        print(f"{len(tests)} tests; {seconds:.0f} CPU s of them for each arm")
        compare(tests, seconds, ("random", *arguments.arms.split(",")), arguments.orders, mix_of(Path(folder), 1))


def compare(
    tests: Sequence[tuple[Case, RecordedTest]], seconds: float, arms: Sequence[str], orders: int, settings: Settings
) -> None:
    of_random = 0.0
    for arm in arms:
        runs = [replay(ARMS[arm](settings, 1), tests, random.Random(order), seconds) for order in range(orders)]
        distinct = [run.distinct for run in runs]
        mean, error = statistics.mean(distinct), statistics.stdev(distinct) / orders**0.5
        of_random = of_random or mean
        text = f"{mean:6.1f} +- {error:.1f} distinct failures, {mean / of_random:.2f} times random"
        print(f"{arm:8} {text}; {statistics.mean(run.tests for run in runs):.0f} tests", flush=True)


if __name__ == "__main__":
    main()
