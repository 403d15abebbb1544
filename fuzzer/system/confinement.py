"""Confine this process, and those that it starts, for good: they write below some folders only, and signal no other.

The kernel enforces it (Landlock, landlock(7)): writing since Linux 5.13, signals and abstract unix sockets since 6.12.
What was opened before stays open. This module needs no other: a process without difftvm's packages executes the file.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass

USER = "DIFFTVM_CHILD_WRITES"
"""A variable of the user's: further folders in which children may write, with colons between them."""

CACHE = "CUDA_CACHE_PATH"
"""CUDA's own variable: its cache of kernels."""

EVERYWHERE = "/"
"""As the value of this variable: children are not confined at all."""

_FILES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/proc/self")
_GPU = ("nvidia", "dri", "kfd", "dxg")
"""How the names of the devices of a GPU begin."""

_SHARED_MEMORY = "/dev/shm"
"""CUDA makes files there."""

SIGNALS = 6
"""The version of Landlock that bounds signals."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # on all machines but alpha
_ASK_FOR_VERSION, _PATH_BENEATH = 1, 1
_WRITE_FILE, _REFER, _TRUNCATE = 1 << 1, 1 << 13, 1 << 14
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_TO_FILES = _WRITE_FILE | _TRUNCATE
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2
_NO_NEW_PRIVS, _SET_SECCOMP = 38, 22  # prctl.h
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06  # bpf_common.h
_LEASE = 1024  # F_SETLEASE in fcntl.h


@dataclass(frozen=True, slots=True)
class _Calls:
    """The numbers of the machine (audit.h) and of system calls. `keeping` makes what outlives the process and belongs
    to no folder: System V shared memory, semaphores and queues, POSIX queues, keys of the kernel."""

    machine: int
    prlimit: int
    fcntl: int
    keeping: tuple[int, ...]


_MACHINES = {  # shmget, semget, msgget, mq_open, add_key, request_key, keyctl
    "x86_64": _Calls(0xC000003E, prlimit=302, fcntl=72, keeping=(29, 64, 68, 240, 248, 249, 250)),
    "aarch64": _Calls(0xC00000B7, prlimit=261, fcntl=25, keeping=(194, 190, 186, 180, 217, 218, 219)),
}

_LIBC = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """The version of Landlock in this kernel; 0 where there is none, or it is switched off."""
    return max(0, int(_LIBC.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_FOR_VERSION)))


def in_words(found: int) -> str:
    """What such a version confines."""
    if EVERYWHERE in _of_user():
        return f"{USER} is {EVERYWHERE}: lanes may write where you may, and signal your processes"
    if found == 0:
        return "the kernel has no Landlock: lanes may write where you may, and signal your processes"
    written = f"Landlock {found}: lanes write in their own folders only"
    return f"{written}, and signal no other process" if found >= SIGNALS else f"{written}, but signal your processes"


def enter(folders: Iterable[str], gpu: bool = False) -> bool:
    """Let this thread, and what it starts from now on, write below `folders` and to a few devices only; return whether
    that was done. To be called before other threads start."""
    found, more = version(), _of_user()
    if found == 0 or EVERYWHERE in more:
        return False
    changes = _WRITE_FILE | _REMOVE_AND_MAKE | (_REFER if found >= 2 else 0) | (_TRUNCATE if found >= 3 else 0)
    scoped = _ABSTRACT_SOCKETS | _SIGNALS if found >= SIGNALS else 0
    attributes = struct.pack("QQQ", changes, 0, scoped)[: 24 if scoped else 8]
    rules = _LIBC.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if rules < 0:
        return False
    try:
        for path in (*folders, *more, *([_SHARED_MEMORY] if gpu else [])):
            _allow(rules, path, changes if os.path.isdir(path) else changes & _TO_FILES)
        for path in (*_FILES, *(_devices_of_gpu() if gpu else [])):
            _allow(rules, path, changes & _TO_FILES)
        if _LIBC.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or _LIBC.syscall(_RESTRICT_SELF, rules, 0) != 0:
            return False
    finally:
        os.close(rules)
    _refuse_what_landlock_leaves()
    return True


def _refuse_what_landlock_leaves() -> None:
    """Refuse some system calls with a filter of the kernel (seccomp(2)): to set limits of other processes, because a
    limit of CPU time kills; to make what outlives the process; and leases, with which a process that may only read a
    file keeps others from opening it."""
    calls = _MACHINES.get(os.uname().machine)
    if calls is None:
        return
    allow, refuse = (_RETURN, 0, 0, 0x7FFF0000), (_RETURN, 0, 0, 0x00050000 | errno.EPERM)
    number, first, second = (_LOAD, 0, 0, 0), (_LOAD, 0, 0, 16), (_LOAD, 0, 0, 24)  # offsets in seccomp_data
    steps = [
        *((_LOAD, 0, 0, 4), (_EQUAL, 1, 0, calls.machine), allow, number),
        *(step for each in calls.keeping for step in ((_EQUAL, 0, 1, each), refuse)),
        *((_EQUAL, 0, 4, calls.prlimit), first, (_EQUAL, 0, 1, 0), allow, refuse),  # 0 is the process itself
        *((_EQUAL, 0, 3, calls.fcntl), second, (_EQUAL, 0, 1, _LEASE), refuse, allow),
    ]
    program = b"".join(struct.pack("HBBI", *step) for step in steps)
    code = ctypes.create_string_buffer(program, len(program))
    _LIBC.prctl(_SET_SECCOMP, 2, struct.pack("HP", len(steps), ctypes.addressof(code)), 0, 0)


def _of_user() -> list[str]:
    """The folders that the user has named."""
    return [path for path in (*os.environ.get(USER, "").split(":"), os.environ.get(CACHE, "")) if path]


def _devices_of_gpu() -> list[str]:
    return [f"/dev/{name}" for name in os.listdir("/dev") if name.startswith(_GPU)]


def _allow(rules: int, path: str, changes: int) -> None:
    """Allow changes of a file, or below a folder, that exists."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        _LIBC.syscall(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", changes, descriptor), 0)
    finally:
        os.close(descriptor)
