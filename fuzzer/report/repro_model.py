"""Values for the part of `repro.py` that makes a model that is a class of PyTorch, and its inputs: of the graph, or of
the given program."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fuzzer.report.given_program import program_source
from fuzzer.report.python_source import powers_without_spaces
from fuzzer.report.repro_values import literal
from fuzzer.report.script_source import NOTHING, Source, joined, literal_of, name, own_text, source, tuple_of
from generators.dialect import dialect_named
from generators.graph import Array, Case, DType, Input, Layout
from oracles.lane import Engine, LaneSpec


@dataclass(frozen=True, slots=True)
class Model:
    """The source of the class, the arguments of its constructor, the inputs, and their names if the export needs
    them. `changes`: the model may change its inputs and buffers."""

    source: Source
    parameters: Source
    inputs: Source
    names: Source
    changes: bool


_IMPORTS = re.compile(r"\A(import .*\n)+")
"""The imports at the beginning of the model's source. The script imports what all its parts need."""


def parts(case: Case, lane: LaneSpec) -> Model:
    """The graph must have no symbols, and no parameters if it is differentiated. Raise `NoScript` where the given
    program of the case cannot be written."""
    items = [item for item in case.graph.inputs if not item.role.is_owned]
    reads = lane.importer.row.reads
    named = reads.is_exported_file or reads.is_by_jit or lane.engine is Engine.ONNXRUNTIME
    return Model(
        *(_rendered(case) if case.given is None else _given(case)),
        tuple_of([_laid_out(item, case.tensors[item.value.name]) for item in items]),
        literal_of(list(case.inputs)) if named else NOTHING,
        case.given is not None and program_source(case).changes,
    )


def _rendered(case: Case) -> tuple[Source, Source]:
    """The class, and the arguments of its constructor."""
    made = dialect_named(case.graph.dialect).source
    assert made is not None, "the script builds the file of a dialect whose model is a file"
    return own_text(powers_without_spaces(_IMPORTS.sub("", made(case.graph))).strip("\n")), _arguments(
        (name(each), array) for each, array in case.owned.items()
    )


def _given(case: Case) -> tuple[Source, Source]:
    """The class that makes the calls of the given program, and the arguments of its constructor."""
    assert case.given is not None
    program = program_source(case)
    own = {its: case.tensors[each] for each, its in case.given.names.items()}
    return program.source, _arguments((argument, own[each]) for each, argument in program.owned.items())


def _arguments(arrays: Iterable[tuple[Source, Array]]) -> Source:
    return joined(", ", (source("{}={}", argument, literal(array)) for argument, array in arrays))


def has_bfloat16(case: Case) -> bool:
    """Whether an input or an output is bfloat16, which numpy does not have."""
    graph = case.bound
    types = [item.value.type for item in graph.inputs if not item.role.is_owned] + list(graph.output_types)
    return any(type.dtype is DType.BFLOAT16 for type in types)


def _laid_out(item: Input, array: Array) -> Source:
    """As `fuzzer.lanes.base.prepared_case.laid_out` does it."""
    match item.layout:
        case Layout.CONTIGUOUS:
            return literal(array)
        case Layout.TRANSPOSED:
            order = joined(", ", map(literal_of, reversed(range(array.ndim))))
            return source("{}.permute({}).contiguous().permute({})", literal(array), order, order)
        case Layout.STRIDED:
            return source("{}.repeat_interleave(2, -1)[..., ::2]", literal(array))
        case Layout.EXPANDED:
            return source("{}.expand({})", literal(array[:1]), joined(", ", map(literal_of, array.shape)))
