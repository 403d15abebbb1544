"""How far honest implementations stray, in units of the measured tolerance with C = 1.

    python benchmarks/calibration.py [--cases 300] [--seed 100]

For every float output element of random cases: |x - truth| / (envelope + |eager - truth| + ULPS ulps), for x from
onnxruntime (through an exporter, with other kernels than PyTorch's). Prints quantiles, the share beyond C, and the
cases beyond it, to be read one by one: each is a defect of the exporter or of onnxruntime, or a reason to raise C.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import ONNXRUNTIME, REFERENCES
from generators.choice import NumpySource
from generators.random_graph import generate
from oracles.outcome import Ran
from oracles.reference import expected
from oracles.tolerance import C, tolerance


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=100)
    arguments = parser.parse_args()
    ratios: list[np.ndarray] = []
    beyond = []
    with Executor(Path(tempfile.mkdtemp())) as executor:
        for index in range(arguments.cases):
            case = generate(NumpySource(arguments.seed, index))
            outcomes = executor.run(case, REFERENCES).outcomes
            right, ort = expected(outcomes), outcomes[ONNXRUNTIME]
            if right is None or not isinstance(ort, Ran) or len(ort.outputs) != len(right):
                continue
            for actual, want in zip(ort.outputs, right, strict=True):
                if actual.dtype != want.eager.dtype or actual.shape != want.eager.shape or actual.dtype.kind != "f":
                    continue
                with np.errstate(all="ignore"):
                    ratio = np.abs(actual.astype(np.float64) - want.truth) / (tolerance(want) / C)
                ratio = ratio[np.isfinite(ratio) & ~want.ill].ravel()
                ratios.append(ratio)
                if ratio.size and ratio.max() > C:
                    beyond.append((float(ratio.max()), str(actual.dtype), index, case.graph.ops))
    values = np.concatenate(ratios)
    print(f"{arguments.cases} cases, {len(ratios)} float outputs, {values.size} elements")
    for quantile in (0.5, 0.9, 0.99, 0.999, 0.9999, 1.0):
        print(f"  quantile {quantile:<6}: {np.quantile(values, quantile):.3g}")
    print(f"beyond C = {C}: {np.mean(values > C):.2e} of the elements, {len(beyond)} outputs:")
    for most, dtype, index, ops in sorted(beyond, reverse=True):
        print(f"  {most:9.3g} {dtype} seed {arguments.seed} test {index}: {', '.join(ops)}")


if __name__ == "__main__":
    main()
