"""Measure what `difftvm.check` of a small model costs: wall seconds, and CPU seconds of this process and its children.

    python benchmarks/check_cost.py [--times 3]

The first check starts the process that later ones share. Then a right model is checked, and two wrong ones without and
with reduction: TVM 0.27 ignores `divisor_override` of a pooling, and refuses a stack of several dtypes. Medians.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

import difftvm
from fuzzer.api.shared_fleet import shared_fleet


class Network(torch.nn.Module):
    def __init__(self, last: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(6, 6)
        self.last = last

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.relu(self.layer(x)))


RIGHT = Network(lambda x: torch.softmax(x, -1))
WRONG_VALUE = Network(lambda x: torch.nn.functional.avg_pool2d(x, 2, divisor_override=3).exp())
REFUSED = Network(lambda x: torch.stack((x, x > 0)).sin())
X = torch.randn(1, 2, 6, 6)


def cost(model: Network, reduce: bool) -> tuple[float, float, str]:
    """Wall seconds, CPU seconds and what was found. Each check has a folder of its own: nothing is known before."""
    fleet = shared_fleet()
    wall, cpu = time.monotonic(), time.process_time() + fleet.cpu_seconds
    with tempfile.TemporaryDirectory() as folder:
        try:
            difftvm.check(model.eval(), X, folder=Path(folder), reduce=reduce)
            found = "right"
        except difftvm.FindingError as error:
            found = "; ".join(each.title for each in error.findings)
    return time.monotonic() - wall, time.process_time() + fleet.cpu_seconds - cpu, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=3)
    times = parser.parse_args().times
    started = time.monotonic()
    cost(RIGHT, True)
    print(f"first check: {time.monotonic() - started:.1f} s wall, with the start of the shared process")
    for name, model, reduce in (
        ("right", RIGHT, True),
        ("wrong value, not reduced", WRONG_VALUE, False),
        ("wrong value, reduced", WRONG_VALUE, True),
        ("refused, not reduced", REFUSED, False),
        ("refused, reduced", REFUSED, True),
    ):
        runs = [cost(model, reduce) for _ in range(times)]
        wall, cpu = (statistics.median(run[at] for run in runs) for at in (0, 1))
        print(f"{name}: {wall:.1f} s wall, {cpu:.1f} CPU s: {runs[0][2]}", flush=True)


if __name__ == "__main__":
    main()
