"""Kill a campaign with SIGKILL at random times, and check what is left.

    python benchmarks/kill.py [--kills 5] [--seed 1] [--campaign DIR]

After each kill, every earlier finding is unchanged, every folder in crashes/ can be read, no process of the campaign is
alive 5 s later, and the next start continues where the last one stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fuzzer.findings import finding_file
from fuzzer.system.processes import start_time

GRACE_SECONDS = 5.0


def descendants(root: int) -> dict[int, int]:
    """The pid and start time of every process below `root`."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found: dict[int, int] = {}
    level = {root}
    while level:
        level = {pid for pid, parent in parents.items() if parent in level}
        found.update({pid: start_time(pid) for pid in level})
    return found


def fingerprints(campaign: Path) -> dict[str, str]:
    """A hash of the files of each finding, by folder. Every finding is read, which raises an error if it is damaged."""
    found = {}
    for path in sorted((campaign / "crashes").glob(f"*/{finding_file.NAME}")):
        finding_file.read_with_case(path.parent)
        files = sorted(path.parent.iterdir())
        assert len(files) == 6, f"{path.parent} has {len(files)} files"
        found[path.parent.name] = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--campaign", type=Path, default=None)
    parser.add_argument("--most-seconds", type=float, default=40.0)
    arguments = parser.parse_args()
    campaign = arguments.campaign or Path(tempfile.mkdtemp(prefix="difftvm-kill-"))
    chance = random.Random(arguments.seed)
    before: dict[str, str] = {}
    next_test = 0
    for kill in range(1, arguments.kills + 1):
        command = [sys.executable, "-m", "fuzzer.cli", "run", "--seed", "1", "--campaign", str(campaign)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        alive = chance.uniform(5.0, arguments.most_seconds)
        time.sleep(alive)
        assert process.poll() is None, f"the campaign ended by itself with {process.returncode}"
        family = descendants(process.pid)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        time.sleep(GRACE_SECONDS)
        left = [pid for pid, began in family.items() if began and start_time(pid) == began]
        after = fingerprints(campaign)
        lost = [name for name, value in before.items() if after.get(name) != value]
        now = json.loads((campaign / "campaign.json").read_text())["next_test"]
        print(
            f"kill {kill} after {alive:.1f} s: {len(family)} processes, {len(left)} left; "
            f"{len(after)} findings, {len(lost)} lost or changed; next test {now}",
            flush=True,
        )
        assert not left, f"still alive: {left}"
        assert not lost, f"lost: {lost}"
        assert now >= next_test, "the campaign went back"
        before, next_test = after, now
    print(f"{arguments.kills} kills; no finding lost or damaged, no process left")


if __name__ == "__main__":
    main()
