"""The free space of the disk on which a process writes."""

from __future__ import annotations

import os
from pathlib import Path

GB = 1_000_000_000
RESERVE = GB // 2
"""Bytes that must stay free: far more than a campaign writes between two checks."""


def free_bytes(folder: Path) -> int:
    """Bytes of its file system that are free for users other than root."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


class FreeSpace:
    """Watches whether something leaves fewer than `reserve` bytes free on the disk of a folder; where fewer are free
    from the start, half of those."""

    def __init__(self, folder: Path, reserve: int) -> None:
        self._folder = folder
        free = self._free()
        self._least = reserve if free is None or free >= reserve else free // 2

    def why_short(self) -> str:
        """Why what runs must end; "" where enough is free."""
        free = self._free()
        return (
            "" if free is None or free >= self._least else f"less than {self._least / GB:.2f} GB of the disk are free"
        )

    def _free(self) -> int | None:
        """None where the folder is gone: what is not confined may remove it."""
        try:
            return free_bytes(self._folder)
        except OSError:
            return None
