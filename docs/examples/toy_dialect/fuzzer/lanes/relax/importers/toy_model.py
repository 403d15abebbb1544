"""From a case of the toy to a Relax module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tvm
from tvm import relax

from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.relax.guard_zones import Constants
from generators.graph import Array
from oracles.lane import LaneSpec
from oracles.stage import Stage

MAKERS = {
    "toy.negate": lambda x: relax.op.negative(x),
    "toy.plus": lambda x, y: relax.op.add(x, y),
    "toy.total": lambda x: relax.op.sum(x, axis=-1),
}


def read(
    prepared: PreparedCase, spec: LaneSpec, step: Step, constants: Constants, keep: bool
) -> tuple[Any, Mapping[str, Array]]:
    step(Stage.IMPORT)
    graph, owned = prepared.case.bound, prepared.case.owned
    names = [*prepared.inputs, *owned]
    values = {name: relax.Var(name, relax.TensorType(graph.types[name].sizes, "float32")) for name in names}
    parameters = list(values.values())
    builder = relax.BlockBuilder()
    with builder.function("main", parameters):
        with builder.dataflow():
            for node in graph.nodes:
                call = MAKERS[node.op](*(values[name] for name in node.args))
                values[node.results[0].name] = builder.emit(call, node.results[0].name)
            result = builder.emit_output(relax.Tuple([values[name] for name in graph.outputs]))
        builder.emit_func_output(result)
    with constants.guarded():
        numbers = {name: tvm.runtime.tensor(array) for name, array in owned.items()}
    module = builder.get()
    if not keep:
        return relax.transform.BindParams("main", numbers)(module) if numbers else module, prepared.inputs
    module["main"] = module["main"].with_attr("params", list(numbers.values()))
    return module, prepared.inputs
