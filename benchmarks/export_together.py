"""Measure what it would save to export several cases as one module in tier 1.

    python benchmarks/export_together.py [--cases 120] [--seed 21]

Prints the CPU milliseconds for each case of `torch.export.export` and of `run_decompositions`: for cases alone, and for
modules that call 4, 8 or 16 cases. Cases with symbolic sizes, and those that PyTorch cannot export, are left out. The
first exports of a process cost more and are not counted.
"""

from __future__ import annotations

import argparse
import logging
import time
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import torch

from fuzzer.campaign.cases.cases import random_cases
from fuzzer.campaign.plan.settings import LaneMix, Settings
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.torch.decompositions import remember_decompositions
from fuzzer.lanes.torch.prepared import exported, model_of, tensors_of

GROUPS = (1, 4, 8, 16)
WARM = 10
"""Cases that are exported before the measurement begins."""


class Together(torch.nn.Module):
    """Calls the models one after the other, each on its own inputs."""

    def __init__(self, cases: Sequence[PreparedCase]) -> None:
        super().__init__()
        self.models = torch.nn.ModuleList(model_of(case) for case in cases)
        self.counts = [len(case.inputs) for case in cases]

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        results: list[torch.Tensor] = []
        rest = iter(inputs)
        for model, count in zip(self.models, self.counts, strict=True):
            results += model(*islice(rest, count))
        return tuple(results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=120)
    parser.add_argument("--seed", type=int, default=21)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    remember_decompositions()
    cases = list(exportable(arguments.seed, arguments.cases))
    print(f"{len(cases)} cases; CPU ms for each case")
    print("together  export  decompose")
    for size in GROUPS:
        export, decompose = measured(cases, size)
        print(f"{size:8}  {export:6.1f}  {decompose:9.1f}")


def exportable(seed: int, count: int) -> Iterator[PreparedCase]:
    """Those of the first cases of a seed that PyTorch exports and decomposes, without the first `WARM`."""
    draw = random_cases(Settings(Path(), seed, LaneMix()), seed)
    for index in range(count + WARM):
        case = draw(index)
        assert case is not None, "random cases do not end"
        prepared = PreparedCase(case, lambda stage: None)
        try:
            assert not case.graph.symbols
            assert exported(prepared)
        except Exception:
            continue
        if index >= WARM:
            yield PreparedCase(case, lambda stage: None)


def measured(cases: Sequence[PreparedCase], size: int) -> tuple[float, float]:
    """The milliseconds of an export and of a decomposition for each case, in groups of `size` cases."""
    export = decompose = 0.0
    whole = len(cases) // size * size
    for start in range(0, whole, size):
        group = cases[start : start + size]
        model = Together(group).eval()
        inputs = tuple(tensor for case in group for tensor in tensors_of(case))
        with torch.no_grad():
            before = time.process_time()
            program = torch.export.export(model, inputs)
            between = time.process_time()
            program.run_decompositions()
            after = time.process_time()
        export, decompose = export + between - before, decompose + after - between
    return 1000 * export / whole, 1000 * decompose / whole


if __name__ == "__main__":
    main()
