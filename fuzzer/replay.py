"""Replay: does a saved finding still happen? The model is rebuilt from case.json; no file of a finding is executed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from fuzzer.isolate.fleet import Backend
from fuzzer.report import finding_file
from fuzzer.report.finding_file import FindingDoc
from fuzzer.report.repro import headline
from fuzzer.triage.reproduce import observe
from fuzzer.triage.signature import signature_of
from generators.graph import Case
from oracles.finding import Finding, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Skipped, Unsupported


class Exit(IntEnum):
    """What `--replay` exits with."""

    GONE = 0
    BAD_INPUT = 64
    ENVIRONMENT = 69
    TIMED_OUT = 70
    OUT_OF_MEMORY = 71
    SAME = 77
    DIFFERENT = 78


@dataclass(frozen=True, slots=True)
class Run:
    """How a lane came out once. `told` is what a person reads; `ran` whether it gave results."""

    lane: LaneSpec
    verdict: Exit
    told: str
    ran: bool

    @property
    def word(self) -> str:
        """What happens to the finding, for a table."""
        match self.verdict:
            case Exit.SAME:
                return "fails"
            case Exit.GONE:
                return "passes" if self.ran else "is not run"
            case Exit.DIFFERENT:
                return "fails otherwise"
            case _:
                return self.verdict.name.lower().replace("_", " ")


@dataclass(frozen=True, slots=True)
class Replay:
    runs: tuple[Run, ...]

    @property
    def exit(self) -> Exit:
        """The same failure in any run outweighs another failure, and that a pass."""
        order = (Exit.SAME, Exit.DIFFERENT, Exit.TIMED_OUT, Exit.OUT_OF_MEMORY)
        verdicts = {run.verdict for run in self.runs}
        return next((verdict for verdict in order if verdict in verdicts), Exit.GONE)


def load(folder: Path) -> tuple[FindingDoc, Case]:
    """Raise `Invalid` where the folder holds no finding, or not the one that was saved."""
    return finding_file.read_with_case(folder)


def replay(executor: Backend, doc: FindingDoc, case: Case, lanes: Sequence[LaneSpec], times: int) -> Replay:
    runs = []
    for lane in lanes:
        for _ in range(times):
            seen = observe(executor.run, case, lane)
            outcome = seen.result.outcomes[lane]
            told = headline(seen.finding) if seen.finding else f"{lane.name}: {type(outcome).__name__}, no objection"
            unasked = isinstance(outcome, Skipped | Unsupported)
            runs.append(Run(lane, _verdict(doc, seen.finding), told, not unasked))
    return Replay(tuple(runs))


def _verdict(doc: FindingDoc, finding: Finding | None) -> Exit:
    if finding is None:
        return Exit.GONE
    if doc.identity.same_failure(signature_of(finding)):
        return Exit.SAME
    match finding.kind:
        case Kind.TIMED_OUT:
            return Exit.TIMED_OUT
        case Kind.OUT_OF_MEMORY:
            return Exit.OUT_OF_MEMORY
        case _:
            return Exit.DIFFERENT
