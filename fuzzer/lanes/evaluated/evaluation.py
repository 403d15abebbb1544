"""The lanes of tier 1: import a model, check the module, and evaluate it operator by operator. They compile nothing.

A module that is wrong as it was imported shows here at a small part of the cost of a compilation. The result is a hint:
where it differs from PyTorch's, compiled code of the same importer decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from fuzzer.lanes.base.prepared_case import PreparedCase, Step, from_torch, to_torch
from fuzzer.lanes.evaluated.common import Outside, Unknown
from fuzzer.lanes.evaluated.interpreter import TIES, Program, as_declared, declared_types, flat, interpreting
from fuzzer.lanes.evaluated.operators import value_of
from fuzzer.lanes.relax.behaviour import BehaviourRecorder
from fuzzer.lanes.relax.check import Checker
from fuzzer.lanes.relax.importing import imported
from oracles.lane import LaneSpec
from oracles.outcome import Built, Ran, Stage
from oracles.trace import Trace

MAX_STEPS = 2_000
"""The largest number of loads and stores of a kernel that is interpreted: about 10 ms. Larger kernels are left to
compiled code."""


def run(prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran | Built:
    """Evaluate the module. Return `Built()`, which has no result, where the evaluation decides nothing.

    `trace.outside` is noted where the module contradicts itself: it reads outside of a tensor, or declares another
    shape than its operators have."""
    model = imported(prepared, spec, step)
    checker = Checker.after_import(model.module, spec, step)
    recorder = BehaviourRecorder(step)
    recorder.imported(model.module)
    if checker is not None and checker.failed:
        return Built()  # what an ill-formed module computes is not defined
    step(Stage.RUN)
    try:
        with torch.no_grad():
            program = Program(model.module, _value, interpreting(model.module, MAX_STEPS))
            result = program.call("main", [to_torch(array) for array in model.inputs.values()])
            return Ran(tuple(from_torch(each) for each in flat(result)))
    except Outside as error:
        step.note(trace=Trace(outside=str(error)))
    except Unknown as error:
        recorder.undefined(str(error))
    except Exception as error:  # PyTorch refuses operands that the definition does not allow: nothing is decided
        recorder.undefined(type(error).__name__)
    return Built()


def _value(call: Any, args: Sequence[Any]) -> Any:
    """Return the value of a call, in the dtypes that the module declares. Raise `Outside` for another shape."""
    name = str(call.op.name)
    if name in TIES and args[0].unique().numel() < args[0].numel():
        raise Unknown(f"{name} of equal elements")  # their order is not defined
    try:
        value = as_declared(call, value_of(name.removeprefix("relax."), call.attrs, args))
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise Unknown(f"{name} {type(error).__name__}") from error
    for declared, tensor in zip(declared_types(call), flat(value), strict=False):
        sizes = _sizes(declared)
        if sizes is not None and isinstance(tensor, torch.Tensor) and list(tensor.shape) != sizes:
            raise Outside(f"{name} is declared as {sizes}, and by its definition it is {list(tensor.shape)}")
    return value


def _sizes(declared: Any) -> list[int] | None:
    """Return the declared shape; None where it is open."""
    values = getattr(getattr(declared, "shape", None), "values", None)
    if values is None:
        return None
    sizes = [getattr(each, "value", None) for each in values]
    return None if None in sizes else [int(size) for size in sizes if size is not None]
