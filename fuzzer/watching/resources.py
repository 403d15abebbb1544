"""Memory and disk, from proc(5): what a campaign uses, and what is free on the machine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fuzzer.system.process_tree import descendants
from fuzzer.system.processes import kilobytes, proportional_bytes, resident_bytes


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
        kilobytes(Path("/proc/meminfo"), "MemAvailable"),
        disk.f_bavail * disk.f_frsize,
    )
