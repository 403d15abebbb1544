"""What the fixture `difftvm` gives to a test."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fuzzer.api import check as checking
from fuzzer.api import own_passes, random_cases
from fuzzer.api.checked import Checked, NothingJudged, NothingRan
from fuzzer.api.pass_report import PassReport
from fuzzer.api.stored_cases import StoredCases
from fuzzer.api.tracebacks import is_answer
from fuzzer.system.terminal import number_of
from generators.graph import Case

__tracebackhide__ = is_answer

SECONDS = 60.0


class Difftvm:
    """The functions of `import difftvm` for one test of pytest.

    seed     of this test: that of the run and the name of the test give it, so order and distribution change nothing
    seconds  how long each call of `cases` gives cases and a pass is fuzzed
    tests    how many cases each call of `cases` gives at most; None: no limit
    folder   where findings and failing cases of this test are
    notes    what the run should say of this test although it passes
    """

    def __init__(self, name: str, seed: int, folder: Path, seconds: float = SECONDS, tests: int | None = None) -> None:
        digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
        self.seed = int.from_bytes(digest[:4])
        self.seconds, self.tests = seconds, tests
        self.folder = folder / folder_name(name)
        self._stored = StoredCases(self.folder / "cases")
        self._current: Case | None = None
        self._checked = self._ran = 0
        self.notes: list[str] = []

    def cases(self, ops: str = "*", *, max_ops: int = random_cases.MAX_OPS) -> Iterator[Case]:
        """Give the cases that failed in earlier runs, then random ones, until the budget ends; at least one.

        ops      comma-separated globs of operators, such as "conv*,relu"; `fuzz ops` lists them
        max_ops  the most operators of a random case

        If the test fails, the case that was given last is stored, and comes first in the next run. The stored ones are
        removed when the test passes."""
        ends = time.monotonic() + self.seconds
        for number, case in enumerate(self._in_order(ops, max_ops)):
            if number and (time.monotonic() >= ends or number == self.tests):
                return
            self._current = case
            yield case

    def _in_order(self, ops: str, max_ops: int) -> Iterator[Case]:
        yield from self._stored.read()
        yield from random_cases.cases(ops, max_ops=max_ops, seed=self.seed)

    def check(self, model: Any, inputs: Any = None, **options: Any) -> Checked | None:
        """`difftvm.check`, which saves findings in the folder of the test, and which is strict: a model that is not
        compiled whole, or of which no value is judged, fails the test. Return None where no lane can run a case of
        `cases`; a test in which none can be run fails."""
        options.setdefault("folder", self.folder)
        options.setdefault("strict", True)
        self._checked += 1
        try:
            done = checking.check(model, inputs, **options)
        except NothingRan:
            if model is not self._current:
                raise
            return None
        except NothingJudged as unjudged:
            if model is not self._current:
                raise
            done = unjudged.checked  # of few drawn cases, rounding decides each number
        self._ran += 1
        if done.aliased:
            lanes = ", ".join(done.aliased)
            self.notes.append(f"an output shares memory with an input in {lanes}; aliasing=True makes that a failure")
        return done

    def check_pass(self, pass_: Any, **options: Any) -> PassReport:
        """`difftvm.check_pass` with the seed and the budget of the test. Models that failed run first."""
        return own_passes.check_pass(pass_, **self._with_budget(options))

    def check_backend(self, partition: Any, **options: Any) -> PassReport:
        """`difftvm.check_backend` with the seed and the budget of the test. Models that failed run first."""
        return own_passes.check_backend(partition, **self._with_budget(options))

    def _with_budget(self, options: dict[str, Any]) -> dict[str, Any]:
        budget = {"seed": self.seed, "seconds": self.seconds, "tests": self.tests, "folder": self.folder / "passes"}
        return {**budget, **options}

    def finish(self, outcome: str) -> None:
        """Store the case with which the test failed, or remove the stored ones where it passed. A test that was skipped
        has not shown that they pass. Raise `AssertionError` where no case of a test that passed could run."""
        if outcome == "failed" and self._current is not None:
            self._stored.add(self._current)
        if outcome != "passed":
            return
        if self._checked and not self._ran:
            raise AssertionError(
                f"no lane could run any of {number_of(self._checked, 'case')}: name other operators or lanes"
            )
        self._stored.clear()


def folder_name(name: str) -> str:
    """A name for a folder from the name of a test, which may have any characters."""
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', name).strip('-')[-60:].strip('-')}-{digest}"
