"""Values for the part of `repro.py` that exports and imports the model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuzzer.cases.open_sizes import linear, sample_sizes
from fuzzer.report.script_source import NOTHING, Source, literal_of, name, own_text, source, tuple_of
from generators.dialect import dialect_named
from generators.graph import Case, Dim, Expr
from oracles.lane import LaneSpec, returns_gradients


@dataclass(frozen=True, slots=True)
class OpenSizes:
    """The arguments of the two exports of `fuzzer.lanes.torch.symbolic`: with named dimensions, and with inferred
    ones."""

    symbols: tuple[OpenSymbol, ...]
    sample: Source
    named: Source
    auto: Source


@dataclass(frozen=True, slots=True)
class OpenSymbol:
    """`high` is None where every number may be larger."""

    name: Source
    low: int
    high: int | None


def template_part(lane: LaneSpec, *, built: bool) -> str:
    """The template in `fuzzer/templates/repro/importer/`. `built`: the script builds the ONNX file itself."""
    if returns_gradients(lane):
        return "gradient"
    row = lane.importer.row
    if built and row.reads.is_file:
        return "built"
    is_decomposed = row.reads.is_program and not row.reads.is_raw
    return "open" if lane.symbolic and is_decomposed else row.script


ToNumpy = Callable[[Source], Source]
"""From the expression of a tensor to that of its numpy array."""


def arguments(lane: LaneSpec, to_numpy: ToNumpy, device: Source, *, built: bool, guarded: bool = False) -> Source:
    """A generator expression of main's arguments for the model's inputs: TVM's tensors, in main's order."""
    value, taken = to_numpy(name("x")), source("inputs")
    if dialect_named(lane.dialect).module:
        value, taken = name("x"), source("inputs.values()")
    if lane.importer.row.reads.is_file:
        value, taken = (name("x"), source("inputs.values()")) if built else (value, source("args"))
    if guarded:
        return source("guarded(x) for x in {}", taken)
    return source("tvm.runtime.tensor({}{}) for x in {}", value, device, taken)


def exporter(lane: LaneSpec) -> Source:
    """The arguments of torch.onnx.export that choose the exporter and the opset."""
    opset = source(", opset_version={}", lane.opset) if lane.opset else NOTHING
    return source("dynamo={}{}", lane.importer.row.reads.is_by_dynamo, opset)


def open_sizes(case: Case) -> OpenSizes:
    values = [item.value for item in case.graph.inputs if not item.role.is_owned]
    sizes = sample_sizes(case)
    sample = tuple_of(
        [
            source("torch.zeros({}, dtype=torch.{})", literal_of(v.type.bind(sizes).sizes), name(v.type.dtype))
            for v in values
        ]
    )
    named, auto = (_shapes([v.type.shape for v in values], names=names) for names in (True, False))
    symbols = tuple(OpenSymbol(name(each.name), each.low, each.high) for each in case.graph.symbols)
    return OpenSizes(symbols, sample, named, auto)


def _shapes(shapes: Sequence[tuple[Dim, ...]], *, names: bool) -> Source:
    def one(size: Dim) -> Source:
        if not isinstance(size, Expr):
            return source("static")
        if not (names and linear(size)):
            return source("auto")
        return own_text(re.sub(r"(?<=\w)([*+-])", r" \1 ", str(size)))

    return tuple_of([tuple_of([one(size) for size in shape]) for shape in shapes])
