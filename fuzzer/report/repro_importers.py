"""Values for the part of `repro.py` that exports and imports the model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fuzzer.cases.open_sizes import linear, sample_sizes
from fuzzer.report.python_source import tuple_of
from generators.graph import Case, Dim, Expr, Symbol
from oracles.lane import Importer, LaneSpec, returns_gradients


@dataclass(frozen=True, slots=True)
class OpenSizes:
    """The arguments of the two exports of `fuzzer.lanes.torch.symbolic`: with named dimensions, and with inferred
    ones."""

    symbols: tuple[Symbol, ...]
    sample: str
    named: str
    auto: str


def template_part(lane: LaneSpec, *, built: bool) -> str:
    """Which part of `import.py.j2` applies. `built`: the script builds the ONNX file itself."""
    if returns_gradients(lane):
        return "gradient"
    match lane.importer:
        case Importer.ONNX | Importer.ONNX_DYNAMO | Importer.ONNX_MODEL:
            return "built" if built else "onnx"
        case Importer.FX:
            return "fx"
        case Importer.EXPORT_RAW:
            return "export"
        case _:
            return "open" if lane.symbolic else "export"


def arguments(lane: LaneSpec, torch_to_numpy: str, device: str, *, built: bool, guarded: bool = False) -> str:
    """A generator expression of main's arguments for the model's inputs: TVM's tensors, in main's order."""
    value, source = torch_to_numpy.format("x"), "inputs"
    if lane.importer.reads_onnx:
        value, source = ("x", "inputs.values()") if built else (value, "args")
    if guarded:
        return f"guarded(x) for x in {source}"
    return f"tvm.runtime.tensor({value}{device}) for x in {source}"


def exporter(lane: LaneSpec) -> str:
    """The arguments of torch.onnx.export that choose the exporter and the opset."""
    opset = f", opset_version={lane.opset}" if lane.opset else ""
    return f"dynamo={lane.importer is Importer.ONNX_DYNAMO}{opset}"


def open_sizes(case: Case) -> OpenSizes:
    values = [item.value for item in case.graph.inputs if not item.role.is_owned]
    sizes = sample_sizes(case)
    sample = tuple_of([f"torch.zeros({v.type.bind(sizes).sizes}, dtype=torch.{v.type.dtype})" for v in values])
    named, auto = (_shapes([v.type.shape for v in values], names=names) for names in (True, False))
    return OpenSizes(case.graph.symbols, sample, named, auto)


def _shapes(shapes: Sequence[tuple[Dim, ...]], *, names: bool) -> str:
    def one(size: Dim) -> str:
        if not isinstance(size, Expr):
            return "static"
        return re.sub(r"(?<=\w)([*+-])", r" \1 ", str(size)) if names and linear(size) else "auto"

    return tuple_of([tuple_of([one(size) for size in shape]) for shape in shapes])
