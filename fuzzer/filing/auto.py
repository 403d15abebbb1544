"""`fuzz run --auto-file`: file the findings of a campaign while it runs, through the gates of `fuzz file --submit`."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType

from fuzzer.campaign.store import filing_progress
from fuzzer.campaign.store.filing_progress import Progress
from fuzzer.filing import draft as drafts
from fuzzer.filing import secret
from fuzzer.filing.filing import Filed, settle_all, submit
from fuzzer.filing.gates import FilingContext
from fuzzer.filing.lines import lines
from fuzzer.filing.newest import newest
from fuzzer.filing.office import TrackerOptions
from fuzzer.filing.secret import Secret
from fuzzer.filing.tracker import Tracker
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.isolate import bare_script
from fuzzer.isolate.bare_script import RunBare
from fuzzer.isolate.fleet import Lab
from fuzzer.isolate.running_job import OwnFailure
from fuzzer.system.environment import EnvironmentMissing
from generators.graph import Invalid
from oracles.finding import Component

LOOK_SECONDS = 1.0
"""The seconds between two checks for new findings."""

RETRY_SECONDS = 60.0
"""The seconds until a finding is tried again that could not be filed."""

NICE = 10
"""The niceness of the filing thread."""


class AutoFiler:
    """Files the new findings of a campaign for which TVM is at fault. A thread does this while the context is open.

    When the context closes, the remaining findings are filed first, unless `drop` was called or an exception closes it.
    The tracker has the time of a command for each finding, and then for all that remain together: one that does not
    answer delays the end of a campaign by this time at most.
    The reproductions run in the campaign's children, one at a time, beside the tests. `tell` gets one or two lines for
    each finding. No gate is forced. An error never ends the campaign, nor the filing: a finding that could not be filed
    waits and is tried again. `tell` gets each error once, and `fuzz status` shows it while findings wait.
    """

    def __init__(
        self,
        options: TrackerOptions,
        token: Secret,
        crashes: Path,
        new: Sequence[FindingDoc],
        backend: Lab,
        tell: Callable[[str], None],
        bare: RunBare,
    ) -> None:
        """`new` grows while the campaign runs. Entering the context raises `Unreachable` if the tracker does not
        answer, and `Invalid` if the ledger or a toolchain's record cannot be read."""
        self._options, self._token, self._crashes, self._new = options, token, crashes, new
        self._backend, self._tell = backend, tell
        self._bare = bare
        self._over, self._dropped = threading.Event(), False
        self._thread = threading.Thread(target=self._run, name="filing", daemon=True)
        self._taken, self._filed = 0, 0
        self._waiting: list[FindingDoc] = []
        self._tracker: Callable[[], Tracker] = partial(options.tracker, token)
        self._troubles: set[str] = set()

    def __enter__(self) -> AutoFiler:
        tracker, self._newest = self._tracker(), newest()
        with self._options.open_ledger() as ledger:
            tracker.changed_since(ledger.clock())
            settle_all(ledger, tracker)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._dropped |= kind is not None
        self._over.set()
        self._thread.join()

    def drop(self) -> None:
        """Stop after the finding that is being filed."""
        self._dropped = True

    def _run(self) -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
        again, last = time.monotonic() + RETRY_SECONDS, False
        while not last:
            last = self._over.wait(LOOK_SECONDS)
            if last:
                self._tracker = partial(_same, self._tracker())
            new = self._new[self._taken :]
            self._taken += len(new)
            self._try(doc for doc in new if doc.component is Component.TVM and not doc.flaky)
            if last or time.monotonic() >= again:
                waiting, self._waiting = self._waiting, []
                self._try(waiting)
                again = time.monotonic() + RETRY_SECONDS

    def _try(self, findings: Iterable[FindingDoc]) -> None:
        """Try to file findings. Those that could not be filed wait."""
        trouble, tried = "", False
        for doc in findings:
            if self._dropped:
                return
            tried = True
            try:
                self._file(doc)
            except Exception as error:  # whatever it is, the campaign goes on, and so does the filing
                trouble = trouble or f"{type(error).__name__}: {error}"
                self._note(doc, error)
        if tried:
            self._write(trouble)

    def _note(self, doc: FindingDoc, error: Exception) -> None:
        """Let the finding wait, and tell an error that is new."""
        self._waiting.append(doc)
        known = isinstance(error, (Invalid, EnvironmentMissing, OwnFailure, OSError, sqlite3.Error))
        text = str(error) if known else f"{type(error).__name__}: {error}"
        if text not in self._troubles:
            self._troubles.add(text)
            self._tell(f"{doc.slug}: not filed: {text}; it is tried again every {RETRY_SECONDS:.0f} s")

    def _write(self, trouble: str) -> None:
        with suppress(Exception):  # a full disk does not end the filing, and nor does anything else
            campaign = self._crashes.parent
            filing_progress.write(campaign, Progress(self._filed, len(self._waiting), trouble if self._waiting else ""))

    def _file(self, doc: FindingDoc) -> None:
        """File one finding, or say why it is not to be filed."""
        try:
            draft = drafts.read(self._crashes / doc.slug)
            if self._token.is_in(draft.text):
                raise Invalid("its report contains the token")
        except Invalid as error:
            self._tell(f"{doc.slug}: not filed: {error}")
            return
        with self._options.open_ledger() as ledger:
            place, lab = self._options.place, self._backend
            context = FilingContext(ledger, place, self._tracker(), lambda: lab, self._newest, bare=self._bare)
            outcome = submit(draft, context)
        self._filed += isinstance(outcome, Filed)
        printed = lines(draft, outcome)
        self._tell(printed[-1] if isinstance(outcome, Filed) else "\n".join(printed[-2:]))


def _same(tracker: Tracker) -> Tracker:
    return tracker


class NoFiling:
    """Takes the place of `AutoFiler` in a campaign without `--auto-file`."""

    def __enter__(self) -> NoFiling:
        return self

    def __exit__(self, *raised: object) -> None:
        return None

    def drop(self) -> None:
        return None


Start = Callable[[Sequence[FindingDoc], Path, Lab, Callable[[str], None]], AutoFiler | NoFiling]
"""Makes the filer of a campaign from its new findings, their folder, what runs lanes, and what gets the messages."""


def auto_filing(auto_file: bool, options: TrackerOptions, token_file: Path | None, preload: Path | None) -> Start:
    """Check the options and take the token. Call it before a process is started that could inherit the token.

    Raise `Invalid` if the options do not fit together, `EnvironmentMissing` if there is no token.
    """
    if not auto_file:
        if options.repository or token_file:
            raise Invalid("--repo and --token-file need --auto-file")
        return lambda new, crashes, backend, tell: NoFiling()
    if not options.repository:
        raise Invalid("--auto-file needs --repo OWNER/NAME")
    if preload:
        raise Invalid(
            "--auto-file does not go with --preload: a failure may come from the preloaded file, not from TVM"
        )
    _ = options.place  # raises `Invalid` if the repository has no valid name
    token = secret.of_user(token_file)
    return lambda new, crashes, backend, tell: AutoFiler(
        options, token, crashes, new, backend, tell, bare_script.runner(tell)
    )
