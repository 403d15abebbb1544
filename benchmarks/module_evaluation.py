"""Check the evaluation of imported modules that blame relies on: one program of each operator, through each importer.

    python benchmarks/module_evaluation.py [--importers export,onnx,fx] [--seed 5]

Where TVM's result is right, the module must also be right when it is evaluated operator by operator in PyTorch, and the
kernels of each operator must be right, both interpreted and built. A wrong evaluation would blame the wrong place.
Prints each wrong evaluation, then the figures. Exits with 1 if the evaluation of a module is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import REFERENCES, TVM_LANES
from fuzzer.triage.blame.modules import interpreted
from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Case
from generators.random_graph import with_values
from generators.torch.ops import OPS
from oracles.against_torch import judge
from oracles.lane import Importer
from oracles.outcome import Outcomes, Ran, facts_of
from oracles.reference import expected
from oracles.trace import Correctness


def programs(seed: int) -> Iterator[tuple[str, Case]]:
    for index, op in enumerate(OPS):
        builder = Builder(NumpySource(seed, index), Limits(max_numel=128))
        if builder.grow(op):
            yield op.name, with_values(builder)


def evaluation(outcomes: Outcomes, lane: object, other: object) -> str | None:
    """Whether `other`, which evaluates the module of `lane`, is right: "right", "wrong", or "none" if it did not run.

    Return None if `lane` itself is not right."""
    right = expected(outcomes)
    ran, read = (next(out for each, out in outcomes.items() if each == one) for one in (lane, other))
    if right is None or not isinstance(ran, Ran) or judge(ran.outputs, right):
        return None
    if not isinstance(read, Ran):
        return "none"
    return "wrong" if judge(read.outputs, right) else "right"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--importers", default="export,onnx,fx")
    parser.add_argument("--seed", type=int, default=5)
    arguments = parser.parse_args()
    modules: Counter[str] = Counter()
    kernels: Counter[str] = Counter()
    with Executor(Path(tempfile.mkdtemp(prefix="difftvm-"))) as executor:
        for importer in map(Importer, arguments.importers.split(",")):
            lane = replace(TVM_LANES[0], name=f"relax-{importer}-llvm", importer=importer, checked=False)
            reading = interpreted(lane)
            for name, case in programs(arguments.seed):
                outcomes = executor.run(case, (*REFERENCES[:3], lane, reading)).outcomes
                verdict = evaluation(outcomes, lane, reading)
                if verdict is None:
                    continue
                modules[verdict] += 1
                trace = facts_of(outcomes[reading]).trace
                examined = trace.examined if trace else ()
                kernels.update(f"read {each.interpreted}" for each in examined)
                kernels.update(f"built {each.built}" for each in examined)
                odd = [each for each in examined if Correctness.WRONG in (each.interpreted, each.built)]
                if verdict == "wrong" or odd:
                    print(
                        f"{importer} {name}: the evaluation is {verdict}; "
                        f"{', '.join(map(str, odd)) or 'no kernel is wrong'}"
                    )
                    sys.stdout.flush()
    for title, counts in (("modules whose evaluation is", modules), ("kernels that are", kernels)):
        for key in sorted(counts):
            print(f"{title} {key}: {counts[key]}")
    sys.exit(1 if modules["wrong"] else 0)


if __name__ == "__main__":
    main()
