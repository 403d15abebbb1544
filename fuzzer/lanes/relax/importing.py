"""From a PyTorch model to a Relax module: one function for each importer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from tvm.relax.frontend import detach_params
from tvm.relax.frontend.onnx import from_onnx
from tvm.relax.frontend.torch import from_exported_program, from_fx

from fuzzer.lanes.base.prepared_case import PreparedCase, Step
from fuzzer.lanes.relax.guard_zones import Constants, Zone
from fuzzer.lanes.torch import symbolic
from generators.graph import Array
from oracles.lane import Importer, LaneSpec, Params
from oracles.outcome import Stage


@dataclass(frozen=True, slots=True)
class Imported:
    """An imported Relax module.

    module     used by this lane only
    inputs     the model's inputs in the order of main's parameters
    constants  the memory of the constants and parameters
    params     the parameters that main takes after the inputs, where they are not bound as constants
    """

    module: Any
    inputs: Mapping[str, Array]
    constants: Sequence[Zone]
    params: Sequence[Any] = ()


def imported(prepared: PreparedCase, spec: LaneSpec, step: Step) -> Imported:
    keep, constants = spec.params is not Params.BOUND, Constants()
    if spec.importer.reads_onnx:
        inputs: Mapping[str, Array]
        module, names = _from_onnx_file(prepared, spec, step, constants, keep)
        inputs = {name: prepared.inputs[name] for name in names}
    else:
        read = _from_fx if spec.importer is Importer.FX else _from_export
        module, inputs = read(prepared, spec, step, constants, keep), prepared.inputs
    if not keep:
        return Imported(module, inputs, constants.zones)
    module, params = detach_params(module)
    return Imported(module, inputs, constants.zones, list(params.get("main", ())))  # no entry: main has no parameters


def _from_export(prepared: PreparedCase, spec: LaneSpec, step: Step, constants: Constants, keep: bool) -> Any:
    match spec.importer:
        case Importer.EXPORT:
            program = symbolic.exported(prepared, step) if spec.symbolic else prepared.exported
        case Importer.EXPORT_RAW | Importer.EXPORT_TVM:
            program = prepared.exported_raw
        case _:
            raise ValueError(f"no importer of Relax: {spec.importer}")
    step(Stage.IMPORT)
    decompose = spec.importer is Importer.EXPORT_TVM
    with constants.guarded():
        return from_exported_program(program, run_ep_decomposition=decompose, keep_params_as_input=keep)


def _from_fx(prepared: PreparedCase, _: LaneSpec, step: Step, constants: Constants, keep: bool) -> Any:
    model = prepared.model
    step(Stage.EXPORT)
    with torch.no_grad():
        traced = torch.fx.symbolic_trace(model)
    step(Stage.IMPORT)
    types = [(array.shape, str(array.dtype)) for array in prepared.inputs.values()]
    with torch.no_grad(), constants.guarded():
        return from_fx(traced, types, keep_params_as_input=keep)


def _from_onnx_file(
    prepared: PreparedCase, spec: LaneSpec, step: Step, constants: Constants, keep: bool
) -> tuple[Any, list[str]]:
    """Return a module, and the names of the inputs in the order of main's parameters."""
    model = prepared.onnx_file_with_open_sizes() if spec.symbolic else prepared.onnx_file(spec.importer, spec.opset)
    weights = {item.name for item in model.graph.initializer}
    names = [item.name for item in model.graph.input if item.name not in weights]
    sizes = open_sizes_of(model, names) if spec.given_sizes else None
    step(Stage.IMPORT)
    with constants.guarded():
        return from_onnx(model, shape_dict=sizes, keep_params_in_input=keep), names


def open_sizes_of(model: Any, names: Sequence[str]) -> dict[str, list[int]]:
    """Replace each size of the model's inputs by a name of its own; return the sizes of each input, by its name."""
    sizes = {}
    for item in model.graph.input:
        if item.name in names:
            dims = item.type.tensor_type.shape.dim
            sizes[item.name] = [dim.dim_value for dim in dims]
            for axis, dim in enumerate(dims):
                dim.dim_param = f"{item.name}_{axis}"
    return sizes
