"""Find and kill processes that a lane started and that have left the tree of their command.

A process leaves the tree where the zygote of its lane is killed: the process then belongs to init. It may have another
session, another working folder and an empty environment. What it cannot change is a hard limit of resources, because
only a process with CAP_SYS_RESOURCE may raise one (setrlimit(2)). So the supervisor gives each zygote and each worker a
mark: a hard limit of RLIMIT_RTTIME, which the kernel ignores for processes without realtime scheduling. All processes
below inherit it. The mark is made of the path of the folder for temporary files, so that the next run of a campaign
finds the strays of a run that was killed.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
from collections.abc import Iterator, Set
from hashlib import blake2b
from pathlib import Path

from fuzzer.system import process_tree, processes

_TMPDIR = b"TMPDIR="
_BITS = 30
_MARKED = 1 << 2 * _BITS
"""In microseconds: a mark is a limit of more than 36,000 years."""

_ROUNDS = 20
"""How often strays are looked for: some may start others meanwhile."""


def mark(pid: int, scratch: Path) -> None:
    """Mark a process that was just started, and those that it will start, as working in the folder `scratch`. A process
    that has a smaller limit already gets no mark."""
    value = _mark_of(scratch)
    with contextlib.suppress(PermissionError, ValueError, ProcessLookupError):
        resource.prlimit(pid, resource.RLIMIT_RTTIME, (value, value))


def kill_strays(scratch: Path, keep: int | None = None) -> list[int]:
    """Kill what is marked with `scratch` or a folder in it, or has its temporary folder (TMPDIR) there, and is no
    descendant of the process `keep`, which is not killed either. Return the pids. Only processes of one command must
    work in this folder.

    Without `keep`, no process is to work there any more. Then those end too that this process has adopted, as the first
    process of a container does."""
    killed: list[int] = []
    for _ in range(_ROUNDS):
        kept = {keep, *process_tree.descendants(keep)} if keep else {os.getpid()}
        strays = list(working_in(scratch, kept))
        if not strays:
            break
        for pid in strays:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        killed += strays
    for pid in killed:
        with contextlib.suppress(ChildProcessError):  # it was not adopted
            os.waitpid(pid, os.WNOHANG)
    return list(dict.fromkeys(killed))


def working_in(scratch: Path, but: Set[int] = frozenset()) -> Iterator[int]:
    """The processes that are marked with `scratch` or a folder in it, or have their temporary folder there, without
    those of `but`, which are not looked at."""
    others = (pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if pid not in but)
    return (pid for pid in others if _works_in(pid, scratch))


def _works_in(pid: int, scratch: Path) -> bool:
    return processes.state(pid) not in ("", "Z") and (_is_marked(pid, scratch) or _has_temporary(pid, scratch))


def _is_marked(pid: int, scratch: Path) -> bool:
    found = _mark(pid)
    return found == _mark_of(scratch) or found >> _BITS == _mark_of(scratch / "x") >> _BITS


def _mark(pid: int) -> int:
    """The hard limit of RLIMIT_RTTIME; 0 where it is unlimited, or the process has ended."""
    with contextlib.suppress(OSError):
        if found := re.search(
            r"^Max realtime timeout +\S+ +(\d+)", Path(f"/proc/{pid}/limits").read_text(encoding="utf-8"), re.M
        ):
            return int(found[1])
    return 0


def _mark_of(scratch: Path) -> int:
    return _MARKED | _half(scratch.parent) << _BITS | _half(scratch)


def _half(path: Path) -> int:
    digest = blake2b(os.fsencode(path.absolute()), digest_size=8).digest()
    return int.from_bytes(digest, "big") % (1 << _BITS)


def _has_temporary(pid: int, scratch: Path) -> bool:
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # it has ended, or belongs to another user
        return False
    folders = [Path(os.fsdecode(each[len(_TMPDIR) :])) for each in variables if each.startswith(_TMPDIR)]
    return any(folder.is_relative_to(scratch) for folder in folders)
