"""Find the operators that TVM's importers do not support, and print the text of `fuzzer/campaign/plan/unsupported.txt`.

    python benchmarks/support.py > fuzzer/campaign/plan/unsupported.txt

Cases of one operator each run through a lane of each importer. An importer is listed for an operator if its outcome is
`Unsupported` for every case. A graph with such an operator tests nothing else through that importer.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import TORCH, TVM_LANES
from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Case
from generators.op import Op
from generators.random_graph import with_values
from generators.torch.ops import OPS
from oracles.importers import Importer
from oracles.outcome import Unsupported

ATTEMPTS = 10


def cases(op: Op, count: int) -> Iterator[Case]:
    """Cases of this one operator; fewer than `count` if it is rarely drawn."""
    builders = (Builder(NumpySource(1, index), Limits(max_numel=256)) for index in range(ATTEMPTS * count))
    return islice((with_values(builder) for builder in builders if builder.grow(op)), count)


def lacking(executor: Executor, op: Op, count: int) -> list[str]:
    """The importers that support none of the cases."""
    fast = replace(TVM_LANES[0], target="llvm-O0", asserts=False, checked=False)
    open_lanes = [replace(fast, importer=importer) for importer in Importer if importer.row.listed]
    tried = False
    for case in cases(op, count):
        tried = True
        outcomes = executor.run(case, (TORCH, *open_lanes)).outcomes
        open_lanes = [lane for lane in open_lanes if isinstance(outcomes[lane], Unsupported)]
        if not open_lanes:
            break
    return [str(lane.importer) for lane in open_lanes] if tried else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=8, help="cases of each operator")
    args = parser.parse_args()
    with (
        Executor(Path(tempfile.mkdtemp(prefix="difftvm-"))) as executor,
        ThreadPoolExecutor(os.cpu_count() or 1) as pool,
    ):
        for op, missing in zip(OPS, pool.map(lambda op: lacking(executor, op, args.count), OPS), strict=True):
            if missing:
                print(f"{op.name}: {' '.join(missing)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
