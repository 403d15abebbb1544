"""A replacement for `fuzz run` on a node, with simulated lanes: campaign, store, lock and signals are real.

    simulated_node.py PID run --campaign DIR --seed S --share K/N --first F [--end E] --workers W [--pace SECONDS]

Test n of each seed has the outcome `BUGS[n % len(BUGS)]`; None means no bug. Each test takes `--pace` seconds.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[3]))

import fakes
import numpy as np
from labs import FakeLab

from fuzzer.campaign.plan.settings import Disk, LaneMix, Settings
from fuzzer.campaign.plan.test_numbers import Share, parsed
from fuzzer.campaign.run import loop
from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.run.signals import on_first_signal
from fuzzer.campaign.store.store import Store
from fuzzer.lanes import TVM_LANES
from fuzzer.system.processes import die_with_parent
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Ran, Result, Stage

BUGS: tuple[Outcome | None, ...] = (
    None,
    fakes.raised(Stage.IMPORT, "ValueError", "no layout for it", fakes.REFUSAL),
    None,
    fakes.raised(Stage.IMPORT, "ValueError", "no room for it", fakes.REFUSAL),
    fakes.wrong_value(fakes.TWO_OUTPUTS),
    None,
    fakes.raised(Stage.COMPILE, "ValueError", "no way for it", fakes.REFUSAL),
)


def wrong_outcome(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
    if lane != TVM_LANES[0]:
        return None
    bug = BUGS[int(case.origin) % len(BUGS)]
    if not isinstance(bug, Ran):
        return bug
    wrong = tuple(np.array([1.0, 7.0], np.float32) for _ in case.graph.outputs)
    return Ran(wrong, wrong)


class Lanes(FakeLab):
    def __init__(self, pace: float) -> None:
        super().__init__(wrong_outcome)
        self._pace = pace

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        time.sleep(self._pace)
        return super().run(case, lanes)


def case(index: int) -> Case:
    return Case(fakes.CASE.graph, fakes.CASE.tensors, origin=str(index))


def run(folder: Path, share: Share, seed: int = 1, pace: float = 0.0) -> None:
    loop.SAVE_SECONDS = 0.2
    with Store(folder, seed) as store:
        settings = Settings(folder, seed, LaneMix(TVM_LANES), disk=Disk(reserve=0), share=share)
        campaign = Campaign(settings, store, Lanes(pace), case)
        on_first_signal(campaign.stop)
        campaign.run()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parent", type=int)
    parser.add_argument("verb", choices=["run"])
    parser.add_argument("--campaign", type=Path, required=True)
    parser.add_argument("--share", required=True)
    for name in ("--seed", "--first", "--workers"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--end", type=int)
    parser.add_argument("--pace", type=float, default=0.0)
    parser.add_argument("--fail", action="store_true")
    options = parser.parse_args()
    die_with_parent(options.parent, signal.SIGTERM)
    if options.fail:
        sys.exit("no compiler here")
    part, of = parsed(options.share)
    run(options.campaign, Share(part, of, options.first, options.end), options.seed, options.pace)


if __name__ == "__main__":
    main()
