"""Tests that fail because of an error in difftvm itself."""

from __future__ import annotations

import threading
import traceback

from fuzzer.campaign.store.store import Store
from fuzzer.campaign.test.dispatcher import Dispatcher
from fuzzer.system.terminal import say
from generators.graph import Case
from oracles.outcome import Broken, Outcomes

TROUBLE = 10
"""A campaign ends after this number of failed tests in a row: then the cases are not the cause."""


class FailedTests:
    """Counts failed tests in a row, and saves each with its error."""

    def __init__(self, store: Store, dispatcher: Dispatcher) -> None:
        self._store, self._dispatcher = store, dispatcher
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._broken: set[str] = set()

    def reset(self) -> None:
        """Start to count again: a test was finished."""
        with self._lock:
            self._in_a_row = 0

    def note_broken(self, number: int, case: Case, outcomes: Outcomes) -> None:
        """Save the test where difftvm's own code failed in a lane. Print a line for the first such test of a lane."""
        broken = {lane.name: outcome.error for lane, outcome in outcomes.items() if isinstance(outcome, Broken)}
        if not broken:
            return
        errors = "\n".join(f"{name}: {error}" for name, error in broken.items())
        folder = self._store.keep_broken_lanes(
            number, case, f"test {number} of seed {self._store.state.seed}\n{errors}"
        )
        with self._lock:
            new = [name for name in broken if name not in self._broken]
            self._broken.update(new)
        for name in new:
            what = broken[name].partition("\n")[0]
            say(f"test {number}: difftvm itself failed in lane {name} ({what}); continuing; see {folder}")

    def keep(self, number: int, case: Case | None, error: Exception) -> None:
        """Save the test and its error. Raise the error where it ends the campaign."""
        with self._lock:
            self._in_a_row += 1
            if self._in_a_row >= TROUBLE:
                raise error
        trace = "".join(traceback.format_exception(error))
        text = f"test {number} of seed {self._store.state.seed}\n{trace}"
        folder = self._store.keep_failed_test(number, case, text, self._dispatcher.finish(number))
        what = f"{type(error).__name__}: {error}".partition("\n")[0]
        say(f"test {number}: difftvm itself failed ({what}); continuing; see {folder}")
