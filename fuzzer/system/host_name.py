"""Hide the name of the machine from a process that runs lanes, where the kernel allows it."""

from __future__ import annotations

import ctypes
import socket

NAME = "localhost"
_NEW_UTS = 0x04000000  # CLONE_NEWUTS in sched.h


def hide() -> bool:
    """Give this process, and those that it starts, a host name of their own (uts_namespaces(7)); return whether it was
    given. The process needs the rights of root, in its own user namespace at least."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_UTS) != 0:
        return False
    socket.sethostname(NAME)
    return True
