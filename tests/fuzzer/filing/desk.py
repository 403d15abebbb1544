"""What the tests of filing share: a finding on disk, a backend that shows it, and a context to file it from."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from fakes import TORCH
from github_server import TOKEN

from fuzzer.filing import draft as drafts
from fuzzer.filing.draft import Draft
from fuzzer.filing.gates import FilingContext
from fuzzer.filing.github import GitHub
from fuzzer.filing.ledger import Ledger
from fuzzer.filing.newest import Newest
from fuzzer.filing.secret import Secret
from fuzzer.filing.tracker import Patience
from fuzzer.isolate.bare_script import BareRun
from fuzzer.isolate.reports import SHOWS, ScriptRun
from fuzzer.toolchains.bare import BareRecord
from fuzzer.triage.scope.find import Effort, scope_of
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Ran, Result, Skipped

SHORT_SCOPE = partial(scope_of, effort=Effort(10))
"""The search of a draft for the scope, which ends after ten runs: the whole one takes half a second."""

REPO = "apache/tvm"
NEWEST = Newest("host", "0.27.0")


def quick(**more: Any) -> Patience:
    """In real time, and as short as a server on the loopback allows: for processes of their own."""
    return Patience(**{"timeout": 5, "settle": 0.05, "poll": 0.01, "backoff": 0.0, **more})


class Watch:
    """A clock that only sleeping moves; `slept` keeps for how long."""

    def __init__(self) -> None:
        self.now = time.time()
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def patience(self, **more: Any) -> Patience:
        return Patience(**{"timeout": 5, "sleep": self.sleep, "clock": lambda: self.now, **more})


class Shows:
    """A backend in which the finding's lane fails as it did for the first `times` runs, and then gives a result."""

    def __init__(self, draft: Draft, times: int = 1 << 30) -> None:
        self._draft, self._times = draft, times
        self.runs = 0
        self.cpu_seconds = 0.0
        self.versions = dict(draft.doc.versions)
        self.toolchains: list[str] = []
        self.script = ScriptRun(SHOWS)
        self.sources: list[str] = []

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec], bounds: object = None) -> Result:
        self.runs += 1
        self.toolchains += [lane.toolchain for lane in lanes if lane.name == self._draft.doc.lane.name]
        return Result({lane: self._outcome(lane) for lane in lanes})

    run = run_fresh

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        self.sources.append(source)
        return self.script

    def examine(self, case: Case, lane: LaneSpec) -> tuple[()]:
        return ()

    def __exit__(self, *raised: object) -> None:
        return None

    def _outcome(self, lane: LaneSpec) -> Outcome:
        fine = Ran((np.zeros((2, 3), np.float32),), (np.zeros((2, 3), np.float32),))
        if lane.name == self._draft.doc.lane.name:
            raised = self._draft.doc.evidence.raised
            assert raised is not None
            return raised if self.runs <= self._times else fine
        return fine if lane.name == TORCH.name else Skipped("not asked")


class Bare:
    """Bare environments in which each script ends as `script` says, without any."""

    def __init__(self) -> None:
        self.script = ScriptRun(SHOWS)
        self.runs: list[tuple[str, tuple[str, ...], str]] = []

    def __call__(self, source: str, requirements: Sequence[str], target: str) -> BareRun:
        self.runs.append((source, tuple(requirements), target))
        return BareRun(BareRecord(1, "3.11.7", tuple(requirements), {"apache-tvm-ffi": "0.1.15"}), self.script)


@dataclass(frozen=True, slots=True)
class Place:
    """A server's address, where the books are, and how patient to be."""

    url: str
    ledger: Path
    patience: Patience
    repo: str = REPO

    def tracker(self, token: str | None = TOKEN) -> GitHub:
        return GitHub(self.repo, self.url, Secret(token) if token else None, self.patience)

    def context(
        self, draft: Draft, backend: Callable[[], Shows] | None = None, newest: Newest = NEWEST
    ) -> FilingContext:
        """With a ledger that the caller closes."""
        tracker = self.tracker()
        shows = Shows(draft)
        return FilingContext(
            Ledger(self.ledger), tracker.place, tracker, backend or (lambda: shows), newest, bare=Bare()
        )


def read(folder: Path) -> Draft:
    return drafts.read(folder)
