"""Which operators do TVM's importers plainly not take? Prints the text of `fuzzer/unsupported.txt`.

    python benchmarks/support.py > fuzzer/unsupported.txt

Cases of one operator each through the TVM lanes; an operator stands in the list where every lane says "unsupported" of
every case. Campaigns draw such operators seldom: a graph with one of them tests nothing else.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import TORCH, TVM_LANES
from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.ops import OPS, Op
from generators.random_graph import with_values
from oracles.outcome import Unsupported


def unsupported(executor: Executor, op: Op, count: int) -> bool:
    """Whether no lane takes any of the first `count` cases of the operator."""
    lanes = [lane for lane in TVM_LANES if lane.target == "llvm"]
    drawn = 0
    for index in range(10 * count):
        builder = Builder(NumpySource(1, index), Limits(max_numel=256))
        if not builder.grow(op):
            continue
        drawn += 1
        outcomes = executor.run(with_values(builder), (TORCH, *lanes)).outcomes
        if not all(isinstance(outcomes[lane], Unsupported) for lane in lanes):
            return False
        if drawn == count:
            break
    return drawn > 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=8, help="cases of each operator")
    args = parser.parse_args()
    with (
        Executor(Path(tempfile.mkdtemp(prefix="difftvm-"))) as executor,
        ThreadPoolExecutor(os.cpu_count() or 1) as pool,
    ):
        for op, missing in zip(OPS, pool.map(lambda op: unsupported(executor, op, args.count), OPS), strict=True):
            if missing:
                print(op.name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
