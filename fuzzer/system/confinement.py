"""Confine this process, and those that it starts, for good: they write below some folders only, and signal no other.

The kernel enforces it (Landlock, landlock(7)): writing since Linux 5.13, commands to devices since 6.10, signals and
abstract unix sockets since 6.12. A filter of system calls (seccomp(2)) refuses what Landlock leaves. What was opened
before stays open. This module needs no other: a process without difftvm's packages executes the file.
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

_FILES = ("/dev/null", "/dev/zero", "/dev/full")
_OF_PROCESS = "/proc/self/clear_refs"
"""A lane measures its memory with it. Not the whole folder: its `oom_score_adj` says whom the kernel ends first when
memory is short, and that is the lane."""
_OF_GPU_PROCESS = "/proc/self"
_GPU = ("nvidia", "dri", "kfd", "dxg")
"""How the names of the devices of a GPU begin."""

_SHARED_MEMORY = "/dev/shm"
"""CUDA makes files there."""

SIGNALS = 6
"""The version of Landlock that bounds signals."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # on all machines but alpha
_ASK_FOR_VERSION, _PATH_BENEATH = 1, 1
_WRITE_FILE, _REFER, _TRUNCATE, _IOCTL_DEV = 1 << 1, 1 << 13, 1 << 14, 1 << 15
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_MAKE_DEVICES = 1 << 6 | 1 << 11  # character and block devices: allowed nowhere
_TO_FILES = _WRITE_FILE | _TRUNCATE | _IOCTL_DEV
_SINCE = {_REFER: 2, _TRUNCATE: 3, _IOCTL_DEV: 5}
"""The version of Landlock that has a right; the others are in each."""
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2
_NO_NEW_PRIVS, _SET_SECCOMP = 38, 22  # prctl.h
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06  # bpf_common.h
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16  # offsets in seccomp_data; each argument has 8 bytes, the lower 4 first
_LEASE = 1024  # F_SETLEASE in fcntl.h
_LIMITS = (0, 1, 2)
"""RLIMIT_CPU, RLIMIT_FSIZE and RLIMIT_DATA: the supervisor has set them."""
_CAPABILITIES = 0x20080522  # of capget(2), version 3
_DAC_OVERRIDE = 1 << 1
"""The capability of root to open what belongs to others."""

_COMMANDS = (
    *(0x5412, 0x541C),  # TIOCSTI, TIOCLINUX: type into a terminal
    *(0x5402, 0x5403, 0x5404, 0x5406, 0x5407, 0x5408),  # TCSETS, TCSETA and the like: settings of a terminal
    *(0x402C542B, 0x402C542C, 0x402C542D),  # TCSETS2 and the like
    *(0x5414, 0x5423, 0x541D, 0x540E, 0x5410),  # TIOCSWINSZ, TIOCSETD, TIOCCONS, TIOCSCTTY, TIOCSPGRP
    *(0x40086602, 0x40046602, 0x401C5820),  # FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR: flags of a file
    *(0x40087602, 0x40047602),  # FS_IOC_SETVERSION, FS_IOC32_SETVERSION
    *(0x40806685, 0x800C6613),  # FS_IOC_ENABLE_VERITY, FS_IOC_SET_ENCRYPTION_POLICY
)
"""Commands of ioctl(2) that change what the process may only read (ioctls.h, fs.h). Their numbers are the same on both
machines."""


@dataclass(frozen=True, slots=True)
class _Calls:
    """The numbers of the machine (audit.h) and of system calls. `refused` are all calls that make, change or remove
    what belongs to no folder: System V shared memory, semaphores and queues, POSIX queues, keys of the kernel; and the
    one that sets flags of a file."""

    machine: int
    prlimit: int
    setrlimit: int
    fcntl: int
    ioctl: int
    refused: tuple[int, ...]


_FILE_SETATTR = 469  # on all machines but alpha
_MACHINES = {
    "x86_64": _Calls(
        0xC000003E,
        prlimit=302,
        setrlimit=160,
        fcntl=72,
        ioctl=16,
        refused=(
            *(29, 30, 31),  # shmget, shmat, shmctl
            *(64, 65, 66, 220),  # semget, semop, semctl, semtimedop
            *(68, 69, 70, 71),  # msgget, msgsnd, msgrcv, msgctl
            *(240, 241),  # mq_open, mq_unlink
            *(248, 249, 250),  # add_key, request_key, keyctl
            _FILE_SETATTR,
        ),
    ),
    "aarch64": _Calls(
        0xC00000B7,
        prlimit=261,
        setrlimit=164,
        fcntl=25,
        ioctl=29,
        refused=(
            *(194, 196, 195),  # in the same order
            *(190, 193, 191, 192),
            *(186, 189, 188, 187),
            *(180, 181),
            *(217, 218, 219),
            _FILE_SETATTR,
        ),
    ),
}

_Step = tuple[int, int, int, int]
"""An instruction: its code, how many of the next ones it skips where it compares equal and where not, its value."""
_ALLOW: _Step = (_RETURN, 0, 0, 0x7FFF0000)
_REFUSE: _Step = (_RETURN, 0, 0, 0x00050000 | errno.EPERM)

