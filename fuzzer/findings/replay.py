"""Replay a saved finding: run its case again and compare. The model is rebuilt from case.json; no file is executed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.headline import headline
from fuzzer.findings.this_machine import lacking
from fuzzer.isolate.fleet import RunLanes
from fuzzer.lanes.base.availability import availability, in_words
from fuzzer.signature import signature_of
from fuzzer.system.exit_codes import Exit
from fuzzer.triage.reproduce import Observation, observe
from generators.graph import Case
from oracles.finding import Finding, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Broken, Built, Skipped, Unsupported
from oracles.transforms import is_own


@dataclass(frozen=True, slots=True)
class LaneReplay:
    """One run of a lane. `text` describes it for people; `ran` says whether the lane ran here."""

    lane: LaneSpec
    verdict: Exit
    text: str
    ran: bool

    @property
    def verdict_text(self) -> str:
        """What the run says about the finding, for a table."""
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
    """All runs of one replay."""

    runs: tuple[LaneReplay, ...]

    @property
    def exit(self) -> Exit:
        """The exit code of `fuzz --replay`: the first of `order` that a run has, or `GONE`."""
        order = (Exit.SAME, Exit.DIFFERENT, Exit.TIMED_OUT, Exit.OUT_OF_MEMORY, Exit.ENVIRONMENT)
        verdicts = {run.verdict for run in self.runs}
        return next((verdict for verdict in order if verdict in verdicts), Exit.GONE)


def load(folder: Path) -> tuple[FindingDoc, Case]:
    """Read a finding and its case. Raise `Invalid` if the folder is not valid, or if its case was changed."""
    return finding_file.read_with_case(folder)


def replay(run_fresh: RunLanes, doc: FindingDoc, case: Case, lanes: Sequence[LaneSpec], times: int) -> Replay:
    """Run the case `times` times on each lane, each time in a fresh process."""
    runs = []
    for lane in lanes:
        for _ in range(times):
            observation = observe(run_fresh, case, lane)
            shown = _same_failure(doc, observation.findings)
            if shown is None and observation.findings:
                # the oracles report only the first of two failures: look for the saved one alone
                alone = observe(run_fresh, case, lane, signature_of(doc.finding))
                shown = _same_failure(doc, alone.findings)
            runs.append(_judged(doc, lane, observation, shown or observation.finding))
    return Replay(tuple(runs))


def _same_failure(doc: FindingDoc, findings: Sequence[Finding]) -> Finding | None:
    """Return the finding that is the failure of the saved one."""
    saved = signature_of(doc.finding)
    return next((finding for finding in findings if saved.same_failure(signature_of(finding))), None)


def _judged(doc: FindingDoc, lane: LaneSpec, observation: Observation, finding: Finding | None) -> LaneReplay:
    outcome, lack = observation.result.outcomes[lane], observation.lack
    if finding is not None:
        return LaneReplay(lane, _verdict(doc, finding), headline(finding), True)
    match outcome:
        case Built() | Skipped() if lacking(lane, doc.identity.stage):
            return LaneReplay(lane, Exit.ENVIRONMENT, f"{lane.name}: {in_words(availability(lane))}", False)
        case Skipped(reason=reason) if any(map(is_own, lane.passes)):
            return LaneReplay(lane, Exit.ENVIRONMENT, f"{lane.name}: {reason}", False)
        case Skipped(reason=reason, environment=True):
            return LaneReplay(lane, Exit.ENVIRONMENT, f"{lane.name}: {reason}", False)
        case _ if lack:
            return LaneReplay(lane, Exit.ENVIRONMENT, f"{lane.name} cannot be judged: {lack}", False)
        case Broken(error=error):
            return LaneReplay(lane, Exit.GONE, f"{lane.name}: difftvm itself failed: {error}", False)
        case _:
            ran = not isinstance(outcome, Skipped | Unsupported)
            return LaneReplay(lane, Exit.GONE, f"{lane.name}: {type(outcome).__name__}, no failure", ran)


def _verdict(doc: FindingDoc, finding: Finding) -> Exit:
    # the saved signature may be another version's: it is computed again
    if signature_of(doc.finding).same_failure(signature_of(finding)):
        return Exit.SAME
    match finding.kind:
        case Kind.TIMED_OUT:
            return Exit.TIMED_OUT
        case Kind.OUT_OF_MEMORY:
            return Exit.OUT_OF_MEMORY
        case _:
            return Exit.DIFFERENT
