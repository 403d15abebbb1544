"""`fuzz run --auto-file`: files what a campaign finds while it runs, under the same rules as a person, one by one."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

from fuzzer.filing import draft as drafts
from fuzzer.filing import secret
from fuzzer.filing.filing import Filed, settle_all, submit
from fuzzer.filing.gates import Desk
from fuzzer.filing.lines import lines
from fuzzer.filing.newest import newest
from fuzzer.filing.office import Office
from fuzzer.filing.secret import Secret
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.isolate.child_process import OwnFailure
from fuzzer.isolate.fleet import Reproducer
from fuzzer.system.environment import EnvironmentMissing
from generators.graph import Invalid
from oracles.finding import Component

LOOK_SECONDS = 1.0
NICE = 10


class AutoFiler:
    """Files the new findings of a campaign that are TVM's, in a thread of its own, while its context is open; what is
    new when that closes is looked at before it does, unless the campaign was told to stop.

    The reproductions run in the campaign's own children, one at a time beside its workers' tests. `tell` gets a few
    lines for each finding. It never forces anything, and what fails here never ends the campaign.
    """

    def __init__(
        self,
        office: Office,
        token: Secret,
        crashes: Path,
        new: Sequence[FindingDoc],
        backend: Reproducer,
        tell: Callable[[str], None],
    ) -> None:
        """Entering it raises, before the campaign begins, what would keep each finding from being filed: `Unreachable`
        where nobody answers, `Invalid` where the ledger or a toolchain's record cannot be read."""
        self._office, self._token, self._crashes, self._new = office, token, crashes, new
        self._backend, self._tell = backend, tell
        self._over, self._dropped = threading.Event(), False
        self._thread = threading.Thread(target=self._run, name="filing", daemon=True)
        self._done = 0

    def __enter__(self) -> AutoFiler:
        self._tracker, self._newest = self._office.tracker(self._token), newest()
        with self._office.open_ledger() as ledger:
            self._tracker.changed_since(ledger.clock())
            settle_all(ledger, self._tracker)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._dropped |= kind is not None
        self._over.set()
        self._thread.join()

    def drop(self) -> None:
        """File no more after the one that is under way."""
        self._dropped = True

    def _run(self) -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
        while True:
            last = self._over.wait(LOOK_SECONDS)
            while self._done < len(self._new) and not self._dropped:
                self._file(self._new[self._done])
                self._done += 1
            if last:
                return

    def _file(self, doc: FindingDoc) -> None:
        """File one finding. What fails is reported, and the next one is tried."""
        if doc.component is not Component.TVM or doc.flaky:
            return
        try:
            draft = drafts.read(self._crashes / doc.slug)
            if self._token.is_in(draft.text):
                raise Invalid("its report holds the token")
            with self._office.open_ledger() as ledger:
                desk = Desk(ledger, self._office.place, self._tracker, lambda: self._backend, self._newest)
                fate = submit(draft, desk)
        except (Invalid, EnvironmentMissing, OwnFailure, OSError, sqlite3.Error) as error:
            self._tell(f"{doc.slug}: not filed: {error}")
            return
        said = lines(draft, fate)
        self._tell(said[-1] if isinstance(fate, Filed) else "\n".join(said[-2:]))


class NobodyFiles:
    """What a campaign without `--auto-file` has."""

    def __enter__(self) -> NobodyFiles:
        return self

    def __exit__(self, *raised: object) -> None:
        return None

    def drop(self) -> None:
        return None


Start = Callable[[Sequence[FindingDoc], Path, Reproducer, Callable[[str], None]], AutoFiler | NobodyFiles]
"""From a campaign's new findings, their folder, what runs lanes, and who is told."""


def asked_for(auto_file: bool, office: Office, token_file: Path | None, preload: Path | None) -> Start:
    """Before anything is started that could inherit the token. Raise `Invalid` where the options do not go together,
    `EnvironmentMissing` where there is no token."""
    if not auto_file:
        if office.repository or token_file:
            raise Invalid("--repo and --token-file go with --auto-file")
        return lambda new, crashes, backend, tell: NobodyFiles()
    if not office.repository:
        raise Invalid("--auto-file: --repo OWNER/NAME is missing: where to?")
    if preload:
        raise Invalid("--auto-file: what a file of yours changes in TVM is not TVM's fault: not with --preload")
    _ = office.place  # which raises `Invalid` where it is none
    token = secret.of_user(token_file)
    return lambda new, crashes, backend, tell: AutoFiler(office, token, crashes, new, backend, tell)
