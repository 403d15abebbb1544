"""Replay: does a saved finding still happen? The model is rebuilt from case.json; no file of a finding is executed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzzer.findings import finding_file
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.findings.headline import headline
from fuzzer.isolate.fleet import FreshRunner
from fuzzer.lanes.base.availability import CompileOnly, Missing, Runnable, availability, in_words
from fuzzer.signature import signature_of
from fuzzer.system.exit_codes import Exit
from fuzzer.triage.reproduce import observe
from generators.graph import Case
from oracles.finding import Finding, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Built, Outcome, Skipped, Stage, Unsupported


@dataclass(frozen=True, slots=True)
class LaneReplay:
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
            case Exit.ENVIRONMENT:
                return "is not run"
            case _:
                return self.verdict.name.lower().replace("_", " ")


@dataclass(frozen=True, slots=True)
class Replay:
    runs: tuple[LaneReplay, ...]

    @property
    def exit(self) -> Exit:
        """The same failure in any run outweighs another failure, that a run that this machine could not do, and that a
        pass."""
        order = (Exit.SAME, Exit.DIFFERENT, Exit.TIMED_OUT, Exit.OUT_OF_MEMORY, Exit.ENVIRONMENT)
        verdicts = {run.verdict for run in self.runs}
        return next((verdict for verdict in order if verdict in verdicts), Exit.GONE)


def load(folder: Path) -> tuple[FindingDoc, Case]:
    """Raise `Invalid` where the folder holds no finding, or not the one that was saved."""
    return finding_file.read_with_case(folder)


def replay(executor: FreshRunner, doc: FindingDoc, case: Case, lanes: Sequence[LaneSpec], times: int) -> Replay:
    runs = []
    for lane in lanes:
        for _ in range(times):
            seen = observe(executor.run_fresh, case, lane)
            shown = _the_one(doc, seen.findings)
            if shown is None and seen.findings:  # of two failures, the oracles tell the first: ask for the other alone
                shown = _the_one(doc, observe(executor.run_fresh, case, lane, signature_of(doc.finding)).findings)
            runs.append(_judged(doc, lane, seen.result.outcomes[lane], shown or seen.finding))
    return Replay(tuple(runs))


def _the_one(doc: FindingDoc, findings: Sequence[Finding]) -> Finding | None:
    """Of all that is wrong in a run, what was saved."""
    mine = signature_of(doc.finding)
    return next((finding for finding in findings if mine.same_failure(signature_of(finding))), None)


def _judged(doc: FindingDoc, lane: LaneSpec, outcome: Outcome, finding: Finding | None) -> LaneReplay:
    if finding is not None:
        return LaneReplay(lane, _verdict(doc, finding), headline(finding), True)
    match outcome:
        case Built() | Skipped() if not _looked(doc, lane):
            return LaneReplay(lane, Exit.ENVIRONMENT, f"{lane.name}: {in_words(availability(lane))}", False)
        case Skipped(reason=reason, environment=True):
            return LaneReplay(lane, Exit.ENVIRONMENT, f"{lane.name}: {reason}", False)
        case _:
            unasked = isinstance(outcome, Skipped | Unsupported)
            return LaneReplay(lane, Exit.GONE, f"{lane.name}: {type(outcome).__name__}, no objection", not unasked)


def _looked(doc: FindingDoc, lane: LaneSpec) -> bool:
    """Whether this machine can see the failure at all."""
    match availability(lane):
        case Missing():
            return False
        case CompileOnly(checker=checker):
            return doc.identity.stage is not Stage.RUN and (doc.identity.stage is not Stage.LOAD or checker is not None)
        case Runnable():
            return True


def _verdict(doc: FindingDoc, finding: Finding) -> Exit:
    if signature_of(doc.finding).same_failure(signature_of(finding)):  # not as another version of difftvm called it
        return Exit.SAME
    match finding.kind:
        case Kind.TIMED_OUT:
            return Exit.TIMED_OUT
        case Kind.OUT_OF_MEMORY:
            return Exit.OUT_OF_MEMORY
        case _:
            return Exit.DIFFERENT