_LIBC = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """The version of Landlock in this kernel; 0 where there is none, or it is switched off."""
    return max(0, int(_LIBC.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_FOR_VERSION)))


def in_words(found: int, confines: bool = True) -> str:
    """What such a version confines; nothing where `enter` could not be done."""
    if EVERYWHERE in _of_user():
        return f"{USER} is {EVERYWHERE}: lanes may write where you may, and signal your processes"
    if found == 0:
        return "the kernel has no Landlock: lanes may write where you may, and signal your processes"
    if not confines:
        return f"Landlock {found} cannot be used here: lanes may write where you may, and signal your processes"
    written = f"Landlock {found}: lanes write in their own folders only"
    return f"{written}, and signal no other process" if found >= SIGNALS else f"{written}, but signal your processes"


def enter(folders: Iterable[str], gpu: bool = False) -> bool:
    """Let this thread, and what it starts from now on, write below `folders` and to a few devices only; return whether
    that was done. To be called before other threads start."""
    found, more = version(), _of_user()
    if found == 0 or EVERYWHERE in more:
        return False
    changes = _WRITE_FILE | _REMOVE_AND_MAKE | sum(right for right, since in _SINCE.items() if found >= since)
    scoped = _ABSTRACT_SOCKETS | _SIGNALS if found >= SIGNALS else 0
    attributes = struct.pack("QQQ", changes, 0, scoped)[: 24 if scoped else 8]
    rules = _LIBC.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if rules < 0:
        return False
    try:
        for path in (*folders, *more, *([_SHARED_MEMORY] if gpu else [])):
            _allow(rules, path, changes & ~_MAKE_DEVICES if os.path.isdir(path) else changes & _TO_FILES)
        for path in (*_FILES, *((_OF_GPU_PROCESS, *_devices_of_gpu()) if gpu else [_OF_PROCESS])):
            _allow(rules, path, changes & _TO_FILES)
        if _LIBC.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or _LIBC.syscall(_RESTRICT_SELF, rules, 0) != 0:
            return False
    finally:
        os.close(rules)
    _drop_capabilities()
    _refuse_what_landlock_leaves()
    return True


def _drop_capabilities() -> None:
    """Keep of root's rights the one to open what belongs to others, which Landlock bounds (capabilities(7)). The right
    to raise limits is among those that go."""
    header, data = struct.pack("=Ii", _CAPABILITIES, 0), ctypes.create_string_buffer(24)
    if _LIBC.capget(header, data) == 0:
        effective, permitted, *_ = struct.unpack("=6I", data.raw)  # the lower words, then the inheritable ones
        _LIBC.capset(header, struct.pack("=6I", effective & _DAC_OVERRIDE, permitted & _DAC_OVERRIDE, 0, 0, 0, 0))


def _refuse_what_landlock_leaves() -> None:
    """Refuse some system calls with a filter of the kernel (seccomp(2)): to set limits of other processes, because a
    limit of CPU time kills, and to change those that the supervisor has set; to make, use or remove what outlives the
    process; commands that change a terminal, or flags of a file that may only be read; and leases, with which a process
    that may only read a file keeps others from opening it."""
    calls = _MACHINES.get(os.uname().machine)
    if calls is None:
        return
    steps = [
        *((_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, calls.machine), _ALLOW),
        *((_LOAD, 0, 0, _NUMBER), *_refused(calls.refused)),
        *_where(
            calls.prlimit,
            [
                *(*_argument(0), (_EQUAL, 1, 0, 0), _REFUSE),  # 0 is the process itself
                *(*_argument(2), (_EQUAL, 0, 3, 0), *_argument(2, upper=True), (_EQUAL, 0, 1, 0), _ALLOW),  # it asks
                *(*_argument(1), *_refused(_LIMITS), _ALLOW),
            ],
        ),
        *_where(calls.setrlimit, [*_argument(0), *_refused(_LIMITS), _ALLOW]),
        *_where(calls.fcntl, [*_argument(1), *_refused([_LEASE]), _ALLOW]),
        *_where(calls.ioctl, [*_argument(1), *_refused(_COMMANDS), _ALLOW]),
        _ALLOW,
    ]
    program = b"".join(struct.pack("HBBI", *step) for step in steps)
    code = ctypes.create_string_buffer(program, len(program))
    _LIBC.prctl(_SET_SECCOMP, 2, struct.pack("HP", len(steps), ctypes.addressof(code)), 0, 0)


def _argument(number: int, upper: bool = False) -> list[_Step]:
    """Load one of the halves of an argument."""
    return [(_LOAD, 0, 0, _ARGUMENTS + 8 * number + 4 * upper)]


def _refused(values: Iterable[int]) -> list[_Step]:
    """Refuse the call where what was loaded is one of these."""
    return [step for value in values for step in ((_EQUAL, 0, 1, value), _REFUSE)]


def _where(call: int, steps: list[_Step]) -> list[_Step]:
    """Steps for one call, whose number is loaded. The last one ends the filter."""
    return [(_EQUAL, 0, len(steps), call), *steps]


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
