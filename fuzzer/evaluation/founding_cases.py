"""The cases of `corpus/`, which ship with the project, and the outcomes that they must have in each toolchain.

The expected outcomes of a case are in its `expect.json` (corpus/README.md). It is read strictly; nothing in it is
executed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import msgspec

from fuzzer.cases.open_sizes import at_each_size
from fuzzer.findings.headline import headline
from fuzzer.isolate.fleet import Runner
from fuzzer.signature import signature_of
from fuzzer.toolchains import registry
from fuzzer.triage.reproduce import judged_by, judged_run
from generators import case_file
from generators.graph import Case, Invalid
from generators.plain_file import MOST_DOCUMENT, read_plain
from oracles.finding import Component, Finding, Kind
from oracles.judge import judge_all
from oracles.lane import LaneSpec
from oracles.lane_check import invalid_reason
from oracles.outcome import Built, Outcome, Ran, Stage, Unsupported

FORMAT = 1
NAME = "expect.json"
CORPUS = Path(__file__).parents[2] / "corpus"
NOT_INSTALLED = (
    "the cases that ship with difftvm are in its repository, and not in the package that is installed here; "
    "clone the repository and call `fuzz` in it, or name another folder"
)


class Quiet(StrEnum):
    """The expected outcomes of a lane without a finding."""

    RESULT = "result"  # it ran, or compiled completely, and no oracle objects
    UNSUPPORTED = "unsupported"  # it refuses the case as unsupported


class Sign(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What identifies the one finding of a lane: parts of its signature.

    says   a part of the error message, without numbers, names and shapes
    where  a part of the name of the function that raised it
    """

    kind: Kind
    component: Component
    stage: Stage
    error: str = ""
    says: str = ""
    where: str = ""

    def fits(self, finding: Finding) -> bool:
        signature = signature_of(finding)
        same = (signature.kind, signature.component, signature.stage, signature.error)
        whole = same == (self.kind, self.component, self.stage, self.error)
        return whole and self.says in signature.skeleton and self.where in signature.frame


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A lane with its toolchain, and its expected outcome."""

    lane: LaneSpec
    gives: Quiet | Sign


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: int
    expected: list[Expected]


@dataclass(frozen=True, slots=True)
class Entry:
    """A folder of the corpus. It is a founding case where it has expected outcomes."""

    folder: Path
    case: Case
    expected: tuple[Expected, ...]

    @property
    def name(self) -> str:
        return self.folder.name


class Check(msgspec.Struct, frozen=True, rename={"actual": "seen"}):
    """The outcome of a lane on a case at given sizes, compared with the expected one. `fuzz corpus --json` prints it
    with the field names of earlier versions."""

    case: str
    sizes: dict[str, int]
    lane: str
    toolchain: str
    expected: str
    actual: str
    ok: bool


def read(corpus: Path = CORPUS) -> list[Entry]:
    """Read the corpus, sorted by name. Raise `Invalid`, in one line, where a file is wrong."""
    folders = sorted(path.parent for path in corpus.glob(f"*/{case_file.JSON_NAME}"))
    if not folders and corpus == CORPUS:
        raise Invalid(NOT_INSTALLED)
    if not folders:
        raise Invalid(f"{corpus}: there are no cases in it")
    return [Entry(folder, case_file.read(folder), expectations(folder / NAME)) for folder in folders]


def expectations(path: Path) -> tuple[Expected, ...]:
    """The expected outcomes in a file; empty where there is no such file."""
    if not path.exists():
        return ()
    try:
        text = read_plain(path, MOST_DOCUMENT)
        document, plain = msgspec.json.decode(text, type=Document), msgspec.json.decode(text)
    except OSError as error:
        raise Invalid(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{path}: {error}") from None
    if document.format != FORMAT:
        raise Invalid(f"{path}: format {document.format} is not known; this version reads {FORMAT}")
    if not document.expected:
        raise Invalid(f"{path}: nothing is expected")
    known = set(LaneSpec.__slots__)
    for number, item in enumerate(plain["expected"]):
        if unknown := sorted(set(item["lane"]) - known):  # msgspec accepts unknown fields of a dataclass
            raise Invalid(f"{path}: expected[{number}]: a lane has no field {unknown[0]!r}")
    if reason := next((reason for each in document.expected if (reason := invalid_reason(each.lane))), None):
        raise Invalid(f"{path}: {reason}")
    return tuple(document.expected)


def run(entries: Sequence[Entry], fleet: Runner) -> Iterator[Check]:
    """Each founding case at each of its sizes. Raise `EnvironmentMissing` before anything runs where one of the
    toolchains is not there."""
    for name in dict.fromkeys(each.lane.toolchain for entry in entries for each in entry.expected):
        registry.find(name)
    for entry in entries:
        for case in at_each_size(entry.case) if entry.expected else ():
            yield from _checked(fleet, entry, case)


def _checked(fleet: Runner, entry: Entry, case: Case) -> Iterator[Check]:
    lanes = dict.fromkeys(lane for each in entry.expected for lane in judged_by(each.lane))
    outcomes = judged_run(fleet.run, case, tuple(lanes)).outcomes
    found = list(judge_all(case, outcomes))
    for each in entry.expected:
        its = [finding for finding in found if finding.lane == each.lane]
        outcome = outcomes[each.lane]
        ok = gives(each.gives, outcome, its)
        texts = describe_expected(each.gives), describe_outcome(outcome, its)
        yield Check(entry.name, dict(case.sizes), each.lane.name, each.lane.toolchain, *texts, ok)


def gives(expected: Quiet | Sign, outcome: Outcome, found: Sequence[Finding]) -> bool:
    """Whether the outcome and the findings of a lane are exactly the expected ones."""
    match expected:
        case Quiet.RESULT:
            return isinstance(outcome, Ran | Built) and not found
        case Quiet.UNSUPPORTED:
            return isinstance(outcome, Unsupported) and not found
        case Sign():
            return len(found) == 1 and expected.fits(found[0])


def describe_expected(expected: Quiet | Sign) -> str:
    match expected:
        case Quiet():
            return expected.value
        case Sign():
            parts = [expected.error, expected.says, expected.where and f"in {expected.where}"]
            return f"{expected.kind} of {expected.component} in {expected.stage}: {', '.join(filter(None, parts))}"


def describe_outcome(outcome: Outcome, found: Sequence[Finding]) -> str:
    if found:
        return "; ".join(f"{finding.kind} of {finding.component}: {headline(finding)}" for finding in found)
    match outcome:
        case Ran() | Built():
            return Quiet.RESULT.value
        case Unsupported(reason=reason):
            return f"{Quiet.UNSUPPORTED.value}: {reason}"
        case _:
            return type(outcome).__name__
