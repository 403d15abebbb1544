"""From an ONNX file to a Relax module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tvm.relax.frontend.onnx import from_onnx

from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.onnx.held_ends import as_in_file
from fuzzer.lanes.onnx.imported_file import file_of_lane
from fuzzer.lanes.relax.guard_zones import Constants
from generators.graph import Array
from oracles.lane import LaneSpec
from oracles.stage import Stage


def read(
    prepared: PreparedCase, spec: LaneSpec, step: Step, constants: Constants, keep: bool
) -> tuple[Any, Mapping[str, Array]]:
    """The inputs are in the order of the file, which main's parameters have too, under the names of the case."""
    model = file_of_lane(prepared, spec)
    weights = {item.name for item in model.graph.initializer}
    names = [item.name for item in model.graph.input if item.name not in weights]
    sizes = open_sizes_of(model, names) if spec.given_sizes else None
    step(Stage.IMPORT)
    with constants.guarded():
        module = from_onnx(model, shape_dict=sizes, keep_params_in_input=keep)
    given = prepared.case.given
    own = {its: mine for mine, its in given.names.items()} if given else {}
    items = {item.name: item for item in model.graph.input}
    return module, {own.get(name, name): as_in_file(items[name], prepared.inputs[name]) for name in names}


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
