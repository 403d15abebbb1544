"""Memory and disk, from proc(5): what a campaign uses, and what is free on the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fuzzer.system.processes import resident_bytes


@dataclass(frozen=True, slots=True)
class Resources:
    """Bytes, except `processes`, which counts all descendants of the supervisor.

    supervisor  resident memory of the supervisor
    children    memory of its descendants, as proportional set size: a shared page counts once
    free        available memory of the machine
    disk        free space on the campaign's file system
    """

    supervisor: int
    children: int
    processes: int
    free: int
    disk: int


def resources(folder: Path, pid: int) -> Resources:
    below = list(descendants(pid))
    disk = os.statvfs(folder)
    return Resources(
        resident_bytes(pid),
        sum(map(proportional_bytes, below)),
        len(below),
        _kilobytes(Path("/proc/meminfo"), "MemAvailable"),
        disk.f_bavail * disk.f_frsize,
    )


def descendants(pid: int) -> Iterator[int]:
    for task in _listed(Path(f"/proc/{pid}/task")):
        try:
            children = [int(each) for each in (task / "children").read_text().split()]
        except OSError:  # the thread has ended
            continue
        for child in children:
            yield child
            yield from descendants(child)


def proportional_bytes(pid: int) -> int:
    """Proportional set size of a process in bytes; 0 where it has ended."""
    return _kilobytes(Path(f"/proc/{pid}/smaps_rollup"), "Pss")


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _kilobytes(path: Path, name: str) -> int:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), 0)
