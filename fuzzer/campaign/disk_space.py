"""DiskSpace on the disk: a campaign pauses where little is left, and forgets its oldest tests where it takes too much.

Findings and the corpus are never removed.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.campaign.gate import Gate

GB = 1_000_000_000
RESERVE = GB // 2
"""Bytes: far more than a campaign writes between two looks."""

MEASURE_SECONDS = 60.0
"""How often the size of the directory is measured: that reads all of it."""

DOWN_TO = 0.9
"""Of the limit: so much is left after tests were forgotten, so that this is seldom done."""

DISK = "disk"
"""Why the gate is shut."""

PROBE = 1 << 20
"""Bytes that must fit once a disk ran out: a quota does not show in what is free."""


def is_full(error: OSError) -> bool:
    """Whether a disk, or somebody's quota on it, has no room left."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def free_bytes(folder: Path) -> int:
    """What is left on its file system for whoever is not root."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


@dataclass(slots=True)
class DiskSpace:
    """`limit`: bytes that the campaign's directory may take; `reserve`: bytes that must stay free on its file system.
    `report` gets a line when it pauses, when it goes on, and when the first tests are forgotten. `forget` makes the
    directory smaller, and says whether it could. Thread-safe."""

    folder: Path
    gate: Gate
    report: Callable[[str], None]
    limit: int | None = None
    reserve: int = RESERVE
    forget: Callable[[], bool] = lambda: False
    free: Callable[[Path], int] = free_bytes
    clock: Callable[[], float] = time.monotonic
    _measured: float | None = None
    _over: str = ""
    _forgetting: bool = False
    _failed: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def look(self) -> bool:
        """Whether there is room to go on; the gate is shut where there is none."""
        with self._lock:
            if why := self._short() or self._too_large() or self._still_full():
                self._shut(why)
            elif self.gate.is_closed_for(DISK):
                self.report("there is room again: going on")
                self.gate.open(DISK)
            return not self.gate.is_closed_for(DISK)

    def ran_out(self, why: str) -> None:
        """Shut the gate until a look finds room."""
        with self._lock:
            self._failed = True
            self._shut(why)

    def _shut(self, why: str) -> None:
        if not self.gate.is_closed_for(DISK):
            self.gate.close(DISK)
            self.report(f"paused: {why}")

    def _still_full(self) -> str:
        if not self._failed:
            return ""
        probe = self.folder / ".tmp-room"
        try:
            probe.write_bytes(bytes(PROBE))
        except OSError as error:
            return f"{self.folder}: {error.strerror}; waiting for room"
        finally:
            probe.unlink(missing_ok=True)
        self._failed = False
        return ""

    def _short(self) -> str:
        left = self.free(self.folder)
        if left >= self.reserve:
            return ""
        return (
            f"{self.folder}: {left / GB:.2f} GB are free, --disk-reserve keeps {self.reserve / GB:g}; waiting for room"
        )

    def _too_large(self) -> str:
        """Measured now and then; between, what was found last holds."""
        now = self.clock()
        if self.limit is None or (self._measured is not None and now - self._measured < MEASURE_SECONDS):
            return self._over
        self._measured = now
        taken = size_of(self.folder)
        if taken > self.limit:
            taken = self._smaller(taken, int(DOWN_TO * self.limit))
        self._over = ""
        if taken > self.limit:
            self._over = (
                f"{self.folder} takes {taken / GB:.2f} GB, --disk-limit is {self.limit / GB:g}, no old tests are left"
                " to forget; findings stay: move some away, or raise it"
            )
        return self._over

    def _smaller(self, taken: int, wanted: int) -> int:
        """What it takes, once the oldest tests are forgotten until it is what is wanted, or none is left."""
        before = taken + 1
        while before > taken > wanted and self.forget():  # a reader may keep the room from being given back
            before, taken = taken, size_of(self.folder)
            if not self._forgetting:
                self._forgetting = True
                self.report(f"{self.folder} is at its --disk-limit: its oldest tests are forgotten from now on")
        return taken


def size_of(folder: Path) -> int:
    """Bytes that its files take on the disk."""
    total = 0
    for where, _, files in os.walk(folder):
        for name in files:
            try:
                total += 512 * os.lstat(os.path.join(where, name)).st_blocks
            except OSError:  # it has gone in the meantime
                continue
    return total
