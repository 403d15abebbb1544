"""TVM's Gradient pass: differentiate the weighted sum of a model's outputs that `fuzzer.cases.scalar_loss` defines."""

from __future__ import annotations

from typing import Any

import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program

from fuzzer.cases import scalar_loss
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.relax.build import built
from fuzzer.lanes.relax.check import Checker
from fuzzer.lanes.relax.guarded_run import run_twice
from fuzzer.lanes.relax.trace import Tracer
from fuzzer.lanes.torch.prepared import tensors_of
from fuzzer.lanes.torch.weighted_sum import WeightedSum
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage


def run(prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
    step(Stage.RENDER)
    function, names = scalar_loss.as_function(prepared.case), scalar_loss.leaves(prepared.case)
    inner = PreparedCase(function, step)
    model = WeightedSum(function)
    step(Stage.EXPORT)
    with torch.no_grad():
        program = torch.export.export(model, tensors_of(inner)).run_decompositions()
    step(Stage.IMPORT)
    module = from_exported_program(program, run_ep_decomposition=False, unwrap_unit_return_tuple=True)
    checker = Checker.after_import(module, spec, step)
    step(Stage.TRANSFORM)
    module = differentiated(module, [name in names for name in inner.inputs])
    if checker:
        checker.look(module, "Gradient")
    machine = built(module, spec, step, checker, tracer=Tracer.of(spec, step, prepared.case))
    adjoint = machine["main_adjoint"]

    def value_and_gradients(*arguments: Any) -> list[Any]:
        value, gradients = adjoint(*arguments)
        return [value, *gradients]

    return run_twice(lambda: value_and_gradients, inner.inputs, step)


def differentiated(module: Any, wanted: list[bool]) -> Any:
    """Add `main_adjoint`, which returns main's result and the gradients with respect to the requested arguments."""
    with tvm.transform.PassContext():
        if decompose := _decomposition(module):
            module = decompose("main")(module)
        arguments = [var for var, want in zip(module["main"].params, wanted, strict=True) if want]
        return relax.transform.Gradient("main", require_grads=arguments)(module)


def _decomposition(module: Any) -> Any:
    """Return the pass that decomposes batch normalisation, which has no gradient itself; None where none fits.

    One pass assumes that all calls use the running statistics, the other that all use those of the batch. Neither is
    right for a mixture."""
    training: set[bool] = set()

    def look(expr: Any) -> None:
        if isinstance(expr, relax.Call) and getattr(expr.op, "name", "") == "relax.nn.batch_norm":
            training.add(bool(expr.attrs.training))

    relax.analysis.post_order_visit(module["main"], look)
    if len(training) != 1:
        return None
    return relax.transform.DecomposeOpsForTraining if training.pop() else relax.transform.DecomposeOpsForInference
