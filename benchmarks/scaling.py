"""Measure how much a second worker adds, and what the supervisor costs.

    python benchmarks/scaling.py [--workers 1,2] [--seconds 300] [--seed 1]

Runs a campaign of the same seed with each number of workers, one after the other. Prints tests and lane results per
second from the first test on, and the supervisor's share of the CPU time. Lane results include triage, because the cost
of a test depends on what it finds. The comparison is valid only if CPU seconds per second are near the number of
workers; otherwise the machine was busy with other work.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from fuzzer.campaign import state
from fuzzer.system.processes import own_cpu_seconds


@dataclass(frozen=True)
class Point:
    seconds: float
    tests: int
    results: int
    cpu: float
    supervisor: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    alone = 0.0
    for workers in map(int, arguments.workers.split(",")):
        first, last = _run(workers, arguments.seconds, arguments.seed)
        spent, passed = last.cpu - first.cpu, last.seconds - first.seconds
        rate = (last.results - first.results) / passed
        alone = alone or rate
        share = (last.supervisor - first.supervisor) / spent
        print(
            f"{workers} workers  {(last.tests - first.tests) / passed:6.3f} tests/s  {rate:6.2f} lane results/s "
            f"({rate / alone:.2f}x)  {(last.results - first.results) / spent:5.2f} a CPU second  "
            f"{spent / passed:4.2f} CPU s/s  supervisor {share:.1%} of that",
            flush=True,
        )


def _run(workers: int, seconds: float, seed: int) -> tuple[Point, Point]:
    """Run a campaign. Return the counters after the first test and at the end."""
    folder = Path(tempfile.mkdtemp(prefix="difftvm-"))
    words = ["run", "--seconds", seconds, "--workers", workers, "--seed", seed, "--campaign", folder]
    points: list[Point] = []
    with subprocess.Popen(
        [sys.executable, "-m", "fuzzer.cli", *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while process.poll() is None:
            time.sleep(1)
            books = (state.read(folder) or state.State(0)).counters
            done = books.lane_results + books.triage_lane_results
            if books.tests and (not points or done > points[-1].results):
                spent = own_cpu_seconds(process.pid)
                points.append(Point(books.wall_seconds, books.tests, done, books.cpu_seconds, spent))
    usable = [point for point in points if point.supervisor]  # 0: the process had ended
    if len(usable) < 2:
        sys.exit(f"{workers} workers: too short to measure (exit code {process.returncode})")
    return usable[0], usable[-1]


if __name__ == "__main__":
    main()
