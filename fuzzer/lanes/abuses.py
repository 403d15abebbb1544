"""What a broken compiler may do to the process that runs it, and to everything around that process.

Each function does one of these on purpose. The tests, and `benchmarks/abuses.py`, check that the campaign goes on.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from oracles.outcome import Stage

Abuse = Callable[[], np.ndarray | None]
"""Returns what the lane returns; None for its usual result."""


def abort() -> None:
    os.abort()


def overflow() -> None:
    """Recursion in C without an end."""
    sys.setrecursionlimit(1 << 30)
    nested: list[object] = []
    for _ in range(1 << 22):
        nested = [nested]
    repr(nested)


def hang_in_c() -> None:
    """A call that never returns and never lets another thread run."""
    while True:
        ctypes.PyDLL(None).pause()


def deaf() -> None:
    """It ignores each signal that can be ignored."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    time.sleep(600)


def threads() -> None:
    """A thread after the other, all of which wait."""
    threading.stack_size(1 << 16)
    while True:
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()


def forks() -> None:
    """A process after the other, each in a session of its own."""
    while True:
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)


def leak() -> None:
    kept = []
    while True:
        kept.append(np.ones(1 << 24))
        time.sleep(0.005)


def gulp() -> None:
    """It touches 30 GB as fast as it can."""
    page = np.ones(1 << 27, np.uint8)
    kept = [page.copy() for _ in range(240)]
    raise RuntimeError(f"it has {len(kept)} pieces of 128 MiB")


def hog() -> None:
    """A process that it starts takes the memory."""
    holds = "x = bytearray(3 << 29); import time; time.sleep(600)"
    subprocess.run([sys.executable, "-c", holds], start_new_session=True)


def daemon() -> np.ndarray:
    """It leaves a process in a session of its own, and returns its number."""
    leaves = "from subprocess import *; print(Popen(['sleep', '60'], stdout=2, start_new_session=True).pid)"
    started = subprocess.run([sys.executable, "-c", leaves], stdout=subprocess.PIPE, check=True)
    return np.array(int(started.stdout))


def prints() -> None:
    """A gigabyte, so fast that much of it comes between two looks at the log."""
    piece = b"x" * (1 << 20)
    for _ in range(1 << 10):
        os.write(1, piece)


def scratch() -> None:
    shutil.rmtree(Path(tempfile.gettempdir()).parent)


def scratch_file() -> None:
    """A file in the place of the folder of all children."""
    folder = Path(tempfile.gettempdir()).parent
    shutil.rmtree(folder)
    folder.write_text("no folder")


def scratch_link() -> None:
    """A link that leads nowhere in the place of the folder of all children."""
    folder = Path(tempfile.gettempdir()).parent
    shutil.rmtree(folder)
    folder.symlink_to(folder / "nowhere")


def nested() -> None:
    """More folders in each other than Python has frames."""
    folder = os.open(tempfile.gettempdir(), os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=folder)
        inner = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner


def many() -> None:
    """A hundred thousand files."""
    for number in range(100_000):
        os.close(os.open(f"{tempfile.gettempdir()}/{number}", os.O_CREAT))


def fills() -> None:
    """It takes the disk, up to 8 GiB, so that a fault of ours does not fill a large one, and waits."""
    with contextlib.suppress(OSError):
        for number in range(512):
            with open(f"{tempfile.gettempdir()}/{number}", "wb") as file:
                os.posix_fallocate(file.fileno(), 0, 16 << 20)
    time.sleep(600)


def pipe() -> None:
    """A pipe in the place of its folder, and in that of all children."""
    for folder in (Path(tempfile.gettempdir()), Path(tempfile.gettempdir()).parent):
        with contextlib.suppress(OSError):
            shutil.rmtree(folder)
        with contextlib.suppress(OSError):
            os.mkfifo(folder)
    os._exit(3)


def folder_link() -> None:
    """A link to a folder above in the place of its folder."""
    folder = Path(tempfile.gettempdir())
    with contextlib.suppress(OSError):
        shutil.rmtree(folder)
    folder.symlink_to(folder.parent)


def log() -> None:
    """It cuts its log, and sets a flag with which only whole blocks of it can be read."""
    print("something", flush=True)
    os.ftruncate(1, 5)
    with contextlib.suppress(OSError):
        fcntl.fcntl(1, fcntl.F_SETFL, os.O_DIRECT)
    os._exit(3)


def zygote() -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def orphan() -> None:
    """It leaves a process with an empty environment and a session of its own, and kills the zygote."""
    subprocess.Popen(["/bin/sleep", "600"], env={}, start_new_session=True, stdout=subprocess.DEVNULL, stderr=2)
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def files() -> None:
    for _ in range(900):
        os.open(os.devnull, os.O_RDONLY)


def closes() -> None:
    os.closerange(3, 4096)


def garbage() -> None:
    for descriptor in _connections():
        os.write(descriptor, b"\xff\x00garbage" * 1000)
    time.sleep(600)


def half() -> None:
    """Half a frame, and then nothing."""
    for descriptor in _connections():
        os.write(descriptor, (1000).to_bytes(4, "big") + b"x" * 500)
    time.sleep(600)


def slow() -> None:
    """A frame of which one byte comes now and then."""
    for descriptor in _connections():
        os.write(descriptor, (1000).to_bytes(4, "big"))
        for _ in range(1000):
            os.write(descriptor, b"x")
            time.sleep(0.2)


def starts() -> None:
    """It says again and again that it begins. It is the second lane of its job."""
    header = json.dumps({"message": "at", "lane": 1, "stage": Stage.START}).encode()
    frame = len(header).to_bytes(4, "little") + header
    for descriptor in _connections():
        while True:
            os.write(descriptor, len(frame).to_bytes(4, "big") + frame)
            time.sleep(0.02)


def lies() -> None:
    """A frame that is far longer than what comes."""
    for descriptor in _connections():
        os.write(descriptor, (900 << 20).to_bytes(4, "big") + b"x" * 500)
    time.sleep(600)


def huge() -> np.ndarray:
    return np.zeros(1 << 28, np.float32)


def _connections() -> Iterator[int]:
    """The descriptors of this process that are sockets."""
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                with socket.socket(fileno=os.dup(int(name))) as end:
                    end.getpeername()
                yield int(name)


ABUSES: dict[str, Abuse] = {
    each.__name__: each
    for each in (
        *(abort, overflow, hang_in_c, deaf, threads, forks, leak, gulp, hog, daemon, prints),
        *(scratch, scratch_file, scratch_link, nested, many, fills, pipe, folder_link),
        *(log, zygote, orphan, files, closes),
        *(garbage, half, slow, starts, lies, huge),
    )
}
