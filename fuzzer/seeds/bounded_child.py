"""Read a model's file in a child with limits for time, memory and the size of its answer.

The module of such a child has two functions: `answer(path, *more)` returns the answer, and `main` writes it."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import msgspec

from fuzzer.seeds.archive import bytes_on_disk
from fuzzer.system import confinement, no_network
from fuzzer.system.child_environment import anonymous
from fuzzer.system.environment import MachineLacks
from fuzzer.system.process_clock import ProcessClock
from fuzzer.system.processes import ONE_THREAD, die_with_parent
from fuzzer.toolchains.toolchain import HOST
from generators.graph import Invalid

LOG_BYTES, POLL_SECONDS = 300, 0.1


@dataclass(frozen=True, slots=True)
class Limits:
    """The most bytes of addresses and CPU seconds of a child that reads a file, and how long its parent waits."""

    memory: int
    cpu_seconds: int

    @property
    def wall_seconds(self) -> float:
        return 2.0 * self.cpu_seconds + 10

    @property
    def too_much_memory(self) -> str:
        return f"reading it takes more than {self.memory / (1 << 30):.1f} GiB of memory"


def limits_of(*paths: Path) -> Limits:
    """What small files may take, and more in proportion for large ones: 8 GiB and 120 s for one of 2 GiB. Holes of a
    file do not count, nor what is above `MOST_ARCHIVE`."""
    size = sum(bytes_on_disk(path.stat()) for path in paths)
    return Limits((2 << 30) + 3 * size, 30 + 45 * size // (1 << 30))


Answer = Callable[..., msgspec.Struct]
"""The function `answer` of the module of a child."""

_here = ContextVar[Mapping[str, Answer]]("_here", default={})  # noqa: B039


@contextmanager
def in_this_process(answers: Mapping[str, Answer]) -> Iterator[None]:
    """Inside, no child is started for these modules, and there are no limits: for files that this process has written
    itself, and that are so many that a child for each of them would take an hour."""
    token = _here.set(answers)
    try:
        yield
    finally:
        _here.reset(token)


def answer_of(module: str, path: Path, most: int, *more: Path) -> bytes:
    """Run `python -m MODULE PATH PARENT MORE...` and return what it writes to stdout. Raise `Invalid` with one line
    where it fails, writes nothing, takes more than its limits, or writes more than `most` bytes, and `MachineLacks`
    where the machine is too busy to read it."""
    if answer := _here.get().get(module):
        return msgspec.json.encode(answer(path, *more))
    try:
        limits = limits_of(path, *more)
    except OSError as error:
        raise Invalid(f"{path}: {error.strerror}") from None
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as log:
        command = [HOST.python, "-P", "-m", module, str(path), str(os.getpid()), *map(str, more)]
        code = _exit_code(
            subprocess.Popen(
                command,
                env=anonymous() | ONE_THREAD,  # each thread takes addresses
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=log,
            ),
            limits.wall_seconds,
        )
        if code is None:
            raise Invalid(f"{path}: not read within {limits.wall_seconds:g} s")
        if code == -signal.SIGXCPU:
            raise Invalid(f"{path}: not read within {limits.cpu_seconds} CPU seconds")
        size = output.seek(0, os.SEEK_END)
        if code or not size:
            log.seek(max(0, log.seek(0, os.SEEK_END) - LOG_BYTES))
            last = log.read().decode(errors="replace").strip().rpartition("\n")[2]
            raise Invalid(f"{path}: its reader ended with status {code}: {last}")
        if size > most:
            raise Invalid(f"{path}: its description has {size >> 20} MiB, more than {most >> 20}")
        output.seek(0)
        return output.read()


def _exit_code(child: subprocess.Popen[bytes], seconds: float) -> int | None:
    """Wait for a child, and end it after `seconds`; None then. What it waits for a processor does not count. Raise
    `MachineLacks` where it waits for too long."""
    clock = ProcessClock(child.pid)
    try:
        while not clock.is_over(seconds):
            if busy := clock.why_short(seconds):
                raise MachineLacks(busy)
            with suppress(subprocess.TimeoutExpired):
                return child.wait(POLL_SECONDS)
        return None
    finally:
        child.kill()
        child.wait()


def limit_child(parent: int, limits: Limits) -> IO[bytes]:
    """Set the limits of this process, which is the child, and confine it: it opens no file for writing. Return the file
    to which it writes its answer. What libraries print to stdout goes to stderr, so that it is not mistaken for the
    answer."""
    die_with_parent(parent)
    _limit(resource.RLIMIT_AS, limits.memory)
    _limit(resource.RLIMIT_CPU, limits.cpu_seconds)
    no_network.enter()
    confinement.enter([])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _limit(kind: int, most: int) -> None:
    """Set a limit of this process, or keep the one that it has (`ulimit`) where that is lower."""
    lowest = min([most, *(limit for limit in resource.getrlimit(kind) if limit != resource.RLIM_INFINITY)])
    resource.setrlimit(kind, (lowest, lowest))
