"""The work on a case of PyTorch before TVM: its module, and what torch.export makes of it.

Toolchains without PyTorch import this module, so PyTorch is loaded when a lane asks for something.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fuzzer.lanes.base.arrays import laid_out, to_torch
from fuzzer.lanes.base.prepared_case import PreparedCase
from generators.graph import Array
from generators.torch.source import render
from oracles.outcome import Stage

if TYPE_CHECKING:
    import torch


def build_model(source: str, params: Mapping[str, Array]) -> torch.nn.Module:
    """Execute rendered source and construct its class `Model`. The source is made from a checked graph, never read."""
    namespace: dict[str, Any] = {}
    exec(compile(source, "<case>", "exec"), namespace)
    model: torch.nn.Module = namespace["Model"](*(to_torch(array) for array in params.values()))
    return model.eval()


def model_of(prepared: PreparedCase) -> torch.nn.Module:
    """A new PyTorch module of the case, in eval mode, in the dtypes of the case; of a given program the module that
    torch.export makes of it, at the sizes of the case."""
    prepared.step(Stage.RENDER)
    if prepared.case.given is not None:
        return _flat(exported_raw(prepared))
    return build_model(render(prepared.case.bound), prepared.case.owned)


def given_program(prepared: PreparedCase) -> torch.export.ExportedProgram:
    """The given program as it is."""
    from fuzzer.lanes.torch import given

    return given.given_program(prepared.case)


def module_of(prepared: PreparedCase, program: torch.export.ExportedProgram) -> torch.nn.Module:
    """The module of a program of the case: it takes the tensors in a row and returns a tuple."""
    from fuzzer.lanes.torch.own_state import module_with_own_state

    return module_with_own_state(program) if prepared.case.given is None else _flat(program)


def _flat(program: torch.export.ExportedProgram) -> torch.nn.Module:
    from fuzzer.lanes.torch.given import FlatModule

    return FlatModule(program)


def tensors_of(prepared: PreparedCase) -> tuple[torch.Tensor, ...]:
    """New tensors of the inputs, each in the memory layout that the case gives for it."""
    case = prepared.case
    items = [item for item in case.graph.inputs if not item.role.is_owned]
    return tuple(laid_out(to_torch(case.tensors[item.value.name]), item.layout) for item in items)


def exported(prepared: PreparedCase) -> torch.export.ExportedProgram:
    """The exported program, decomposed once for all lanes."""
    return prepared.once("exported", lambda: _decomposed(prepared), reads_inputs=False)


def exported_raw(prepared: PreparedCase) -> torch.export.ExportedProgram:
    """The exported program, not decomposed. Decomposition makes a new program, so lanes can share this one."""
    return prepared.once("exported_raw", lambda: _export(prepared), reads_inputs=False)


def _export(prepared: PreparedCase) -> torch.export.ExportedProgram:
    import torch

    given = prepared.case.given
    if given is not None and not given.open:
        prepared.step(Stage.EXPORT)
        return given_program(prepared)
    model = _flat(given_program(prepared)) if given is not None else model_of(prepared)
    prepared.step(Stage.EXPORT)
    with torch.no_grad():
        program: torch.export.ExportedProgram = torch.export.export(model, tensors_of(prepared))
        return program


def _decomposed(prepared: PreparedCase) -> torch.export.ExportedProgram:
    import torch

    program = exported_raw(prepared)
    prepared.step(Stage.EXPORT)
    with torch.no_grad():
        decomposed: torch.export.ExportedProgram = program.run_decompositions()
        return decomposed
