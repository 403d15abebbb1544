"""What an uninteresting test costs the supervisor beside its lanes, as a campaign grows: CPU, bytes on disk, memory.

    python benchmarks/store.py [--tests 100000]

Simulated tests: each draws a case at random, takes nine lanes that come out somehow, and is learnt from and recorded as
a campaign does; committed after every eighth, about what two workers do in five seconds. Findings are counted, none is
new. Drawing is not counted; a guided campaign draws 64 cases, 30 ms.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from pathlib import Path

from fuzzer.campaign import index
from fuzzer.campaign.cases import random_cases
from fuzzer.campaign.guidance import Guidance
from fuzzer.campaign.rows import index_row
from fuzzer.campaign.settings import LaneMix, Settings
from fuzzer.campaign.store import Store
from fuzzer.lanes import LANES
from fuzzer.system.processes import resident_bytes
from generators.graph import Array
from oracles.lane import LaneSpec
from oracles.outcome import Facts, Outcome, Raised, Ran, Result, Stage, Unsupported

TOGETHER = 8
STEPS = 10
SEED = 1


def outcomes_of(number: int) -> dict[LaneSpec, Outcome]:
    """In every third test a kernel is seen that none had before, as in real campaigns."""
    drawn, nothing = random.Random(number), tuple[Array, ...]()
    seen = Facts(behaviour=(f"kernel fused_{number}" if number % 3 == 0 else "kernel add", "pass FuseOps"))
    choice = (
        Ran(nothing, facts=seen),
        Raised(Stage.COMPILE, "tvm.error.InternalError", "no"),
        Unsupported(Stage.IMPORT, "no"),
    )
    lanes = [LANES[(number + offset) % len(LANES)] for offset in range(9)]
    return {lane: drawn.choice(choice) for lane in lanes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=100_000)
    tests = parser.parse_args().tests
    folder = Path(tempfile.mkdtemp(prefix="difftvm-"))
    settings = Settings(folder, SEED, LaneMix(LANES))
    draw, guidance = random_cases(settings, SEED), Guidance(settings, SEED)
    with Store(folder, SEED) as store:
        for step in range(STEPS):
            spent = 0.0
            for number in range(step * tests // STEPS, (step + 1) * tests // STEPS):
                case, seen = draw(number), outcomes_of(number)
                assert case is not None
                began = time.process_time()
                guidance.learn(number, case, seen, ())
                row = index_row(number, 0.75, seen, case.graph.ops)
                store.finish_test(row, Result(seen, {Stage.COMPILE: 0.1}), number + 1, invalid=False)
                store.state.counters.wall_seconds += 0.3
                if number % TOGETHER == 0:
                    store.save_state(guidance.changed())
                spent += time.process_time() - began
            store.save_state(guidance.changed())
            done = (step + 1) * tests // STEPS
            size = sum(path.stat().st_size for path in folder.glob(f"{index.NAME}*")) / done
            memory = resident_bytes(os.getpid()) / 1e6
            told = f"{1e6 * spent / (tests / STEPS):6.0f} us of CPU a test  {size:5.0f} bytes a test"
            print(f"{done:8} tests  {told}  {memory:6.1f} MB", flush=True)


if __name__ == "__main__":
    main()
