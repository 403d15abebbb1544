"""The disk of a campaign. The campaign pauses while too little is free and after a write failed, and deletes the rows
of its oldest tests while its directory is too large.

Findings and the corpus are never removed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from fuzzer.campaign.store.pause_switch import PauseSwitch
from fuzzer.system import untrusted_files
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.files import write_synced
from fuzzer.system.free_space import GB, RESERVE, free_bytes
from fuzzer.system.storage_errors import is_full, may_pass

MEASURE_SECONDS = 60.0
"""How often the size of the directory is measured, which walks all of it."""

MOST_MEASURE_SECONDS = 5.0
"""Where a measurement takes longer, what was found until then counts."""

DOWN_TO = 0.9
"""Tests are deleted until the directory takes this part of its limit, so that it happens seldom."""

DISK = "disk"
"""The reason under which the pause switch is set."""

PROBE_NAME, PROBE = ".tmp-space", 1 << 20
"""A file, and its bytes, that are written as a trial after a write failed: statvfs does not show a user's quota."""

MOST_FAILURES = 12
"""The campaign ends when this many writes failed in turn, and none because the disk was full, although the trials after
them succeeded."""


class Size(NamedTuple):
    bytes: int
    is_whole: bool = True


@dataclass(slots=True)
class DiskSpace:
    """Watches the disk of a campaign, and sets its pause switch while the disk is too full. Thread-safe.

    limit    bytes that the campaign's directory may take; None means no limit
    reserve  bytes that must stay free on its file system
    report   gets a line when the campaign pauses, when it continues, and when tests are deleted for the first time
    forget   makes the directory smaller; returns whether it could
    """

    folder: Path
    switch: PauseSwitch
    report: Callable[[str], None]
    limit: int | None = None
    reserve: int = RESERVE
    forget: Callable[[], bool] = lambda: False
    free: Callable[[Path], int] = free_bytes
    clock: Callable[[], float] = time.monotonic
    _measured: float | None = None
    _over: str = ""
    _forgetting: bool = False
    _measures_part: bool = False
    _failed: bool = False
    _failures: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def look(self) -> bool:
        """Check the disk, and set or clear the switch. Return whether there is enough space."""
        with self._lock:
            if why := self._why_not():
                self._close(why)
            elif self.switch.is_set_by(DISK):
                self.report("the disk can be written again: continuing")
                self.switch.clear(DISK)
            return not self.switch.is_set_by(DISK)

    def failed(self, error: OSError) -> None:
        """Set the switch after a write failed. `look` clears it when a trial succeeds. Raise `EnvironmentMissing` after
        too many failures in turn."""
        with self._lock:
            self._failed = True
            self._failures += not is_full(error)
            if self._failures >= MOST_FAILURES:
                raise EnvironmentMissing(
                    f"{self.folder}: {self._failures} writes failed in turn, the last one with: {error}; what was"
                    " saved before is intact"
                )
            self._close(str(error))

    def succeeded(self) -> None:
        """Everything could be written."""
        with self._lock:
            self._failures = 0

    def _why_not(self) -> str:
        try:
            return self._short() or self._too_large() or self._still_failing()
        except OSError as error:
            if not may_pass(error):
                raise
            self._failed = True
            return f"{self.folder}: {error}; waiting"

    def _close(self, why: str) -> None:
        if not self.switch.is_set_by(DISK):
            self.switch.set(DISK)
            self.report(f"paused: {why}")

    def _still_failing(self) -> str:
        if not self._failed:
            return ""
        probe = self.folder / PROBE_NAME
        untrusted_files.remove(untrusted_files.real(probe))  # a killed run may have left it, and a lane anything
        try:
            write_synced(probe, bytes(PROBE))
        finally:
            probe.unlink(missing_ok=True)
        self._failed = False
        return ""

    def _short(self) -> str:
        left = self.free(self.folder)
        if left >= self.reserve:
            return ""
        free, reserve = f"{left / GB:.2f}", f"{self.reserve / GB:g}"
        return f"{self.folder}: {free} GB are free, --disk-reserve keeps {reserve}; waiting for free space"

    def _too_large(self) -> str:
        """Why the directory is too large, or "". Between two measurements, the last result is returned."""
        now = self.clock()
        if self.limit is None or (self._measured is not None and now - self._measured < MEASURE_SECONDS):
            return self._over
        self._measured = now
        taken = self._size()
        if taken > self.limit:
            taken = self._smaller(taken, int(DOWN_TO * self.limit))
        self._over = ""
        if taken > self.limit:
            self._over = (
                f"{self.folder} takes {taken / GB:.2f} GB, --disk-limit is {self.limit / GB:g}, no old tests are left"
                " to forget; findings stay: move some away, or raise it"
            )
        return self._over

    def _size(self) -> int:
        size = size_of(self.folder)
        if not size.is_whole and not self._measures_part:
            self._measures_part = True
            self.report(
                f"{self.folder} has too many files to measure in {MOST_MEASURE_SECONDS:g} s: --disk-limit counts a"
                " part of them from now on"
            )
        return size.bytes

    def _smaller(self, taken: int, wanted: int) -> int:
        """Delete the oldest tests until the directory takes `wanted` bytes, or none are left; return what it takes."""
        before = taken + 1
        while before > taken > wanted and self.forget():  # it may not shrink while another process reads the index
            before, taken = taken, self._size()
            if not self._forgetting:
                self._forgetting = True
                self.report(f"{self.folder} is at its --disk-limit: its oldest tests are forgotten from now on")
        return taken


def size_of(folder: Path, seconds: float = MOST_MEASURE_SECONDS) -> Size:
    """What the files and folders in a folder take on the disk. A lane may have made some of them."""
    taken = 0
    try:
        for listed in untrusted_files.everything_in(folder, seconds):
            taken += 512 * listed.status.st_blocks
    except untrusted_files.NotListed:
        return Size(taken, is_whole=False)
    return Size(taken)
