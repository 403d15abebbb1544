"""One command in this process, which is a fork of the one that has imported the commands."""

from __future__ import annotations

import os
import re
import resource
import sys
import time
import traceback
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NoReturn

import typer
import watching

from fuzzer import cli
from fuzzer.system import processes
from hostile.judging import Ended, printed
from hostile.place import Place


def build_commands_once() -> None:
    """Keep what Typer makes of a command's function. It takes a quarter of the time of a command that refuses its
    files, and a process of a user makes it once only."""
    cli.command_of = cache(cli.command_of)
    typer.main.get_command = cache(typer.main.get_command)


class Started(BaseException):
    """The command would start a compiler."""


_EVENTS: list[str] = []


def watch_here(place: Place) -> None:
    """From now on, this process is watched. It cannot be undone."""

    def started(command: str) -> NoReturn:
        raise Started(command)

    folders = [place.campaign, place.good, place.out]
    watching.watch([str(folder) for folder in folders], _EVENTS.append, started)


def run_here(words: Sequence[object], place: Place) -> Ended:
    """Run the command in this process, which is watched."""
    outputs = [place.root / name for name in ("stdout", "stderr")]
    descriptors = [os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC) for path in outputs]
    for number, descriptor in enumerate(descriptors, 1):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.argv = ["fuzz", *map(str, words)]
    _EVENTS.clear()
    _forget_peak()
    began, cpu, of_earlier = _own_seconds(), _cpu(), _peak_of_children()
    code = _ends_with()
    sys.stdout.flush()
    sys.stderr.flush()
    cpu, wall, megabytes = _cpu() - cpu, _own_seconds() - began, _peak(of_earlier)
    events = list(_EVENTS)
    return Ended(code, *printed(place), cpu, wall, megabytes, events)


def _ends_with() -> int:
    try:
        cli.main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except Started:
        return watching.STARTED
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _own_seconds() -> float:
    """Seconds, without those in which this process waited for a processor."""
    return time.monotonic() - processes.waits(os.getpid())[os.getpid()]


def _cpu() -> float:
    usages = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(each.ru_utime + each.ru_stime for each in usages)


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak(of_earlier: int) -> float:
    """The most memory of this process since `_forget_peak`, in MB, or of a child that it has waited for, where that has
    taken more than all children before, which is `of_earlier`."""
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    children = _peak_of_children()
    return max(int(peak[1]) if peak else 0, children if children > of_earlier else 0) / 1000


def _peak_of_children() -> int:
    """The most memory of a child that this process has waited for, in kB. It never falls."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def bound_memory() -> None:
    """So that a fault cannot take all memory of the machine."""
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, resource.RLIM_INFINITY))
