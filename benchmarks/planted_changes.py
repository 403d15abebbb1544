"""Plant changes in TVM one at a time, and let `fuzz diff` find them.

    python benchmarks/planted_changes.py [--names GLOB] [--seconds 600] [--workers 2] [--seed 1] [--out FOLDER]

`changes_of_tvm/table.py` has thirty changes for the worse and ten that change no result. Each is a preloaded file of
its own, whose run ends with the first finding that is worse. Prints a line for each change: the exit code, the
seconds until the end (the start of the compilers and triage included), the tests and the finding; then how many were
found, the median of their seconds, and how many of the harmless ones were called worse. `--out` keeps the directories
of the runs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median

from changes_of_tvm.table import HARMLESS, WORSE, Change

from fuzzer.system.exit_codes import Exit

ENDS = (Exit.GONE, Exit.WORSE, Exit.NOT_REACHED)


@dataclass(frozen=True, slots=True)
class Try:
    """How a run ended. `found` has the operators and the kind of each finding that is worse."""

    change: Change
    code: int
    seconds: float
    tests: int
    reaching: int | None
    found: tuple[str, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", default="*", metavar="GLOB")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    folder = options.out or Path(tempfile.mkdtemp(prefix="difftvm-planted-"))
    folder.mkdir(parents=True, exist_ok=True)
    tries = []
    for change in (*WORSE, *HARMLESS):
        if fnmatchcase(change.name, options.names):
            tries.append(tried(change, folder, options))
            print(line(tries[-1]), flush=True)
    print(summary(tries))


def tried(change: Change, folder: Path, options: argparse.Namespace) -> Try:
    path = folder / f"{change.name}.py"
    path.write_text(change.source)
    words = ("--patched-preload", path, "--seconds", options.seconds, "--until-worse", 1, "--seed", options.seed)
    where = ("--workers", options.workers, "--campaign", folder / change.name, "--json")
    began = time.monotonic()
    command = [sys.executable, "-m", "fuzzer.cli", "diff", *map(str, (*words, *where))]
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.monotonic() - began
    if done.returncode not in ENDS:
        sys.exit(f"{change.name}: exit code {done.returncode}: {done.stderr.strip()[-500:]}")
    result = json.loads(done.stdout)
    found = tuple(f"{row['kind']} {' '.join(row['ops'])}" for row in result["worse"])
    return Try(change, done.returncode, seconds, result["tests"], result["reaching"], found)


def line(done: Try) -> str:
    change = done.change
    sort = "harmless" if change.harmless else "rare" if change.rare else "worse"
    found = "; ".join(done.found) or "-"
    return (
        f"{change.name:42} {change.part:12} {sort:8} exit {done.code}  {done.seconds:5.0f} s  {done.tests:5,} tests, "
        f"{done.reaching} reaching  {found}"
    )


def summary(tries: list[Try]) -> str:
    worse = [each for each in tries if not each.change.harmless]
    found = [each for each in worse if each.code == Exit.WORSE]
    rare = [each for each in worse if each.change.rare]
    alarms = [each for each in tries if each.change.harmless and each.code == Exit.WORSE]
    seconds = f", median {median(each.seconds for each in found):.0f} s" if found else ""
    return (
        f"found {len(found)} of {len(worse)}{seconds}; of the rare ones {len([e for e in found if e.change.rare])} of "
        f"{len(rare)}; harmless ones called worse: {len(alarms)} of {len(tries) - len(worse)}"
    )


if __name__ == "__main__":
    main()
