"""From a PyTorch model to a Relay module: one function for each frontend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from tvm import relay
from tvm.relay.build_module import bind_params_by_name

from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.onnx.imported_file import onnx_file_as_exported
from fuzzer.lanes.torch.prepared import model_of, tensors_of
from generators.graph import Array
from oracles.lane import LaneSpec, Params
from oracles.outcome import Stage


@dataclass(frozen=True, slots=True)
class Imported:
    """An imported Relay module.

    module   used by this lane only
    weights  parameters of main that the build makes constants
    inputs   the model's inputs in the order of main's parameters; main may have fewer than the model
    """

    module: Any
    weights: Mapping[str, Any]
    inputs: Mapping[str, Array]


def imported(prepared: PreparedCase, spec: LaneSpec, step: Step) -> Imported:
    if spec.importer.row.reads.is_by_jit:
        module, weights = _from_trace(prepared, step)
    else:
        module, weights = _from_onnx_file(prepared, spec, step)
    if spec.params is Params.REBOUND:
        module["main"] = bind_params_by_name(module["main"], weights)
        weights = {}
    names = [param.name_hint for param in module["main"].params]
    return Imported(module, weights, {name: prepared.inputs[name] for name in names if name in prepared.inputs})


def _from_trace(prepared: PreparedCase, step: Step) -> tuple[Any, Mapping[str, Any]]:
    model = model_of(prepared)
    step(Stage.EXPORT)
    with torch.no_grad():
        traced = torch.jit.trace(model, tensors_of(prepared), check_trace=False)  # type: ignore[no-untyped-call]
    step(Stage.IMPORT)
    types = [(name, (array.shape, str(array.dtype))) for name, array in prepared.inputs.items()]
    module, weights = relay.frontend.from_pytorch(traced, types)
    return module, weights


def _from_onnx_file(prepared: PreparedCase, spec: LaneSpec, step: Step) -> tuple[Any, Mapping[str, Any]]:
    """Where the weights are constants, from_onnx ends with DynamicToStatic."""
    file = onnx_file_as_exported(prepared, spec.importer, spec.opset)
    step(Stage.IMPORT)
    module, weights = relay.frontend.from_onnx(file, freeze_params=spec.params is Params.BOUND)
    return module, weights
