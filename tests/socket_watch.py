"""Runs a command and records each socket of another family than unix that one of its processes asks for, in native code
too. It gets none.

The kernel stops a process in such a call (SECCOMP_RET_USER_NOTIF in seccomp(2)), and a thread of this process answers.
It also says yes to the calls that install the filter of `no_network`, which then is not there and hides nothing.

As a program: `python socket_watch.py SOCKET COMMAND...` starts to watch itself and becomes the command.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import select
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.system.no_network import _ALLOW, _EQUAL, _FIRST, _LOAD, _MACHINES, _RETURN, _UNIX, _step, _where

ASK, LISTENER = 0x7FC00000, 8
RECEIVE, SEND = 0xC0502100, 0xC0182101
REQUEST, ANSWER = "QIIiIQ6Q", "QqiI"


@dataclass
class Watched:
    """What a command did.

    sockets   the families of the sockets that it asked for, each with the process
    filtered  the command lines of the processes that wanted to be without a network
    """

    code: int = 0
    errors: str = ""
    sockets: list[str] = field(default_factory=list)
    filtered: list[list[str]] = field(default_factory=list)


def run(command: Sequence[str], environment: Mapping[str, str], seconds: float = 400) -> Watched:
    ours, theirs = socket.socketpair()
    words = [sys.executable, "-P", __file__, str(theirs.fileno()), *command]
    environment = {**environment, "PYTHONPATH": str(Path(__file__).parents[1])}
    process = subprocess.Popen(
        words, env=environment, pass_fds=[theirs.fileno()], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    theirs.close()
    with ours:
        _, (listener, *_), _, _ = socket.recv_fds(ours, 1, 1)
    watched = Watched()
    with _answering(listener, watched):
        _, watched.errors = process.communicate(timeout=seconds)
    watched.code = process.returncode
    return watched


@contextlib.contextmanager
def _answering(listener: int, watched: Watched) -> Iterator[None]:
    ended = threading.Event()

    def answer() -> None:
        while not ended.is_set():
            if select.select([listener], [], [], 0.1)[0]:
                with contextlib.suppress(FileNotFoundError):  # the process has ended meanwhile
                    _answer(listener, watched)

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        os.close(listener)


def _answer(listener: int, watched: Watched) -> None:
    request = bytearray(struct.calcsize(REQUEST))
    fcntl.ioctl(listener, RECEIVE, request)
    id, pid, _, number, _, _, family, *_ = struct.unpack(REQUEST, request)
    words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    error = 0
    if number == _MACHINES[os.uname().machine].seccomp:
        watched.filtered.append(words)
    else:
        watched.sockets.append(f"{socket.AddressFamily(family & 0xFFFFFFFF)!r} in {' '.join(words)}")
        error = -errno.EAFNOSUPPORT
    fcntl.ioctl(listener, SEND, struct.pack(ANSWER, id, 0, error, 0))


def _listener() -> int:
    """Watch this process from now on."""
    calls, ask = _MACHINES[os.uname().machine], _step(_RETURN, ASK)
    others = [_step(_LOAD, _FIRST), _step(_EQUAL, _UNIX, 1, 0), ask, _step(_RETURN, _ALLOW)]
    steps = [*_where(calls.socket, others), *_where(calls.seccomp, [ask]), _step(_RETURN, _ALLOW)]
    code = ctypes.create_string_buffer(b"".join(steps))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)
    listener: int = libc.syscall(calls.seccomp, 1, LISTENER, struct.pack("HP", len(steps), ctypes.addressof(code)))
    if listener < 0:
        sys.exit(f"no listener: {os.strerror(ctypes.get_errno())}")
    return listener


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as end:
        socket.send_fds(end, [b"1"], [_listener()])
    os.execvp(sys.argv[2], sys.argv[2:])
