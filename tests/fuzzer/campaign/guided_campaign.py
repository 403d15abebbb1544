"""As a program: runs some tests of a guided campaign on a lab made by hand, and prints what each has drawn."""

from __future__ import annotations

import sys
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import fakes
from labs import FakeLab

from fuzzer.campaign.lanes import name_counts
from fuzzer.campaign.plan.settings import DRAWN, LaneMix, RunLimits, Settings, TriageLimits
from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.store.store import Store
from fuzzer.lanes import DIALECT_LANES
from generators import case_file
from generators.dialect import dialect_named
from generators.dialect_names import NAMES
from generators.graph import Case
from oracles.finding import Finding
from oracles.lane import LaneSpec
from oracles.outcome import Facts, Outcome, Raised, Ran, Result, Stage

FEW_SLOTS = 512
"""So few that names share a slot in the first tests."""


def outcome(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
    """A third of the operators makes each lane raise. The others end well, and say what the importer made of them."""
    for op in case.graph.ops:
        if zlib.crc32(op.encode()) % 3 == 0:
            return Raised(Stage.IMPORT, "ValueError", f"no {op}")
    right = fakes.correct(tuple(fakes.expect([1.0, -2.0]) for _ in case.graph.outputs))
    made = tuple(f"relax {op} float32" for op in case.graph.ops)
    return Ran(right.outputs, right.again, facts=Facts(behaviour=made))


def run(folder: Path, tests: int) -> None:
    each = DIALECT_LANES.values()
    mix = LaneMix(
        tuple(lane for lanes in each for lane in lanes.screening),
        tuple(lane for lanes in each for lane in lanes.sampled),
        tuple(lane for lanes in each for lane in lanes.often),
        DRAWN,
        steered=True,
    )
    ops = {name: dialect_named(name).drawn() for name in NAMES}
    settings = Settings(folder, 1, mix, RunLimits(tests=tests), ops=ops, guided=True, triage=TriageLimits(share=0.0))

    def watch(number: int, case: Case, result: Result, found: Sequence[Finding]) -> None:
        worth = campaign.guidance.worth(case.graph).hex()
        print(number, case_file.digest(case), worth, *sorted(lane.name for lane in result.outcomes), flush=True)

    lab = FakeLab(outcome)
    with Store(folder, 1) as store:
        campaign = Campaign(replace(settings, triage=TriageLimits(share=0.0, drain=0.0)), store, lab, watch=watch)
        campaign.run()


if __name__ == "__main__":
    name_counts.SLOTS = FEW_SLOTS
    with tempfile.TemporaryDirectory() as place:
        run(Path(place), int(sys.argv[1]))
