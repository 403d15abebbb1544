"""Check that a long campaign does not degrade: memory, descriptors, zombies, shared memory and throughput.

    python benchmarks/endurance.py --seconds 7200 [--workers 2] [--campaign DIR]

Runs `fuzz run` and samples it every ten seconds: the resident memory and CPU of the supervisor, the memory of its
zygote, the open descriptors of the supervisor, its zombies, the files in /dev/shm, and the counters in campaign.json
and the index. The verdict compares the last tenth of the time with the second tenth; the first tenth is warm-up.

Throughput is measured in tests per second and in lane results per CPU second of tests. It may fall because the process
wears out, or because other tests are drawn by then. So it is also compared with that of a new process, which continues
the same campaign for as long: both are at the same point of the campaign. Results of triage are printed but not judged,
because their cost depends on the failure: 0.1 s where an importer refuses a case, 6 s where code grows.
"""

from __future__ import annotations

import argparse
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzzer.campaign.store import index, state
from fuzzer.system.process_tree import descendants
from fuzzer.system.processes import own_cpu_seconds, resident_bytes
from fuzzer.system.processes import state as process_state

EVERY = 10.0
FLAT = 0.05
KEPT = 0.95
WARM_UP = 120.0
"""Seconds of the new process that are not counted: the compilers warm up."""


@dataclass(frozen=True)
class Sample:
    seconds: float
    supervisor: int
    supervisor_cpu: float
    zygote: int
    descriptors: int
    processes: int
    zombies: int
    shared: int
    tests: int
    results: int
    """Lane results of tests."""
    tests_cpu: float
    deaths: int
    """Lanes of tests that ended their process."""
    refused: int
    """Lanes of tests whose importer does not support an operator of the case, which costs almost nothing."""
    all_results: int
    """Lane results of tests and of triage."""
    cpu: float


def sampled(seconds: float, pid: int, folder: Path) -> Sample:
    below = list(descendants(pid))
    books = (state.read(folder) or state.State(0)).counters
    return Sample(
        seconds,
        resident_bytes(pid),
        own_cpu_seconds(pid),
        max((resident_bytes(each) for each in below if _is_zygote(each)), default=0),
        len(os.listdir(f"/proc/{pid}/fd")),
        len(below),
        sum(process_state(each) == "Z" for each in below),
        len(os.listdir("/dev/shm")),
        books.tests,
        books.lane_results,
        *_in_tests(folder),
        books.lane_results + books.triage_lane_results,
        books.cpu_seconds,
    )


def _in_tests(folder: Path) -> tuple[float, int, int]:
    """The CPU seconds of all tests, how many lanes ended their process in them, and how many were refused."""
    if not (folder / index.NAME).exists():
        return 0.0, 0, 0
    with index.Index(folder, writes=False) as read:
        ((spent,),) = read.rows(tuple[float], "SELECT total(cpu_ms) FROM tests")
        count = "SELECT count(*) FROM outcomes WHERE how = ?"
        ((deaths,),), ((refused,),) = (read.rows(tuple[int], count, how) for how in ("died", "unsupported"))
    return spent / 1000, deaths, refused


def _is_zygote(pid: int) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"fuzzer.children.zygote" in words and os.getpgid(pid) != pid  # a child leads its own process group


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=7200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--campaign", type=Path)
    arguments = parser.parse_args()
    folder = arguments.campaign or Path(tempfile.mkdtemp(prefix="difftvm-"))
    before = set(os.listdir("/dev/shm"))
    samples = _run(arguments, folder, arguments.seconds)
    left = set(os.listdir("/dev/shm")) - before
    if len(samples) < 20:
        sys.exit(f"{len(samples)} samples are too few for a verdict")
    print("a new process continues")
    continued = _run(arguments, folder, arguments.seconds / 10 + WARM_UP)
    _judge(samples, [each for each in continued if each.seconds >= WARM_UP], left)


def _run(arguments: argparse.Namespace, folder: Path, seconds: float) -> list[Sample]:
    words = ["run", "--seconds", seconds, "--workers", arguments.workers, "--seed", arguments.seed]
    words += ["--drain", 0, "--campaign", folder]  # tests are counted to the end
    command, began = [sys.executable, "-m", "fuzzer.cli", *map(str, words)], time.monotonic()
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process,
    ):
        samples: list[Sample] = []
        try:
            samples = _watched(process, folder, began)
        except KeyboardInterrupt:
            process.send_signal(signal.SIGTERM)
        code = process.wait()
        log.seek(0)
        last = log.read().decode(errors="replace").strip().splitlines()[-1:]
    print(f"exit code {code}; {''.join(last)}", flush=True)
    return [each for each in samples if each.seconds <= seconds]  # then the last triage is finished


