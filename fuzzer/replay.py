"""Replay: does a saved finding still happen? The model is rebuilt from case.json; no file of a finding is executed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from fuzzer.isolate.executor import Executor
from fuzzer.report import finding_file
from fuzzer.report.finding_file import FindingDoc
from fuzzer.report.repro import headline
from fuzzer.triage.reproduce import observe
from fuzzer.triage.signature import signature_of
from generators.graph import Case
from oracles.finding import Finding, Kind
from oracles.lane import LaneSpec


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
class Replay:
    """How each lane run came out: `(lane, verdict, what a person reads)`."""

    runs: tuple[tuple[str, Exit, str], ...]

    @property
    def exit(self) -> Exit:
        """The same failure in any run outweighs another failure, and that a pass."""
        order = (Exit.SAME, Exit.DIFFERENT, Exit.TIMED_OUT, Exit.OUT_OF_MEMORY)
        verdicts = {verdict for _, verdict, _ in self.runs}
        return next((verdict for verdict in order if verdict in verdicts), Exit.GONE)


def load(folder: Path) -> tuple[FindingDoc, Case]:
    """Raise `Invalid` where the folder holds no finding, or not the one that was saved."""
    return finding_file.read_with_case(folder)


def replay(executor: Executor, doc: FindingDoc, case: Case, lanes: Sequence[LaneSpec], times: int) -> Replay:
    runs = []
    for lane in lanes:
        for _ in range(times):
            seen = observe(executor.run, case, lane)
            outcome = seen.result.outcomes[lane]
            told = headline(seen.finding) if seen.finding else f"{lane.name}: {type(outcome).__name__}, no objection"
            runs.append((lane.name, _verdict(doc, seen.finding), told))
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
