"""Measure what a test without a new finding costs the supervisor as a campaign grows: CPU, disk space and memory.

    python benchmarks/store.py [--tests 100000]

The tests are simulated: each has a random case and nine lanes with random outcomes. Guidance learns from it and the
store commits it, as in a campaign. After every twentieth test the store saves everything else; two workers run about
twenty tests in the five seconds between. No finding is new. The time for drawing cases is left out; a guided campaign
takes 30 ms for 64 cases.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from pathlib import Path

from fuzzer.campaign.cases.cases import random_cases
from fuzzer.campaign.cases.guidance import Guidance
from fuzzer.campaign.plan.settings import LaneMix, Settings
from fuzzer.campaign.store import index
from fuzzer.campaign.store.rows import index_row
from fuzzer.campaign.store.store import Store
from fuzzer.lanes import LANES
from fuzzer.system.processes import resident_bytes
from generators.graph import Array
from oracles.lane import LaneSpec
from oracles.outcome import Facts, Outcome, Raised, Ran, Result, Stage, Unsupported

TOGETHER = 20
STEPS = 10
SEED = 1


def outcomes_of(number: int) -> dict[LaneSpec, Outcome]:
    """Random outcomes of nine lanes. Every third test has a new kernel, as in real campaigns."""
    drawn, nothing = random.Random(number), tuple[Array, ...]()
    facts = Facts(behaviour=(f"kernel fused_{number}" if number % 3 == 0 else "kernel add", "pass FuseOps"))
    choice = (
        Ran(nothing, facts=facts),
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
                case, outcomes = draw(number), outcomes_of(number)
                assert case is not None
                began = time.process_time()
                guidance.learn(number, case, outcomes, ())
                row = index_row(number, 0.75, outcomes, case.graph.ops)
                store.finish_test(row, Result(outcomes, {Stage.COMPILE: 0.1}), number + 1, invalid=False)
                store.commit_tests()
                store.state.counters.wall_seconds += 0.3
                if number % TOGETHER == 0:
                    store.save_state(guidance.changed())
                spent += time.process_time() - began
            store.save_state(guidance.changed())
            done = (step + 1) * tests // STEPS
            size = sum(path.stat().st_size for path in folder.glob(f"{index.NAME}*")) / done
            memory = resident_bytes(os.getpid()) / 1e6
            costs = f"{1e6 * spent / (tests / STEPS):6.0f} us of CPU a test  {size:5.0f} bytes a test"
            print(f"{done:8} tests  {costs}  {memory:6.1f} MB", flush=True)


if __name__ == "__main__":
    main()
