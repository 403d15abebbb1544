"""Room on the disk: a campaign pauses where little is left, and gives up its oldest kept cases where it takes too much.

Findings, imported cases and the index are never removed.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fuzzer.campaign import corpus
from fuzzer.campaign.gate import Gate

GB = 1_000_000_000
RESERVE = GB // 2
"""Bytes: far more than a campaign writes between two looks."""

MEASURE_SECONDS = 60.0
"""How often the size of the directory is measured: that reads all of it."""

DOWN_TO = 0.9
"""Of the limit: so much is left after kept cases were removed, so that this is seldom done."""

_KEPT = re.compile(r"[0-9a-f]{16}")
"""What `Guidance` calls the cases that it keeps, by their digest; imported ones have names."""


def free_bytes(folder: Path) -> int:
    """What is left on its file system for whoever is not root."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


@dataclass(slots=True)
class Room:
    """`limit`: bytes that the campaign's directory may take; `reserve`: bytes that must stay free on its file system.
    `tell` gets a line when it pauses, when it goes on, and when the first case is removed."""

    folder: Path
    gate: Gate
    tell: Callable[[str], None]
    limit: int | None = None
    reserve: int = RESERVE
    free: Callable[[Path], int] = free_bytes
    clock: Callable[[], float] = time.monotonic
    _paused: bool = False
    _measured: float | None = None
    _over: str = ""
    _removing: bool = False

    def look(self) -> bool:
        """Whether there is room to go on; the gate is shut where there is none."""
        if why := self._short() or self._too_large():
            self.ran_out(why)
        elif self._paused:
            self._paused = False
            self.tell("there is room again: going on")
            self.gate.open("disk")
        return not self._paused

    def ran_out(self, why: str) -> None:
        """Shut the gate until a look finds room."""
        if not self._paused:
            self._paused = True
            self.tell(f"paused: {why}")
        self.gate.shut("disk")

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
            taken -= self._removed(taken - int(DOWN_TO * self.limit))
        self._over = ""
        if taken > self.limit:
            self._over = (
                f"{self.folder} takes {taken / GB:.2f} GB, --disk-limit is {self.limit / GB:g}, no kept case is left to"
                " remove; findings stay: move some away, or raise it"
            )
        return self._over

    def _removed(self, wanted: int) -> int:
        """Bytes of the oldest kept cases that were removed, until so many are."""
        gone = 0
        for folder in oldest_first(self.folder / corpus.FOLDER):
            if gone >= wanted:
                break
            gone += size_of(folder)
            shutil.rmtree(folder, ignore_errors=True)
        if gone and not self._removing:
            self._removing = True
            self.tell(f"{self.folder} is at its --disk-limit: its oldest kept cases are removed from now on")
        return gone


def oldest_first(folder: Path) -> Iterator[Path]:
    """The cases that a campaign kept by itself."""
    kept = [path for path in folder.glob("*") if _KEPT.fullmatch(path.name)]
    yield from sorted(kept, key=lambda path: (path.stat().st_mtime, path.name))


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
