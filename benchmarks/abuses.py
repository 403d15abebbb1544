"""Check that nothing a lane does ends a campaign, or costs another lane its result.

    python benchmarks/abuses.py [--only NAME] [--memory-gb 1]

Runs each abuse of `fuzzer/lanes/abuses.py` in a real executor, between two lanes that are right, and then a test of
another case. The one that fills the disk may take 1 GiB of it. Prints for each abuse the outcome, the seconds, the
memory of the supervisor afterwards, and the processes that are left five seconds later. Exits with 1 where an honest
lane has no result, the supervisor takes more than 300 MB, or a process is left.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from fuzzer.isolate.executor import Bounds, Executor
from fuzzer.isolate.sine_case import sine_case
from fuzzer.lanes.abuses import ABUSES
from fuzzer.system import process_tree, strays
from fuzzer.system.free_space import free_bytes
from fuzzer.system.processes import resident_bytes, state
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Died, Outcome, Raised, Ran

MOST_BYTES = 300_000_000
LEFT_SECONDS = 5.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=sorted(ABUSES))
    parser.add_argument("--memory-gb", type=float, default=1.0)
    arguments = parser.parse_args()
    bounds = Bounds(wall_seconds=10.0, cpu_seconds=10.0, memory_bytes=int(arguments.memory_gb * (1 << 30)))
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="difftvm-") as folder, Executor(Path(folder) / "scratch") as executor:
        for name in [arguments.only] if arguments.only else sorted(ABUSES):
            wrong += not _is_survived(executor, name, bounds)
    print(f"{wrong} of {1 if arguments.only else len(ABUSES)} abuses did harm")
    sys.exit(1 if wrong else 0)


def _is_survived(executor: Executor, name: str, bounds: Bounds) -> bool:
    """Run one abuse and print a line about it; return whether it did no harm."""
    zygote = executor._zygote.pid
    if name == "fills":
        bounds = replace(bounds, disk_reserve=max(0, free_bytes(executor._scratch) - (1 << 30)))
    before, abuse, after = (
        _lane(variant, f"{name}-{place}") for place, variant in enumerate(("honest", name, "honest"))
    )
    began = time.monotonic()
    outcomes = executor.run(sine_case(), (before, abuse, after), bounds).outcomes
    seconds = time.monotonic() - began
    again = executor.run(replace(sine_case(), origin=name), (before,), bounds).outcomes
    for child in executor._idle:
        child.close()
    executor._idle.clear()
    memory, left = resident_bytes(os.getpid()), _left(executor, zygote)
    rights = [isinstance(each, Ran) for each in (outcomes[before], outcomes[after], again[before])]
    good = all(rights) and memory <= MOST_BYTES and not left
    print(
        f"{'ok ' if good else 'BAD'} {name:12} {_words(outcomes[abuse]):60} {seconds:5.1f} s"
        f"  supervisor {memory / 1e6:5.1f} MB  {len(left)} processes left  {sum(rights)} of 3 honest results",
        flush=True,
    )
    return good


def _lane(variant: str, name: str) -> LaneSpec:
    return LaneSpec(name, Engine.FAULTY, variant=variant)


def _left(executor: Executor, zygote: int) -> list[int]:
    """The processes below this one, but for its zygote, and those that have left its tree, after up to five seconds."""
    deadline = time.monotonic() + LEFT_SECONDS
    while left := [*_below(zygote), *_outside(executor)]:
        if time.monotonic() > deadline:
            break
        time.sleep(0.1)
    return left


def _below(zygote: int) -> list[int]:
    below = [pid for pid in process_tree.descendants(os.getpid()) if pid not in process_tree.children(os.getpid())]
    return [pid for pid in below if pid != zygote and state(pid) not in ("", "Z")]


def _outside(executor: Executor) -> list[int]:
    """Processes of lanes that are not below this one."""
    below = {os.getpid(), *process_tree.descendants(os.getpid())}
    return [pid for pid in strays.working_in(executor._scratch) if pid not in below]


def _words(outcome: Outcome) -> str:
    match outcome:
        case Died(cause=cause, code=code, log=log):
            return f"died ({cause} {int(code)}) {log.strip().rpartition(chr(10))[2][:36]}"
        case Raised(type=kind, message=message):
            return f"raised {kind.rpartition('.')[2]}: {message[:40]}"
        case _:
            return type(outcome).__name__


if __name__ == "__main__":
    main()