def _watched(process: subprocess.Popen[bytes], folder: Path, began: float) -> list[Sample]:
    samples: list[Sample] = []
    while process.poll() is None:
        time.sleep(EVERY)
        try:
            samples.append(sampled(time.monotonic() - began, process.pid, folder))
        except OSError:  # it ended during the sample
            break
        if len(samples) % 30 == 1:
            print(_line(samples[-1]), flush=True)
    return [each for each in samples if each.tests]  # without the warm-up before the first test


def _line(s: Sample) -> str:
    return (
        f"{s.seconds:6.0f} s  supervisor {s.supervisor / 1e6:6.1f} MB  zygote {s.zygote / 1e6:6.1f} MB  "
        f"{s.descriptors:3} descriptors  {s.processes:3} processes  {s.zombies} zombies  {s.shared} in /dev/shm  "
        f"{s.tests:6} tests  {s.all_results:7} lane results"
    )


def _judge(samples: Sequence[Sample], continued: Sequence[Sample], left: set[str]) -> None:
    tenth = len(samples) // 10
    early, late = samples[tenth : 2 * tenth + 1], samples[-tenth - 1 :]

    def compare(name: str, value: Callable[[Sample], float], unit: str, scale: float) -> float:
        then, now = (statistics.median(map(value, some)) for some in (early, late))
        print(f"{name:30} {then / scale:8.1f} -> {now / scale:8.1f} {unit}  ({now / then - 1:+.1%})")
        return now / then

    memory = compare("supervisor, resident", lambda s: s.supervisor, "MB", 1e6)
    compare("zygote, resident", lambda s: s.zygote, "MB", 1e6)
    files = compare("descriptors", lambda s: s.descriptors, "", 1)

    def rate(name: str, count: Callable[[Sample], float], clock: Callable[[Sample], float]) -> tuple[float, float]:
        """The rate of the last tenth as a part of that of the second tenth, and of that of the new process."""
        windows = (early, late, continued)
        then, now, new = (_grown(some, count) / _grown(some, clock) or math.nan for some in windows)
        print(f"{name:30} {then:8.3f} -> {now:8.3f}  ({now / then - 1:+.1%}); a new process {new:8.3f}")
        return now / then, now / new

    by_time = rate("tests per s", lambda s: s.tests, lambda s: s.seconds)
    by_cpu = rate("tests: results per CPU s", lambda s: s.results, lambda s: s.tests_cpu)
    rate("CPU s of a test", lambda s: s.tests_cpu, lambda s: s.tests)
    rate("deaths in a test", lambda s: s.deaths, lambda s: s.tests)
    rate("refused lanes in a test", lambda s: s.refused, lambda s: s.tests)
    rate("supervisor: CPU s for a test", lambda s: s.supervisor_cpu, lambda s: s.tests)
    rate("all: results per CPU s", lambda s: s.all_results, lambda s: s.cpu)
    zombies = max(sum(each.zombies > 0 for each in samples[place : place + 3]) for place in range(len(samples)))
    verdicts = {
        f"memory within {FLAT:.0%}": abs(memory - 1) <= FLAT,
        "no leaked descriptors": files <= 1 + FLAT,
        "no zombie remains": zombies < 3,
        "nothing left in /dev/shm": not left,
        f"tests per second at least {KEPT:.0%}": by_time[0] >= KEPT,
        f"lane results per CPU second of tests at least {KEPT:.0%}": by_cpu[0] >= KEPT,
        f"tests per second at least {KEPT:.0%} of a new process's": by_time[1] >= KEPT,
        f"lane results per CPU second of tests at least {KEPT:.0%} of a new process's": by_cpu[1] >= KEPT,
    }
    for name, good in verdicts.items():
        print(f"{'ok ' if good else 'BAD'} {name}")
    sys.exit(0 if all(verdicts.values()) else 1)


def _grown(samples: Sequence[Sample], value: Callable[[Sample], float]) -> float:
    return value(samples[-1]) - value(samples[0])


if __name__ == "__main__":
    main()
