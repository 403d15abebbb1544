"""Values for the part of `repro.py` that makes the PyTorch model and its inputs."""

from __future__ import annotations

from dataclasses import dataclass

from fuzzer.report.python_source import literal_of, powers_without_spaces, tuple_of
from fuzzer.report.repro_values import literal
from generators.graph import Array, Case, DType, Input, Layout
from generators.torch.source import HEADER, render
from oracles.lane import Engine, Importer, LaneSpec


@dataclass(frozen=True, slots=True)
class Model:
    """The source of the class, the arguments of its constructor, the inputs, and their names if the export needs
    them."""

    source: str
    parameters: str
    inputs: str
    names: str


def parts(case: Case, lane: LaneSpec) -> Model:
    """The graph must have no symbols, and no parameters if it is differentiated."""
    items = [item for item in case.graph.inputs if not item.role.is_owned]
    named = lane.importer.is_onnx or lane.importer is Importer.TRACE or lane.engine is Engine.ONNXRUNTIME
    return Model(
        powers_without_spaces(render(case.graph).removeprefix(HEADER)).strip("\n"),
        ", ".join(f"{name}={literal(array)}" for name, array in case.owned.items()),
        tuple_of([_laid_out(item, case.tensors[item.value.name]) for item in items]),
        literal_of(list(case.inputs)) if named else "",
    )


def has_bfloat16(case: Case) -> bool:
    """Whether an input or an output is bfloat16, which numpy does not have."""
    graph = case.bound
    types = [item.value.type for item in graph.inputs if not item.role.is_owned] + list(graph.output_types)
    return any(type.dtype is DType.BFLOAT16 for type in types)


def _laid_out(item: Input, array: Array) -> str:
    """As `fuzzer.lanes.base.prepared_case.laid_out` does it."""
    match item.layout:
        case Layout.CONTIGUOUS:
            return literal(array)
        case Layout.TRANSPOSED:
            order = ", ".join(map(str, reversed(range(array.ndim))))
            return f"{literal(array)}.permute({order}).contiguous().permute({order})"
        case Layout.STRIDED:
            return f"{literal(array)}.repeat_interleave(2, -1)[..., ::2]"
        case Layout.EXPANDED:
            return f"{literal(array[:1])}.expand({', '.join(map(str, array.shape))})"
