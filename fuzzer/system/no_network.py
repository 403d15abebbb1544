"""Take the network from this process, and from those that it starts, for good.

A filter of the kernel (seccomp(2)) refuses sockets of all families but unix ones, in native code too. Connections to
unix sockets are refused as well: behind them are daemons that look up names or start containers. Pairs of sockets and
inherited ones are used as before. This module needs no other: a process without difftvm's packages executes the file.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass

_NO_NEW_PRIVS = 38  # prctl.h: a program with more rights than this process, as sudo, gets none of them
_SET_MODE_FILTER, _ALL_THREADS, _AS_FAST_AS_BEFORE = 1, 1, 4  # seccomp.h: TSYNC, SPEC_ALLOW
_FLAGS = (_ALL_THREADS | _AS_FAST_AS_BEFORE, _ALL_THREADS)
"""The first that the kernel takes: before 4.17, and in some containers, there is no SPEC_ALLOW."""
_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06  # bpf_common.h, on words of 32 bits
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_NUMBER, _MACHINE, _FIRST, _SECOND = 0, 4, 16, 24  # offsets in seccomp_data
_UNIX, _STREAM, _SEQPACKET, _TYPE = 1, 1, 5, 0xF  # socket(2)
_X32 = 0x40000000
"""Calls of the x32 interface of x86_64 have this bit."""


@dataclass(frozen=True, slots=True)
class _Calls:
    """The numbers of system calls, and of the machine (audit.h)."""

    machine: int
    socket: int
    socketpair: int
    connect: int
    seccomp: int
    io_uring_setup: int = 425


_MACHINES = {
    "x86_64": _Calls(0xC000003E, socket=41, socketpair=53, connect=42, seccomp=317),
    "aarch64": _Calls(0xC00000B7, socket=198, socketpair=199, connect=203, seccomp=277),
}


def enter(connects: bool = False) -> bool:
    """Refuse the network from now on, in all threads; return whether that was done. It is not done on machines other
    than x86_64 and aarch64, nor where the kernel has no filters.

    `connects` leaves connections to unix sockets: the driver of a GPU may need its daemon."""
    calls = _MACHINES.get(os.uname().machine) if sys.maxsize > 1 << 32 and sys.byteorder == "little" else None
    if calls is None:
        return False
    program = b"".join(_program(calls, connects))
    code = ctypes.create_string_buffer(program, len(program))
    filter = struct.pack("HP", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return any(libc.syscall(calls.seccomp, _SET_MODE_FILTER, flags, filter) == 0 for flags in _FLAGS)


def _program(calls: _Calls, connects: bool) -> list[bytes]:
    """The filter. A program of another interface of the kernel, as one of 32 bits, can do nothing."""
    only_unix = [_step(_LOAD, _FIRST), _step(_EQUAL, _UNIX, 1, 0), _refuse(errno.EAFNOSUPPORT)]
    only_connected = [  # a datagram socket sends without a connection
        _step(_LOAD, _SECOND),
        _step(_AND, _TYPE),
        _step(_EQUAL, _STREAM, 2, 0),
        _step(_EQUAL, _SEQPACKET, 1, 0),
        _refuse(errno.ESOCKTNOSUPPORT),
    ]
    allow = [_step(_RETURN, _ALLOW)]
    sockets = [*only_unix, *([] if connects else only_connected), *allow]
    return [
        *(_step(_LOAD, _MACHINE), _step(_EQUAL, calls.machine, 1, 0), _refuse(errno.ENOSYS)),
        *(_step(_LOAD, _NUMBER), _step(_AT_LEAST, _X32, 0, 1), _refuse(errno.ENOSYS)),
        *_where(calls.socket, sockets),
        *_where(calls.socketpair, sockets),
        *_where(calls.connect, allow if connects else [_refuse(errno.ECONNREFUSED)]),
        *_where(calls.io_uring_setup, [_refuse(errno.ENOSYS)]),  # its requests make sockets, too
        *allow,
    ]


def _where(number: int, steps: Sequence[bytes]) -> list[bytes]:
    """Steps that are done for one system call only."""
    return [_step(_LOAD, _NUMBER), _step(_EQUAL, number, 0, len(steps)), *steps]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """An instruction (`sock_filter` in filter.h). A comparison skips this many of the next ones."""
    return struct.pack("HBBI", code, if_true, if_false, value)


def _refuse(error: int) -> bytes:
    return _step(_RETURN, _REFUSE | error)
