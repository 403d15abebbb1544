"""Every row through one of its commands in a new process; some of them under strace."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import watching
from decoders.base import ROOT

from hostile.commands import Verb, is_chosen
from hostile.copies import fresh
from hostile.ending import waited
from hostile.judging import MOST_WALL, Ended, Report, faults_of, printed, report_of
from hostile.place import Place
from hostile.row import Row


def in_new_processes(template: Path, chosen: Sequence[Row], verbs: str, traced: int) -> Iterator[Report]:
    """Every row through one of its commands, in a new interpreter; some of them under strace."""
    every = max(1, len(chosen) // traced) if traced else 0
    for number, row in enumerate(chosen):
        names = [name for name in row.commands if is_chosen(name, verbs)]
        if not names:
            continue
        name = names[number % len(names)]
        strace = bool(every) and number % every == 0
        again = f"--by-hand --new-processes --only {row.name!r} --verbs {name!r}"
        ended, faults = _new_process(template, row, row.commands[name], strace)
        yield report_of(name, row.kind, ended, faults, again)


def _make_in_a_fork(row: Row, place: Place) -> None:
    """Make the hostile files. A new process counts the most memory that its parent had before as its own, and some rows
    take hundreds of megabytes to make."""
    child = os.fork()
    if not child:
        try:
            row.make(place)
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        raise RuntimeError(f"{row.name!r} cannot be made")


_TRACED = (
    "open,openat,openat2,creat,execve,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,link,symlink,connect"
)


def _new_process(template: Path, row: Row, verb: Verb, strace: bool) -> tuple[Ended, list[str]]:
    place = fresh(template, template.with_name("row"))
    _make_in_a_fork(row, place)
    log, trace = place.root / "log", place.root / "trace"
    log.touch()
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'benchmarks' / 'watched'}:{ROOT}",
        watching.FOLDERS: f"{place.campaign}:{place.good}:{place.out}:{log}",
        watching.LOG: str(log),
    }
    command = [sys.executable, "-m", "fuzzer.cli", *map(str, verb.words(place))]
    if strace:
        command = ["strace", "-f", "-qq", "-y", "-e", f"trace={_TRACED}", "-o", str(trace), *command]
    with (place.root / "stdout").open("wb") as out, (place.root / "stderr").open("wb") as err:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=err, cwd=place.out)
        ending = waited(process.pid, MOST_WALL * (3 if strace else 1))
        process.returncode = ending.code
    cpu, wall = (0.0, 0.0) if strace else (ending.cpu, ending.wall)  # strace takes more than the command
    events = log.read_text().splitlines()
    ended = Ended(ending.code, *printed(place), cpu, wall, ending.megabytes, events)
    traced = _outside_in(trace.read_text(errors="replace"), place) if strace else []
    return ended, [*faults_of(ended, place), *traced]


def _outside_in(trace: str, place: Place) -> list[str]:
    """The calls of a trace that touched the folder outside, changed a file elsewhere, or executed another program."""
    found = []
    for line in trace.splitlines():
        call, _, rest = line.partition(" ")[2].strip().partition("(")
        if rest.rpartition("= ")[2].startswith("-1"):
            continue
        path = (re.search(r'"((?:[^"\\]|\\.)*)"', rest) or [""] * 2)[1]
        target = (re.search(r"= \d+<([^>]*)>", rest) or ["", path])[1]
        changes = (
            call not in ("open", "openat", "openat2", "execve", "connect") or "O_WRONLY" in rest or "O_RDWR" in rest
        )
        given = (str(place.root), "/dev/null", "/dev/tty", "/proc/self", "/dev/shm", "pipe:", "anon_inode")
        if str(place.outside) in target:
            found.append(f"strace: {call} {target}")
        elif call == "execve" and not re.search(r"/(python[\d.]*|nvidia-smi|lscpu|ldconfig)$", path):
            found.append(f"strace: it executed {path}")
        elif call == "connect" and "AF_UNIX" not in rest and "AF_NETLINK" not in rest:
            found.append(f"strace: {call} {rest[:100]}")
        elif changes and call != "connect" and target.startswith("/") and not target.startswith(given):
            found.append(f"strace: {call} {target}")
    return found
