"""Runs `fuzz` on a disk whose calls are recorded, and of which one fails. Other benchmarks import it.

A library that is loaded before libc (`faulty_disk.c`) counts and records the calls with which a process changes files
below a folder. `on_a_faulty_disk` compiles it and starts the command again with it. The commands are forked from a
process that has imported everything, because the import takes longer than a short campaign. Their lanes are those
without a compiler (`benchmarks/fast_lanes`).
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from child_campaign import ROOT

from fuzzer.campaign.store.layout import SCRATCH
from fuzzer.system import process_tree
from fuzzer.system.process_clock import ProcessClock
from fuzzer.system.processes import die_with_parent

SOURCE = ROOT / "benchmarks" / "faulty_disk.c"
FAST_LANES = ROOT / "benchmarks" / "fast_lanes"
SHORT = "short"
ERRORS = {name: getattr(errno, name) for name in ("ENOSPC", "EIO", "EDQUOT", "EROFS")} | {SHORT: -1}
"""What may happen to a call: an error, or (`short`) a write that ends after half of its bytes."""

MOST_SECONDS = 120.0
"""A command that takes longer hangs. What it and its lanes wait for a processor does not count."""

_HEADER = struct.Struct("<7q")


class Call(NamedTuple):
    """A call that changed a file, or failed to. `faulty_disk.c` lists the letters."""

    letter: str
    error: int
    offset: int
    size: int
    path: Path
    to: Path
    data: bytes


@dataclass(frozen=True, slots=True)
class Run:
    """How a command ended, and the calls that it made."""

    code: int
    output: str
    calls: list[Call]


def on_a_faulty_disk() -> Path:
    """Start this command again with the library, unless it has it. Return a folder for its files."""
    if work := os.environ.pop("DIFFTVM_FAULTY_DISK", ""):
        del os.environ["LD_PRELOAD"]  # processes that a command starts need it not
        _import_all()
        return Path(work)
    folder = Path(tempfile.mkdtemp(prefix="difftvm-faults-"))
    library = folder / "faulty_disk.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-pthread", "-o", str(library), str(SOURCE), "-ldl"], check=True)
    paths = os.pathsep.join((str(FAST_LANES), str(ROOT)))
    added = {"LD_PRELOAD": str(library), "DIFFTVM_FAULTY_DISK": str(folder), "PYTHONPATH": paths}
    return os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **added})


def _import_all() -> None:
    """Import what the commands need. The self-test is left out: its lanes wait for time limits."""
    import sitecustomize

    sitecustomize.leave_out_the_self_test()
    import fuzzer.campaign.run.start
    import fuzzer.cli
    import fuzzer.commands.merge
    import fuzzer.commands.run
    import fuzzer.commands.status  # noqa: F401


def fuzz(folder: Path, *words: object, at: int = 0, fault: str = "EIO") -> Run:
    """Run `fuzz` with these words. Of its calls that change files below `folder`, the one with the number `at` (from 1)
    fails; none with 0. Raise `TimeoutError` where it does not end."""
    log, printed = folder.with_name("calls"), folder.with_name("printed")

    def command() -> int:
        but, begin = SCRATCH.encode(), ctypes.CDLL(None).disk_faults_begin
        begin(os.fsencode(folder), but, ctypes.c_long(at), ERRORS[fault], os.fsencode(log))
        sys.argv = ["fuzz", *map(str, words)]
        from fuzzer.cli import main

        return _code_of(main)

    code = _forked(command, printed)
    return Run(code, printed.read_text(errors="replace"), list(_calls_in(log)))


def campaign(folder: Path, tests: int, at: int = 0, fault: str = "EIO") -> Run:
    """A short campaign, or its rest: `tests` tests, and then triage of all sightings."""
    done = Path(folder / "campaign.json").exists()
    words = ("run", "--campaign", folder, "--random", "--lanes", "relax-export-raw-llvm", "--workers", 1)
    ends = ("--tests", tests, "--drain", 60, "--scope-share", 0)
    return fuzz(folder, *words, *ends, *(() if done else ("--seed", 1)), at=at, fault=fault)


def _code_of(main: Callable[[], None]) -> int:
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _forked(command: Callable[[], int], printed: Path) -> int:
    """Run a function in a fork whose output goes to the file `printed`; return its result."""
    parent = os.getpid()
    if (pid := os.fork()) == 0:
        code = 1
        try:
            die_with_parent(parent)
            os.setsid()
            output = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            for number, descriptor in enumerate((os.open(os.devnull, os.O_RDONLY), output, output)):
                os.dup2(descriptor, number)
            code = command()
        finally:
            with suppress(OSError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)
    clock, turns = ProcessClock(pid), 0
    while (ended := os.waitpid(pid, os.WNOHANG)) == (0, 0):
        if (turns := turns + 1) % 10 == 0 and clock.is_over(MOST_SECONDS):
            process_tree.kill(pid)
            os.waitpid(pid, 0)
            raise TimeoutError(
                f"it did not end in {MOST_SECONDS:g} s, without those in which it waited for a processor"
            )
        time.sleep(0.01)
    return os.waitstatus_to_exitcode(ended[1])


def _calls_in(log: Path) -> Iterator[Call]:
    data, place = log.read_bytes(), 0
    while place < len(data):
        letter, error, offset, size, *lengths = _HEADER.unpack_from(data, place)
        place += _HEADER.size
        parts = []
        for length in lengths:
            parts.append(data[place : place + length])
            place += length
        path, to, written = parts
        yield Call(chr(letter), error, offset, size, Path(os.fsdecode(path)), Path(os.fsdecode(to)), written)


def last_line(output: str) -> str:
    lines: Sequence[str] = output.strip().splitlines() or [""]
    return lines[-1][-300:]
