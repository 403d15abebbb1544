"""TVM as the backend of torch.compile: torch splits the model into graphs, and TVM compiles each when it first runs."""

from __future__ import annotations

from typing import Any

import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import relax_dynamo

from fuzzer.lanes.base.arrays import from_torch
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.relax.build import apply, context
from fuzzer.lanes.relax.check import Checker
from fuzzer.lanes.relax.trace import Tracer
from fuzzer.lanes.torch.prepared import model_of, tensors_of
from generators.graph import Array
from oracles.lane import LaneSpec, Pipeline
from oracles.outcome import Ran, Stage


def run(prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
    model = model_of(prepared)
    checker = Checker(step) if spec.checked else None
    step(Stage.COMPILE)
    with torch.no_grad(), context(spec, checker, Tracer.of(spec, step, prepared.case)):
        torch._dynamo.reset()  # use nothing that an earlier lane compiled
        compiled = torch.compile(model, backend=relax_dynamo(_pipeline(spec)), dynamic=False)
        try:
            first = _arrays(compiled(*tensors_of(prepared)))
        except torch._dynamo.exc.BackendCompilerFailed as error:
            raise error.inner_exception from None  # TVM's own exception and traceback
        step(Stage.RUN)
        again = _arrays(compiled(*tensors_of(prepared)))
    if checker:
        checker.tell()
    return Ran(first, again)


def _pipeline(spec: LaneSpec) -> Any:
    """Return the lane's passes, followed by the lane's pipeline (TVM's backend runs its default pipeline itself)."""

    def passes(module: Any, _: Any) -> Any:
        target = tvm.target.Target("llvm")
        with target:
            for name in spec.passes:
                module = apply(name, module, target)
            return module if spec.pipeline is Pipeline.DEFAULT else relax.get_pipeline(spec.pipeline.value)(module)

    return tvm.transform.module_pass(passes, opt_level=0)


def _arrays(outputs: Any) -> tuple[Array, ...]:
    return tuple(from_torch(output) for output in ([outputs] if isinstance(outputs, torch.Tensor) else outputs))
