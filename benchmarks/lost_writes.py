"""Lose what a short campaign had not synced when the machine stopped, at each of its writes, and check what is left.

    python benchmarks/lost_writes.py [--tests 3] [--every 1] [--random 2] [--continue-every 25] [--seed 1] [--merge]

The calls of one campaign that change files are recorded with their data (`faulty_disk.c`). For each of them, the disk
is built as it may be when the machine stops right after the call (`lossy_disk.py`):

    lost     only what was synced is there
    names    all names are there, and of the bytes only those that were synced
    random   of each folder the first of its changes that were not synced, of each file any of its writes; `--random`
             times

Each time all folders must be whole, the index sound, and everything there that the campaign had committed by then.
Every `--continue-every`-th state is continued to the end of the tests; then all that they show must be there. With
`--merge`, it is `fuzz merge` of the campaign. Exits with 1 where one of these fails, and with 2 where the recorded
calls do not give the files of the campaign.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from faulty_disk import Call, Run, campaign, fuzz, last_line, on_a_faulty_disk
from kill import Left, incomplete, left_in, lost, missed, unsound
from lossy_disk import Choose, Disk, everything, names_only, random_choice, synced_only

from fuzzer.campaign.store import index
from fuzzer.campaign.store.layout import SCRATCH

JOURNAL = f"{index.NAME}-wal"
SHARED_MEMORY = f"{index.NAME}-shm"
"""SQLite makes it anew after a crash, and changes it without calls."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=3)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--random", type=int, default=2)
    parser.add_argument("--continue-every", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--merge", action="store_true")
    options = parser.parse_args()
    work = on_a_faulty_disk()
    source, folder = work / "source" / "campaign", work / "stopped" / "campaign"
    for each in (source, folder):
        each.parent.mkdir()
    chance = random.Random(options.seed)
    models = {"lost": synced_only, "names": names_only} | {
        f"random {number}": random_choice(chance) for number in range(1, options.random + 1)
    }

    def run() -> Run:
        return fuzz(folder, "merge", source, "--into", folder) if options.merge else campaign(folder, options.tests)

    if options.merge:
        campaign(source, options.tests)
    calls, expected = run().calls, left_in(folder)
    require_all_recorded(calls, folder)
    disk = Disk(folder)
    committed, states, bad = left_in(folder.with_name("none")), 0, 0
    for number, call in enumerate(calls, 1):
        disk.apply(call)
        if is_commit(call):
            rebuilt(disk, folder, everything)
            committed = left_in(folder)
        for model, choose in models.items() if number % options.every == 0 else ():
            rebuilt(disk, folder, choose)
            states += 1
            lines = list(_wrong(folder, committed))
            if states % options.continue_every == 0 and not lines:
                lines = list(_wrong_at_the_end(folder, expected, run()))
            bad += bool(lines)
            for line in lines:
                print(f"BAD {model} after call {number} ({call.letter} {call.path.name}): {line}", flush=True)
    print(f"{len(calls)} calls, {states} states of the disk, {bad} with something lost or broken")
    shutil.rmtree(work)
    sys.exit(1 if bad else 0)


def require_all_recorded(calls: list[Call], folder: Path) -> None:
    """Exit with 2 where the calls do not explain the files of the folder."""
    disk = Disk(folder)
    for call in calls:
        disk.apply(call)
    recorded = dict(disk.state(everything))
    paths = [path for path in folder.rglob("*") if SCRATCH not in path.parts]
    there = {path.relative_to(folder): path.read_bytes() if path.is_file() else None for path in paths}
    for path in sorted(recorded.keys() | there.keys()):
        if path.name != SHARED_MEMORY and recorded.get(path, b"absent") != there.get(path, b"absent"):
            print(f"{path}: the recorded calls do not give this file")
            sys.exit(2)


def is_commit(call: Call) -> bool:
    return call.letter == "S" and call.path.name in (index.NAME, JOURNAL) and not call.error


def rebuilt(disk: Disk, folder: Path, choose: Choose) -> None:
    """Put a state of the disk in the place of the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path, data in disk.state(choose):
        if data is None:
            (folder / path).mkdir()
        elif path.name != SHARED_MEMORY:
            (folder / path).write_bytes(data)


def _wrong(folder: Path, committed: Left) -> Iterator[str]:
    left = left_in(folder)
    yield from incomplete(folder, left.folders)
    yield from unsound(folder)
    yield from lost(committed, left)


def _wrong_at_the_end(folder: Path, expected: Left, last: Run) -> Iterator[str]:
    if last.code:
        yield f"continued with exit code {last.code}: {last_line(last.output)}"
        return
    left = left_in(folder)
    yield from _wrong(folder, left)
    yield from missed(expected, left)
    yield from (f"{path.relative_to(folder)} is left" for path in folder.rglob(".tmp-*"))


if __name__ == "__main__":
    main()
