"""Compare two versions of difftvm: do they draw the same cases, do lanes end in the same way, are shipped findings
reported in the same texts?

    python benchmarks/same.py record FILE [--tests 200] [--seed 1] [--dialect torch,onnx]
    python benchmarks/same.py compare BEFORE AFTER
    python benchmarks/same.py digests [--tests 300] [--seed 1] [--dialect torch,onnx,relax]

`digests` starts no compiler: it prints, for each dialect, digests of the cases and lanes of campaigns. Run it before
and after a change that should not change what is drawn.

Run `record` in a checkout of each version. It runs the tests that `fuzz run --random` draws, without triage, and writes
a line of JSON for each, and one for each shipped finding. `compare` prints each test whose case, outcomes or coarse
signatures differ, and each finding whose script, report or regression test differs. It exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from fuzzer.campaign.cases.cases import random_cases
from fuzzer.campaign.cases.guidance import Guidance
from fuzzer.campaign.lanes.lane_mix import lanes_of
from fuzzer.campaign.plan.settings import DRAWN, LaneMix, Settings
from fuzzer.campaign.test.tier_lanes import tier_1
from fuzzer.findings import finding_file
from fuzzer.findings.record import read as read_finding
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import DIALECT_LANES, OFTEN, SAMPLED_LANES, SCREENING
from fuzzer.report import document, regression_test
from fuzzer.triage.investigate import sightings
from fuzzer.triage.reproduce import judged_run
from generators import case_file
from generators.dialect import dialect_named
from generators.dialect_names import NAMES
from oracles.judge import judge_all
from oracles.outcome import Broken, Built, Died, Outcome, Raised, Ran, Skipped, TimedOut, Unsupported


class TestSummary(msgspec.Struct, frozen=True, tag="test"):
    """What one test gave, without numbers that differ from run to run.

    case        the digest of its case
    lanes       by name and digest of each lane, its outcome
    signatures  the coarse signatures of its failures, in the order of the oracles
    """

    number: int
    case: str
    lanes: dict[str, str]
    signatures: list[str]


CRASHES = Path(__file__).parents[1] / "crashes"


class ShippedTexts(msgspec.Struct, frozen=True, tag="shipped"):
    """The digests of what is written of a shipped finding, by file."""

    slug: str
    files: dict[str, str]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def summary(outcome: Outcome) -> str:
    """An outcome without values, times and the numbers in messages, which may be addresses."""
    match outcome:
        case Ran(outputs=outputs):
            return " ".join(["ran", *(f"{array.dtype}{list(array.shape)}" for array in outputs)])
        case Built():
            return "built"
        case Raised(stage=stage, type=exception, message=message):
            return f"raised {stage} {exception} {digest(re.sub(r'0x[0-9a-f]+|[0-9]+', 'N', message))}"
        case Died(stage=stage, cause=cause, code=code):
            return f"died {stage} {cause} {code}"
        case TimedOut(stage=stage):
            return f"timed out {stage}"
        case Unsupported(stage=stage):
            return f"unsupported {stage}"
        case Skipped():
            return "skipped"
        case Broken():
            return "broken"


def record(path: Path, tests: int, seed: int, dialects: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="difftvm-") as folder, path.open("wb") as file:
        mix = LaneMix(SCREENING, SAMPLED_LANES, OFTEN, DRAWN, steered=True)
        settings = Settings(Path(folder), seed, mix, ops={name: dialect_named(name).drawn() for name in dialects})
        draw = random_cases(settings, seed)
        with Executor(Path(folder) / "scratch") as executor:
            for number in range(tests):
                case = draw(number)
                assert case is not None, "random cases do not end"
                outcomes = judged_run(executor.run, case, lanes_of(settings, seed, number, case)).outcomes
                lanes = {f"{lane.name} {digest(repr(lane))}": summary(outcome) for lane, outcome in outcomes.items()}
                signatures = [each.signature.id for each in sightings(judge_all(case, outcomes))]
                test = TestSummary(number, case_file.digest(case), lanes, signatures)
                file.write(msgspec.json.encode(test) + b"\n")
                file.flush()
        for finding in sorted(CRASHES.glob(f"*/{finding_file.NAME}")):
            file.write(msgspec.json.encode(texts_of(finding.parent)) + b"\n")


def texts_of(folder: Path) -> ShippedTexts:
    found = read_finding(folder)
    written = {form.value: document.text(found, form) for form in document.Format}
    if regression_test.has_test(found.doc):
        written["test"] = regression_test.source(found)
    return ShippedTexts(folder.name, {name: digest(each) for name, each in written.items()})


def read(path: Path) -> Sequence[TestSummary | ShippedTexts]:
    with path.open("rb") as file:
        return [msgspec.json.decode(line, type=TestSummary | ShippedTexts) for line in file]


def text_differences(old: ShippedTexts, new: ShippedTexts) -> list[str]:
    return [f"another {name}" for name, each in old.files.items() if new.files.get(name) != each]


def differences(old: TestSummary, new: TestSummary) -> list[str]:
    lines = [] if old.case == new.case else ["another case"]
    for lane in sorted({*old.lanes, *new.lanes}):
        before, after = old.lanes.get(lane, "not run"), new.lanes.get(lane, "not run")
        lines += [f"{lane}: {before} -> {after}"] if before != after else []
    if old.signatures != new.signatures:
        lines.append(f"signatures: {' '.join(old.signatures)} -> {' '.join(new.signatures)}")
    return lines


def compare(before: Path, after: Path) -> int:
    """Print the differences, and return how many tests and findings differ. Raise `ValueError` where one file has more
    of them."""
    count = differ = 0
    for old, new in zip(read(before), read(after), strict=True):
        match old, new:
            case TestSummary(), TestSummary():
                name, lines = f"test {old.number}", differences(old, new)
            case ShippedTexts(), ShippedTexts() if old.slug == new.slug:
                name, lines = old.slug, text_differences(old, new)
            case _:
                raise ValueError("one file has more tests or findings than the other")
        for line in lines:
            print(f"{name}: {line}")
        count, differ = count + 1, differ + bool(lines)
    print(f"{count} tests and findings, {differ} differ")
    return differ


def digests(tests: int, seed: int, dialects: Sequence[str]) -> None:
    """Print a line for each dialect: digests of the cases of a campaign without guidance, of the lanes of these tests
    in one tier and in the first of two, and of a third as many cases that guidance takes before it has learnt."""
    screening = tuple(lane for name in NAMES for lane in DIALECT_LANES[name].screening)
    sampled = tuple(lane for name in NAMES for lane in DIALECT_LANES[name].sampled)
    mix = LaneMix(screening, sampled, OFTEN, DRAWN, steered=True)
    print(f"{'dialect':8} {'cases':12} {'lanes':12} {'tier 1':12} guided")
    for name in dialects:
        settings = Settings(Path(), seed, mix, ops={name: dialect_named(name).drawn()})
        cases = list(map(random_cases(settings, seed), range(tests)))
        drawn = [(number, case) for number, case in enumerate(cases) if case is not None]
        guidance = Guidance(settings, seed)
        found = (
            of_all(case_file.digest(case) for _, case in drawn),
            of_all(repr(lanes_of(settings, seed, number, case)) for number, case in drawn),
            of_all(repr(tier_1(settings, seed, number, case)) for number, case in drawn),
            of_all(case_file.digest(guidance.case(number)) for number in range(tests // 3)),
        )
        print(f"{name:8}", *found, flush=True)


def of_all(texts: Iterable[str]) -> str:
    return digest("\n".join(texts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record", help="run tests, and write what they gave")
    recording.add_argument("file", type=Path)
    recording.add_argument("--tests", type=int, default=200)
    recording.add_argument("--seed", type=int, default=1)
    recording.add_argument("--dialect", default="torch,onnx")
    comparing = verbs.add_parser("compare", help="print the tests that differ between two files")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    of_draws = verbs.add_parser("digests", help="print digests of the cases and lanes that campaigns draw")
    of_draws.add_argument("--tests", type=int, default=300)
    of_draws.add_argument("--seed", type=int, default=1)
    of_draws.add_argument("--dialect", default=",".join(NAMES))
    arguments = parser.parse_args()
    if arguments.verb == "record":
        record(arguments.file, arguments.tests, arguments.seed, arguments.dialect.split(","))
    elif arguments.verb == "digests":
        digests(arguments.tests, arguments.seed, arguments.dialect.split(","))
    else:
        sys.exit(1 if compare(arguments.before, arguments.after) else 0)


if __name__ == "__main__":
    main()
