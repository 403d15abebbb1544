"""A node's campaign: an ordinary one in a directory of its own, run by `fuzz run` in a process of its own.

What supervises it may be killed at any moment: the process then ends cleanly (`fuzzer.children.node`), and whoever
comes next goes on in the same directory.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from fuzzer.campaign import lock, store
from fuzzer.cluster.assignment import Deal
from fuzzer.cluster.collection import NOTHING, Granary, Harvest, Lesson, plant

LOG = "node.log"
LOG_BYTES = 2000
HANDOVER_SECONDS = 120.0
"""How long the process of a supervisor that was killed may take to end."""


class NodeProcess:
    """Starts the campaign in `folder`, as soon as nobody else runs it, with cases for its corpus that `given` has."""

    def __init__(self, deal: Deal, folder: Path, given: Harvest = NOTHING) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        deadline = time.monotonic() + HANDOVER_SECONDS
        while lock.holder(folder) is not None and time.monotonic() < deadline:
            time.sleep(0.2)
        plant(given, folder)
        self._granary = Granary(folder)
        with (folder / LOG).open("wb") as log:  # of this run alone: no log grows over the runs
            self._process = subprocess.Popen(
                deal.command(folder), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def harvest(self, lessons: Sequence[Lesson] = (), *, taken: bool = False) -> Harvest:
        """What the driver lacks; takes what other nodes found. `taken`: the driver has what was brought last."""
        if taken:
            self._granary.taken()
        for lesson in lessons:
            self._granary.knows(lesson)
            store.learn_of(self.folder, lesson.slug, lesson.document)
        ended = self._process.poll()  # before looking: what it wrote last is seen
        files, next_test = self._granary.new(last=ended is not None)
        return Harvest(files, next_test, ended, "" if ended is None else self._said())

    def stop(self) -> None:
        """Let it end cleanly; returns when it has."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        self._process.wait()

    def _said(self) -> str:
        with (self.folder / LOG).open("rb") as log:
            size = log.seek(0, 2)
            log.seek(max(0, size - LOG_BYTES))
            return log.read().decode(errors="replace")
