"""Lanes that are right by definition: other kernels, orders of summation and optimisers than the reference's.

They calibrate the tolerance (`benchmarks/calibration.py`). A finding about one of them is a false alarm
(`fuzz bench honesty`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import Any

import torch

from fuzzer.lanes.base.arrays import from_torch
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.envelope.layouts import other_layout
from fuzzer.lanes.onnx.imported_file import onnx_file
from fuzzer.lanes.onnx.runtime import OnnxRuntimeLane
from fuzzer.lanes.onnx.silent_onnxruntime import ort
from fuzzer.lanes.onnx.witnesses import by_onnxruntime
from fuzzer.lanes.torch.prepared import model_of, tensors_of
from generators.dialect import dialect_named
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage

LEVELS = {
    "ort-disable": ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "ort-basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "ort-extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "ort-all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
}

CXX = os.environ.get("CXX", "g++")
"""The compiler that torch.compile calls (`torch._inductor.config.cpp.cxx`)."""

Model = Callable[..., tuple[torch.Tensor, ...]]


class HonestLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        if spec.variant in LEVELS and not dialect_named(spec.dialect).is_file:
            return OnnxRuntimeLane().supports(case, spec)
        if spec.variant == "inductor" and shutil.which(CXX) is None:
            return f"no {CXX} on PATH: inductor compiles C++"
        return None

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
        if dialect_named(spec.dialect).is_file:
            file = onnx_file(prepared, spec.importer)
            step(Stage.LOAD)
            return Ran(by_onnxruntime(file, prepared.inputs, LEVELS[spec.variant], step))
        if spec.variant in LEVELS:
            return OnnxRuntimeLane(LEVELS[spec.variant]).run(prepared, spec, step)
        model = model_of(prepared)
        step(Stage.COMPILE)
        with torch.no_grad():
            inputs = tensors_of(prepared)
            match spec.variant:
                case "layout":
                    inputs = tuple(map(other_layout, inputs))
                    for tensor in (*model.parameters(), *model.buffers()):
                        tensor.data = other_layout(tensor.data)
                    run: Model = model
                case "threads":  # this runs in a child of its own, in which PyTorch's thread pool has not run
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
            finally:  # the next lane of this child needs the defaults
                torch.set_num_threads(1)
                torch.set_flush_denormal(False)


def _compiled(model: torch.nn.Module, backend: str) -> Model:
    """Compile with torch.compile, without threads or worker processes, and without its pattern matcher.

    The pattern matcher turns a softmax between two products into scaled_dot_product_attention, which returns 0 where
    the softmax is NaN."""
    from torch._inductor import config

    settings: Any = config
    settings.compile_threads = 1
    settings.pattern_matcher = False
    compiled: Model = torch.compile(model, backend=backend, dynamic=False)
    return compiled
