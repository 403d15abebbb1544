"""Measure the share of a campaign's CPU time for judging: the truth, the envelope and the oracles.

    python benchmarks/oracle_cost.py [--cases 60] [--seed 300]

Each random case runs through all lanes and is judged. The references run a second time alone; the cost of a process
that only runs eager PyTorch is subtracted.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from fuzzer.campaign.cases.cases import random_cases
from fuzzer.campaign.plan.settings import Settings
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import LANES, TORCH, TORCH_ENVELOPE, TORCH_F64
from oracles.judge import judge_all


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=300)
    arguments = parser.parse_args()
    draw = random_cases(Settings(Path(), arguments.seed), arguments.seed)
    lanes = references = judging = 0.0
    with Executor(Path(tempfile.mkdtemp(prefix="difftvm-"))) as executor:
        for number in range(arguments.cases):
            case = draw(number)
            assert case is not None, "random cases do not end"
            result = executor.run(case, LANES)
            lanes += result.cpu_seconds
            alone = executor.run(case, (TORCH,)).cpu_seconds
            references += executor.run(case, (TORCH, TORCH_F64, TORCH_ENVELOPE)).cpu_seconds - alone
            began = time.process_time()
            list(judge_all(case, result.outcomes))
            judging += time.process_time() - began
    count, total = arguments.cases, lanes + judging
    print(f"{1000 * total / count:.1f} CPU ms per test")
    for name, seconds in (("truth and envelope", references), ("oracles", judging), ("both", references + judging)):
        print(f"{name:18} {1000 * seconds / count:6.1f} CPU ms per test, {100 * seconds / total:.1f} %")


if __name__ == "__main__":
    main()
