"""torch.export for all sizes of a case's symbolic dimensions at once.

The program is exported at other sizes than it runs at, so that it cannot contain the latter. Where torch.export makes a
size constant, or its program does not run at the case's own sizes, the limit is its own. NotImplementedError is then
raised in the export stage, before TVM imports the program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch.export import Dim, ExportedProgram

from fuzzer.cases.open_sizes import linear, sample_sizes
from fuzzer.lanes.base.arrays import from_torch, laid_out, to_torch
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.torch.own_state import module_with_own_state
from fuzzer.lanes.torch.prepared import given_program, model_of, tensors_of
from generators.graph import Array, Case, Expr, Invalid
from generators.graph import Dim as Size
from oracles.outcome import Stage


def exported(prepared: PreparedCase, step: Step) -> ExportedProgram:
    """Return the decomposed program. Raise NotImplementedError where torch.export does not keep the sizes open. A given
    program has its open sizes already."""
    if prepared.case.given is not None:
        step(Stage.EXPORT)
        with torch.no_grad():
            as_given: ExportedProgram = given_program(prepared).run_decompositions()
            return as_given
    case, model = prepared.case, model_of(prepared)
    sample = _arguments(case, sample_sizes(case))
    step(Stage.EXPORT)
    with torch.no_grad():
        try:
            program = torch.export.export(model, sample, dynamic_shapes=_dynamic(case, _named(case)))
        except torch._dynamo.exc.UserError:  # it rejects some names and formulas: let it find its own
            program = torch.export.export(model, sample, dynamic_shapes=_dynamic(case, lambda size: Dim.AUTO))
        _require_open_sizes(case, program)
        _require_own_sizes(prepared, program)
        decomposed: ExportedProgram = program.run_decompositions()
        return decomposed


def _arguments(case: Case, sizes: Mapping[str, int]) -> tuple[torch.Tensor, ...]:
    """Return the case's inputs, cropped or repeated to other sizes."""
    made = []
    for item in (item for item in case.graph.inputs if not item.role.is_owned):
        array = case.tensors[item.value.name]
        try:
            shape = item.value.type.bind(sizes).sizes
        except Invalid as error:
            raise NotImplementedError(f"no second sizes to export at: {error}") from None
        made.append(laid_out(to_torch(_resized(array, shape)), item.layout))
    return tuple(made)


def _resized(array: Array, shape: tuple[int, ...]) -> Array:
    if 0 in array.shape:
        return np.zeros(shape, array.dtype)
    return array[np.ix_(*(np.arange(size) % old for size, old in zip(shape, array.shape, strict=True)))]


def _dynamic(case: Case, dim_of: Callable[[Expr], Any]) -> tuple[Any, ...]:
    def of(size: Size) -> Any:
        return dim_of(size) if isinstance(size, Expr) else Dim.STATIC

    return tuple(tuple(map(of, item.value.type.shape)) for item in case.graph.inputs if not item.role.is_owned)


def _named(case: Case) -> Callable[[Expr], Any]:
    """Return a function from a size to its `Dim`: a name with a range, or a*n+b. torch.export infers the rest."""
    dims = {s.name: Dim(s.name, min=s.low, max=s.high) for s in case.graph.symbols}

    def of(size: Expr) -> Any:
        simple = linear(size)
        if simple is None:
            return Dim.AUTO
        name, factor, offset = simple
        scaled = dims[name] * factor if factor > 1 else dims[name]
        return scaled + offset if offset > 0 else scaled - -offset if offset else scaled

    return of


def _require_open_sizes(case: Case, program: ExportedProgram) -> None:
    names = set(program.graph_signature.user_inputs)
    values = [node.meta["val"] for node in program.graph.nodes if node.op == "placeholder" and node.name in names]
    items = [item for item in case.graph.inputs if not item.role.is_owned]
    for item, value in zip(items, values, strict=True):
        for size, kept in zip(item.value.type.shape, value.shape, strict=True):
            if isinstance(size, Expr) and isinstance(kept, int):
                raise NotImplementedError("torch.export makes a constant of a symbolic size")


def _require_own_sizes(prepared: PreparedCase, program: ExportedProgram) -> None:
    """Require that PyTorch runs the program at the case's own sizes, and that its outputs have the right types."""
    try:
        outputs = module_with_own_state(program)(*tensors_of(prepared))
    except Exception as error:  # its guards refuse the sizes, or it is wrong for them
        message = " ".join(str(error).split())[:150]
        raise NotImplementedError(f"the exported program does not run at the case's sizes: {message}") from None
    found = [(from_torch(output).dtype, tuple(output.shape)) for output in outputs]
    if found != [(type.dtype.numpy, type.sizes) for type in prepared.case.bound.output_types]:
        raise NotImplementedError("the exported program gives other types at the case's sizes")
