"""Honest implementations of a case: other kernels, orders of summation and optimisers than the reference's.

What they compute is right by definition, so they calibrate the tolerance (`benchmarks/calibration.py`), and a finding
about one of them is a false alarm (`fuzz bench honesty`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import onnxruntime as ort
import torch

from fuzzer.lanes.base.bench import Bench, Step, from_torch
from fuzzer.lanes.onnx.runtime import OnnxRuntimeLane
from fuzzer.lanes.torch.envelope import other_layout
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage

LEVELS = {
    "ort-disable": ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "ort-basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "ort-extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "ort-all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
}

Model = Callable[..., tuple[torch.Tensor, ...]]


class HonestLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        if spec.variant in LEVELS:
            return OnnxRuntimeLane().supports(case, spec)
        return None

    def run(self, bench: Bench, spec: LaneSpec, step: Step) -> Ran:
        if spec.variant in LEVELS:
            return OnnxRuntimeLane(LEVELS[spec.variant]).run(bench, spec, step)
        model = bench.model
        step(Stage.COMPILE)
        with torch.no_grad():
            inputs = bench.torch_inputs()
            match spec.variant:
                case "layout":
                    inputs = tuple(map(other_layout, inputs))
                    for tensor in (*model.parameters(), *model.buffers()):
                        tensor.data = other_layout(tensor.data)
                    run: Model = model
                case "threads":  # the child of a zygote whose pool has never run
                    torch.set_num_threads(2)
                    run = model
                case "flush":
                    torch.set_flush_denormal(True)
                    run = model
                case "decomposed":
                    run = _compiled(model, "aot_eager_decomp_partition")
                case "inductor":
                    run = _compiled(model, "inductor")
                case _:
                    raise ValueError(f"no honest lane {spec.variant!r}")
            step(Stage.RUN)
            try:
                return Ran(tuple(map(from_torch, run(*inputs))))
            finally:  # the next lane of this child is as the reference was
                torch.set_num_threads(1)
                torch.set_flush_denormal(False)


def _compiled(model: torch.nn.Module, backend: str) -> Model:
    """By torch.compile, without threads or worker processes of its own, and without its patterns: they make of a
    softmax between two products a scaled_dot_product_attention, which gives 0 where the softmax is NaN."""
    from torch._inductor import config

    settings: Any = config
    settings.compile_threads = 1
    settings.pattern_matcher = False
    compiled: Model = torch.compile(model, backend=backend, dynamic=False)
    return compiled
