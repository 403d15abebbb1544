"""Control groups of version 2: the kernel bounds the memory and the number of processes of a whole tree, and ends it.

A group is a folder of the file system `cgroup2` (Documentation/admin-guide/cgroup-v2.rst of Linux). A process may bound
others so where the administrator has delegated a group to it that has the controllers `memory` and `pids`, as
`systemd-run --user --scope --property=Delegate=yes fuzz run` does. A group whose own processes are bounded may have
none below it that are. So this process moves into a group of its own below the delegated one first.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

CONTROLLERS = frozenset({"memory", "pids"})
_SUPERVISOR, _LANE = "difftvm-supervisor", "difftvm-lane"
_END_SECONDS = 5.0
_numbers = itertools.count()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Group:
    """The group of one process and of all below it."""

    path: Path

    def bound(self, memory_bytes: int, tasks: int) -> None:
        """The most memory, none of it swapped out, and the most processes and threads of the group. The kernel kills
        all of the group where it needs more memory; a fork beyond the bound fails."""
        for name, text in (
            *(("memory.max", str(memory_bytes)), ("memory.swap.max", "0"), ("memory.oom.group", "1")),
            ("pids.max", str(tasks)),
        ):
            with contextlib.suppress(FileNotFoundError):  # a kernel without swap has no memory.swap.max
                _write(self.path / name, text)

    def add(self, pid: int) -> None:
        """Move a process into the group. Those that it starts from then on are in it too."""
        _write(self.path / "cgroup.procs", str(pid))

    @property
    def was_out_of_memory(self) -> bool:
        """Whether the kernel has killed the group for its memory."""
        with contextlib.suppress(OSError):
            events = dict(line.split() for line in (self.path / "memory.events").read_text().splitlines())
            return int(events.get("oom_kill", "0")) > 0
        return False

    def close(self) -> None:
        """Kill all processes of the group, and remove it."""
        with contextlib.suppress(OSError):
            _write(self.path / "cgroup.kill", "1")
        deadline = time.monotonic() + _END_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                self.path.rmdir()
            if not self.path.exists():
                return
            time.sleep(0.01)  # a killed process is in it until it is reaped


@dataclass(frozen=True, slots=True)
class Delegated:
    """A group below which this process may make others."""

    path: Path

    def new_for(self, pid: int) -> Group | None:
        """A new group with this process; None where none can be made, or the process has ended."""
        group = Group(self.path / f"{_LANE}-{os.getpid()}-{next(_numbers)}")
        try:
            group.path.mkdir()
            group.add(pid)
        except OSError:
            group.close()
            return None
        return group


def delegated(mounts: Path = Path("/proc/self/mountinfo"), own: Path = Path("/proc/self/cgroup")) -> Delegated | None:
    """The group of this process, where it may bound others below it; None otherwise. This process is in a group of its
    own then."""
    with _lock:
        path = _own_group(mounts, own)
        return None if path is None else _prepared(path)


def _prepared(path: Path) -> Delegated | None:
    try:
        if path.name.startswith(_SUPERVISOR):  # an earlier call has moved this process
            passed_on = (path.parent / "cgroup.subtree_control").read_text().split()
            return Delegated(path.parent) if set(passed_on) >= CONTROLLERS else None
        if not set((path / "cgroup.controllers").read_text().split()) >= CONTROLLERS:
            return None
        if (path / "cgroup.procs").read_text().split() != [str(os.getpid())]:
            return None  # other processes are in it, which are not ours to move
        supervisor = path / f"{_SUPERVISOR}-{os.getpid()}"
        supervisor.mkdir()
        _write(supervisor / "cgroup.procs", str(os.getpid()))
        _write(path / "cgroup.subtree_control", " ".join(f"+{name}" for name in sorted(CONTROLLERS)))
    except OSError:
        return None
    return Delegated(path)


def _own_group(mounts: Path, own: Path) -> Path | None:
    """The folder of the group of this process in the hierarchy of version 2 (proc(5), cgroups(7))."""
    try:
        places = [line.split() for line in mounts.read_text(encoding="utf-8").splitlines()]
        paths = [
            line.removeprefix("0::") for line in own.read_text(encoding="utf-8").splitlines() if line.startswith("0::")
        ]
    except OSError:
        return None
    mounted = [Path(fields[4]) for fields in places if fields[fields.index("-") + 1] == "cgroup2"]
    return mounted[0] / paths[0].lstrip("/") if mounted and paths else None


def _write(path: Path, text: str) -> None:
    with open(
        path, "w", encoding="utf-8", opener=lambda name, _: os.open(name, os.O_WRONLY)
    ) as file:  # never makes a file
        file.write(text)
