"""What the store costs: bytes and CPU of one uninteresting test, as a campaign grows.

    python benchmarks/store.py [--tests 100000]

Simulated tests of nine lanes and six operators each are recorded as a campaign does, and committed after every eighth,
about what two workers do in five seconds. Findings are counted, none is new.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

from fuzzer.campaign import index
from fuzzer.campaign.rows import row_of
from fuzzer.campaign.store import Store
from fuzzer.lanes import LANES
from generators.ops import OPS
from oracles.outcome import Raised, Ran, Result, Stage, Unsupported

TOGETHER = 8
STEPS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=100_000)
    tests = parser.parse_args().tests
    folder = Path(tempfile.mkdtemp(prefix="difftvm-"))
    outcomes = [Ran(()), Raised(Stage.COMPILE, "tvm.error.InternalError", "no"), Unsupported(Stage.IMPORT, "no")]
    with Store(folder, 1) as store:
        for step in range(STEPS):
            began = time.process_time()
            for number in range(step * tests // STEPS, (step + 1) * tests // STEPS):
                lanes = [LANES[(number + offset) % len(LANES)] for offset in range(9)]
                seen = {lane: outcomes[(number + index) % 3] for index, lane in enumerate(lanes)}
                store.state.tally.tests += 1
                store.state.tally.add(Result(seen, {Stage.COMPILE: 0.1}))
                ops = [OPS[(7 * number + offset) % len(OPS)].name for offset in range(6)]
                store.state.tally.wall_seconds += 0.3
                store.record(row_of(number, 0.75, seen, ops))
                store.finished(number + 1)
                if number % TOGETHER == 0:
                    store.save_state()
            store.save_state()
            spent = (time.process_time() - began) / (tests / STEPS)
            size = sum(path.stat().st_size for path in folder.glob(f"{index.NAME}*")) / ((step + 1) * tests / STEPS)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            done = (step + 1) * tests // STEPS
            print(f"{done:8} tests  {1e6 * spent:6.0f} us of CPU a test  {size:5.0f} bytes a test  {peak} MiB peak")


if __name__ == "__main__":
    main()
