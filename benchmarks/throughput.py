"""Measure the lane results of TVM per CPU second in the default mix, and where the rest of the time goes.

    python benchmarks/throughput.py [--tests 60] [--seed 400] [--drawn N]

Each test is as in a campaign: a random case, its two tiers, and the oracles, without triage. Both tiers count in each
stage; `benchmarks/evaluation.py` measures tier 1 alone. CPU
seconds are those of the children and the programs that they start, of the zygote's forks, and of this process.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

from fuzzer.campaign.cases import random_cases
from fuzzer.campaign.counters import Counters
from fuzzer.campaign.lane_chooser import LaneChooser
from fuzzer.campaign.settings import DRAWN, LaneMix, Settings
from fuzzer.campaign.tiers import run_test
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import OFTEN, SAMPLED_LANES, SCREENING
from oracles.judge import judge_all


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=60)
    parser.add_argument("--seed", type=int, default=400)
    parser.add_argument("--drawn", type=int, default=DRAWN)
    arguments = parser.parse_args()
    mix = LaneMix(SCREENING, SAMPLED_LANES, OFTEN, arguments.drawn, steered=True)
    settings, chooser = Settings(Path(), arguments.seed, mix, guided=True), LaneChooser()
    draw, counters, ended = random_cases(settings, arguments.seed), Counters(), Counter[tuple[str, str]]()
    began = time.process_time()
    with Executor(Path(tempfile.mkdtemp(prefix="difftvm-"))) as executor:
        warm = executor.cpu_seconds
        for index in range(arguments.tests):
            case = draw(index)
            assert case is not None, "random cases do not end"
            result = run_test(executor.run, settings, arguments.seed, index, case, chooser).result
            chooser.learn(case, list(judge_all(case, result.outcomes)))
            counters.add(result)
            ended.update((lane.name, type(outcome).__name__) for lane, outcome in result.outcomes.items())
        children = executor.cpu_seconds - warm
    own = time.process_time() - began
    total = children + own
    print(
        f"{counters.lane_results / total:.2f} TVM lane results per CPU second: {counters.lane_results} in {total:.1f} s"
    )
    print(f"{1000 * total / arguments.tests:.0f} CPU ms per test")
    for (lane, how), count in ended.most_common(30):
        print(f"  {count:4} {lane} {how}")
    stages = {**counters.stage_cpu, "processes": children - sum(counters.stage_cpu.values()), "supervisor": own}
    for stage, seconds in sorted(stages.items(), key=lambda item: -item[1]):
        print(f"  {stage:10} {1000 * seconds / arguments.tests:7.1f} ms per test  {100 * seconds / total:5.1f} %")


if __name__ == "__main__":
    main()
