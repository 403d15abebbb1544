"""Move a process that runs lanes into a user namespace, so that it cannot read the memory of the supervisor.

A process may read the memory of another process of the same user, unless that process forbids it
(`processes.forbid_reading`). Root may do so even then, except from within another user namespace (ptrace(2), "Ptrace
access mode checking"). In the new namespace all users have the numbers that they had, so access to files is as before.
"""

from __future__ import annotations

import ctypes
import os
import socket
from pathlib import Path

_NEW_USER = 0x10000000  # CLONE_NEWUSER in sched.h
_LIBC = ctypes.CDLL(None, use_errno=True)


def enter() -> bool:
    """Enter a new user namespace; return whether that was done. It is not done for users other than root, who do not
    need it, nor where the kernel does not allow it, as in many containers. The process must have one thread."""
    if os.geteuid() != 0:
        return False
    ours, theirs = socket.socketpair()
    with ours, theirs:
        pid = os.fork()
        if pid == 0:
            ours.close()
            _hold(theirs)
        theirs.close()
        try:
            return ours.recv(1) == b"1" and _is_mapped(pid) and _join(pid)
        finally:
            ours.close()
            os.waitpid(pid, 0)


def _hold(connection: socket.socket) -> None:
    """In a child: make the namespace, say whether it was made, and keep it until the other side is closed."""
    try:
        connection.send(b"1" if _LIBC.unshare(_NEW_USER) == 0 else b"0")
        connection.recv(1)
    finally:
        os._exit(0)


def _is_mapped(pid: int) -> bool:
    """Give each user and group of this namespace the same number in that of the child; return whether this worked."""
    try:
        for file in ("uid_map", "gid_map"):
            lines = [line.split() for line in Path(f"/proc/self/{file}").read_text(encoding="utf-8").splitlines()]
            Path(f"/proc/{pid}/{file}").write_text(
                "".join(f"{inside} {inside} {size}\n" for inside, _, size in lines), encoding="utf-8"
            )
    except OSError:
        return False
    return True


def _join(pid: int) -> bool:
    descriptor = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY)
    try:
        return bool(_LIBC.setns(descriptor, _NEW_USER) == 0)
    finally:
        os.close(descriptor)
