"""The lanes of tier 1: import a model, check the module, and evaluate it operator by operator. They compile nothing.

A module that is wrong as it was imported shows here at a small part of the cost of a compilation. The result is a hint:
where it differs from PyTorch's, compiled code of the same importer decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from fuzzer.lanes.base.arrays import from_torch, to_torch
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.evaluated.common import Contradiction, Outside, Unknown, require
from fuzzer.lanes.evaluated.interpreter import Program, as_declared, declared_types, flat, interpreting
from fuzzer.lanes.evaluated.nan import takes_nan
from fuzzer.lanes.evaluated.operators import value_of
from fuzzer.lanes.evaluated.ties import has_ties
from fuzzer.lanes.relax import releases
from fuzzer.lanes.relax.behaviour import BehaviourRecorder
from fuzzer.lanes.relax.check import Checker
from fuzzer.lanes.relax.importing import Imported, imported
from fuzzer.lanes.relax.trace import result_types
from generators.graph import Array, Graph, TensorType
from oracles.lane import LaneSpec
from oracles.outcome import Built, Ran, Stage
from oracles.trace import Trace

STEPS_OF_TESTS = 2_000
"""The largest number of loads and stores of a kernel that a test interprets: about 10 ms. Larger kernels are left to
compiled code."""


def run(prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran | Built:
    """Evaluate the module. Return `Built()`, which has no result, where the evaluation decides nothing.

    Where the module is wrong whatever its values are, `outside`, `contradiction` or `other_types` of the trace says
    so. An exception is a mistake of difftvm's own."""
    model = imported(prepared, spec, step)
    checker = Checker.after_import(model.module, spec, step)
    recorder = BehaviourRecorder(step)
    recorder.imported(model.module)
    if checker is not None and checker.failed:
        return Built()  # what an ill-formed module computes is not defined
    step(Stage.RUN)
    if found := other_types(result_types(model.module), prepared.case.bound.output_types):
        place, message = found
        step.note(trace=Trace(other_types=message, wrong_result=place))
        return Built()
    try:
        return Ran(_results(model))
    except Outside as error:
        step.note(trace=Trace(outside=str(error)))
    except Contradiction as error:
        refuted = is_refuted(error, prepared.case.bound)
        step.note(trace=Trace(other_types=str(error)) if refuted else Trace(contradiction=str(error)))
    except Unknown as error:
        recorder.undefined(str(error))
    return Built()


def other_types(declared: Sequence[str], right: Sequence[TensorType]) -> tuple[int | None, str] | None:
    """Say how the declared types of main's results differ from the graph's, with the place of the first that does; None
    where they do not. A type whose sizes are open is not compared."""
    if len(declared) != len(right):
        return None, f"{len(declared)} results are declared, and the graph has {len(right)}"
    for place, (one, type) in enumerate(zip(declared, right, strict=True)):
        other = f"{type.dtype}{list(type.sizes)}"
        if one and one != other:
            return place, f"result {place} is declared as {one}, and the graph's is {other}"
    return None


def is_refuted(found: Contradiction, graph: Graph) -> bool:
    """Whether the graph shows that the declared shape is wrong: a node's value has the type by the definition, and no
    value has the declared type."""
    types = {(each.dtype.value, each.sizes) for each in graph.types.values()}
    computed = {(result.type.dtype.value, result.type.sizes) for node in graph.nodes for result in node.results}
    return (found.dtype, found.defined) in computed and (found.dtype, found.declared) not in types


def _results(model: Imported) -> tuple[Array, ...]:
    """Evaluate main. Raise `Unknown`, `Outside` or `Contradiction`."""
    program = Program(model.module, declared_value, interpreting(model.module, STEPS_OF_TESTS))
    with torch.no_grad():
        results = flat(program.call("main", [to_torch(array) for array in model.inputs.values()]))
    if not all(isinstance(each, torch.Tensor) for each in results):
        raise Unknown("a result that is no tensor")
    return tuple(map(from_torch, results))


def declared_value(call: Any, args: Sequence[Any]) -> Any:
    """Return the value of a call, in the dtypes that the module declares. Raise `Contradiction` for another shape."""
    name = str(call.op.name).removeprefix("relax.")
    try:
        if has_ties(name, call.attrs, args):
            raise Unknown(f"relax.{name} of equal elements")
        if takes_nan(name, args):
            raise Unknown(f"relax.{name} of NaN")
        value = as_declared(call, value_of(name, call.attrs, args))
        require(_is_declared_tuple(call) or not _is_several(value), f"relax.{name} of another number of tensors")
    except (RuntimeError, TypeError, ValueError, IndexError) as error:  # PyTorch refuses the operands
        raise Unknown(f"relax.{name} {type(error).__name__}") from error
    for declared, tensor in zip(declared_types(call), flat(value), strict=False):
        sizes = _sizes(declared)
        if sizes is not None and isinstance(tensor, torch.Tensor) and list(tensor.shape) != sizes:
            raise Contradiction(f"relax.{name}", str(declared.dtype), sizes, tensor.shape)
    return value


def _is_declared_tuple(call: Any) -> bool:
    return hasattr(releases.type_of(call), "fields")


def _is_several(value: Any) -> bool:
    return isinstance(value, tuple) and any(isinstance(each, torch.Tensor) for each in value)


def _sizes(declared: Any) -> list[int] | None:
    """Return the declared shape; None where it is open."""
    values = getattr(getattr(declared, "shape", None), "values", None)
    if values is None:
        return None
    sizes = [getattr(each, "value", None) for each in values]
    return None if None in sizes else [int(size) for size in sizes if size is not None]
