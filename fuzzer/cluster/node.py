"""A node's campaign: an ordinary campaign in its own directory, run by `fuzz run` in a separate process.

The process that supervises it may be killed at any moment. The campaign's process then ends cleanly
(`fuzzer.children.node`), and the next supervisor continues in the same directory.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from fuzzer.campaign.store import lock, store
from fuzzer.campaign.store.layout import ASIDE
from fuzzer.cluster.assignment import Assignment
from fuzzer.cluster.collection import EMPTY, Collector, KnownFinding, Update, add_to_corpus
from fuzzer.system.child_environment import inherited
from fuzzer.system.files import make_folder, open_plain
from fuzzer.system.untrusted_files import free_for_file

LOG = "node.log"
LOG_BYTES = 2000
HANDOVER_SECONDS = 120.0
"""How long to wait for the process of a killed supervisor to end."""


class NodeProcess:
    """The process of the campaign in `folder`. It starts when no other process runs that campaign, and after the cases
    of `seed_cases` were added to the campaign's corpus."""

    def __init__(self, assignment: Assignment, folder: Path, seed_cases: Update = EMPTY) -> None:
        self.folder = folder
        make_folder(folder)
        deadline = time.monotonic() + HANDOVER_SECONDS
        while lock.holder(folder) is not None and time.monotonic() < deadline:
            time.sleep(0.2)
        add_to_corpus(seed_cases, folder)
        self._collector = Collector(folder)
        free_for_file(folder / LOG, folder / ASIDE)
        with open_plain(folder / LOG, "wb") as log:  # replaces that of the last run: none grows over many runs
            self._process = subprocess.Popen(
                assignment.command(folder),
                env=inherited(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def collect(self, findings: Sequence[KnownFinding] = (), *, acknowledged: bool = False) -> Update:
        """Return what the driver lacks. `findings` are those of other nodes, which this campaign treats as known from
        now on. `acknowledged`: the driver has stored the last update."""
        if acknowledged:
            self._collector.acknowledge()
        for finding in findings:
            self._collector.skip(finding)
            store.add_elsewhere(self.folder, finding.slug, finding.document)
        exit_code = self._process.poll()  # before collecting, so that the last update has everything
        files, next_test = self._collector.collect(last=exit_code is not None)
        log = "" if exit_code is None else self._log_tail()
        return Update(files, next_test, exit_code, log, self._collector.waiting)

    def stop(self) -> None:
        """Let the process end cleanly, and wait until it has ended."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        self._process.wait()

    def _log_tail(self) -> str:
        with open_plain(self.folder / LOG, "rb") as log:
            size = log.seek(0, 2)
            log.seek(max(0, size - LOG_BYTES))
            return str(log.read(), errors="replace")
