"""Plant changes in TVM one at a time, and let `fuzz diff` find them.

    python benchmarks/planted_changes.py [--by-rule] [--names GLOB] [--count N] [--seconds 600] [--workers 2] [--seed 1]
        [--out FOLDER]

`changes_of_tvm/table.py` has thirty changes for the worse and ten that change no result. With `--by-rule`, they are 60
and 12 that `changes_of_tvm/by_rule.py` makes of TVM's own tables; `--count` takes this many of them, by a digest of
their names. Each is a preloaded file of its own, whose run ends with the first finding that is worse. Prints a line for
each change: the exit code, the seconds until the end (the start of the compilers and triage included), the CPU seconds
of all processes, the tests and the finding; then how many were found, the medians of their seconds, how many were never
reached, and how many of the harmless ones were called worse. On a machine with other work, half of the CPU seconds is
what two idle cores would take. `--out` keeps the directories of the runs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median

from changes_of_tvm.by_rule import planted
from changes_of_tvm.table import HARMLESS, WORSE, Change

from fuzzer.difference.changed_entries import tables_of
from fuzzer.system.exit_codes import Exit
from fuzzer.toolchains.toolchain import HOST

ENDS = (Exit.GONE, Exit.WORSE, Exit.NOT_REACHED)


@dataclass(frozen=True, slots=True)
class Try:
    """How a run ended. `found` has the operators and the kind of each finding that is worse."""

    change: Change
    code: int
    seconds: float
    cpu_seconds: float
    tests: int
    reaching: int | None
    found: tuple[str, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--by-rule", action="store_true")
    parser.add_argument("--names", default="*", metavar="GLOB")
    parser.add_argument("--count", type=int)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    folder = options.out or Path(tempfile.mkdtemp(prefix="difftvm-planted-"))
    folder.mkdir(parents=True, exist_ok=True)
    changes = planted(tables_of(HOST, folder)[0]) if options.by_rule else (*WORSE, *HARMLESS)
    changes = tuple(change for change in changes if fnmatchcase(change.name, options.names))
    if options.count:
        changes = tuple(sorted(changes, key=lambda each: hashlib.sha256(each.name.encode()).digest())[: options.count])
    tries = []
    for change in changes:
        tries.append(tried(change, folder, options))
        print(line(tries[-1]), flush=True)
    print(summary(tries))


def tried(change: Change, folder: Path, options: argparse.Namespace) -> Try:
    path = folder / f"{change.name}.py"
    path.write_text(change.source)
    words = ("--patched-preload", path, "--seconds", options.seconds, "--until-worse", 1, "--seed", options.seed)
    where = ("--workers", options.workers, "--campaign", folder / change.name, "--json")
    began, spent = time.monotonic(), _cpu_seconds()
    command = [sys.executable, "-m", "fuzzer.cli", "diff", *map(str, (*words, *where))]
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.monotonic() - began
    if done.returncode not in ENDS:
        sys.exit(f"{change.name}: exit code {done.returncode}: {done.stderr.strip()[-500:]}")
    result = json.loads(done.stdout)
    found = tuple(f"{row['kind']} {' '.join(row['ops'])}" for row in result["worse"])
    cpu_seconds = _cpu_seconds() - spent
    return Try(change, done.returncode, seconds, cpu_seconds, result["tests"], result["reaching"], found)


def _cpu_seconds() -> float:
    """Those of all processes that have ended below this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def line(done: Try) -> str:
    change = done.change
    sort = "harmless" if change.harmless else "rare" if change.rare else "worse"
    found = "; ".join(done.found) or "-"
    took = f"{done.seconds:5.0f} s  {done.cpu_seconds:5.0f} CPU s  {done.tests:5,} tests, {done.reaching} reaching"
    return f"{change.name:42} {change.part:12} {sort:8} exit {done.code}  {took}  {found}"


def summary(tries: list[Try]) -> str:
    worse = [each for each in tries if not each.change.harmless]
    found = [each for each in worse if each.code == Exit.WORSE]
    rare = [each for each in worse if each.change.rare]
    alarms = [each for each in tries if each.change.harmless and each.code == Exit.WORSE]
    seconds = ""
    if found:
        cpu = median(each.cpu_seconds for each in found)
        seconds = f", median {median(each.seconds for each in found):.0f} s, {cpu:.0f} CPU s"
    unreached = [each for each in worse if each.code == Exit.NOT_REACHED]
    called_worse = f"harmless ones called worse: {len(alarms)} of {len(tries) - len(worse)}"
    return (
        f"found {len(found)} of {len(worse)}{seconds}; of the rare ones {len([e for e in found if e.change.rare])} of "
        f"{len(rare)}; not reached: {len(unreached)}; {called_worse}"
    )


if __name__ == "__main__":
    main()
