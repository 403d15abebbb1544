"""A case of ONNX, written as a file and read back, is the same calls and computes the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import pytest

from fuzzer.lanes.onnx.witnesses import by_onnxruntime, file_of, to_proto
from fuzzer.seeds.cut import whole
from fuzzer.seeds.onnx import graph as onnx_graph
from fuzzer.seeds.onnx.calls import in_rows_of_onnx
from fuzzer.seeds.onnx.graph import OnnxGraph
from fuzzer.seeds.onnx.reader.reader import answer
from fuzzer.seeds.resolved import Resolved
from generators.builder import Limits
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Array, Attr, Attrs, Case, DType, Form, Node, Profile
from generators.onnx.operator import NodeForm
from generators.onnx.random_graph import generate
from generators.onnx.rows import OPS, ROWS
from generators.onnx.schema import OLDEST, newest_opset
from generators.table import TABLE

pytestmark = pytest.mark.slow

ONE_NODE = [name for name, row in ROWS.items() if isinstance(row.source, NodeForm) and row.source.steps is None]
"""The rows whose call is one node of a file."""

WRITTEN_ALIKE = (Form.LOCAL, Form.IDENTITY, Form.CAST)
"""Forms that a reader cannot tell from the plain one: functions are inlined, and Identity and Cast are nodes of their
own."""


@dataclass
class RoundTrip:
    """A case at its own sizes, what the reader says of its file, the model in rows, and the case that it becomes."""

    before: Case
    described: OnnxGraph
    resolved: Resolved
    after: Case

    def node(self, result: str) -> Node | None:
        return next((node for node in self.resolved.nodes if node.results[0].name == result), None)


def round_trip(case: Case, folder: Path) -> RoundTrip:
    path, file = folder / "m.onnx", file_of(case)
    path.write_bytes(to_proto(file.model).SerializeToString())
    described = onnx_graph.decode(msgspec.json.encode(answer(path)), str(path))
    numbers = {name: array for name, array in file.inputs.items() if name not in case.tensors}
    resolved = in_rows_of_onnx(described, path, numbers)
    piece = whole(resolved.nodes, resolved.types, resolved.roles, resolved.returned, resolved.dialect, resolved.opset)
    known = {**case.tensors, **{name: tensor.array for name, tensor in described.constants.items()}}
    known |= {name: tensor.array for name, tensor in described.computed.items()}
    after = Case(piece.graph, {own: np.asarray(known[name], order="C") for own, name in piece.origins.items()})
    check(after)
    return RoundTrip(case.at(case.sizes), described, resolved, after)


def attributes(node: Node) -> Attrs:
    """Without the dtypes of constants that the call does not have: a file does not say them. A number in a tensor is as
    its dtype has it."""
    form = TABLE[node.op].source
    assert isinstance(form, NodeForm)
    given = {form.schema.input(name).type for name in form.constants if node.attrs[name] is not None}
    found = {key: value for key, value in node.attrs.items() if key not in form.free or key in given}
    for key, value in found.items():
        if key in form.schema.attributes and form.schema.attributes[key].kind == "tensor" and isinstance(value, tuple):
            found[key] = (value[0], np.array(value[1], DType(str(value[0])).numpy).item())
    return found


def lists_of(node: Node, described: OnnxGraph) -> list[str]:
    """The constant inputs of a node that the file has as lists or numbers."""
    written = {name: described.written.get(f"{node.results[0].name}_{name}", "value") for name in node.attrs}
    return [name for name, attribute in written.items() if attribute != "value"]


def constants(node: Node) -> list[Attr]:
    form = TABLE[node.op].source
    assert isinstance(form, NodeForm)
    return [node.attrs[name] for name in form.constants if node.attrs[name] is not None]


def differences(trip: RoundTrip) -> Iterator[str]:
    """The nodes that came back as others."""
    yield from (f"{title} has no row: {why}" for title, why in trip.resolved.lacking)
    for node in trip.before.graph.nodes:
        other = trip.node(node.results[0].name)
        if other is None:
            if any(value.name not in trip.described.computed for value in node.results):
                yield f"{node.op} is lost"
            continue
        form = Form.PLAIN if node.form in WRITTEN_ALIKE else node.form
        if form is Form.LIST and not lists_of(node, trip.described):
            form = Form.CONSTANT  # older opsets have no lists, and none has lists of these dtypes
        if form is Form.COMPUTED and not any(number != () for number in constants(node)):
            form = other.form  # there is nothing to compute
        pairs = {
            "op": (node.op, other.op),
            "results": (node.results, other.results),
            "attributes": (attributes(node), attributes(other)),
            "form": (form, other.form),
            "operands": (node.args[1:], other.args[1:]),
        }
        yield from (f"{node.op} {key}: {one} became {two}" for key, (one, two) in pairs.items() if one != two)


def computes_the_same(trip: RoundTrip) -> bool:
    """Whether both files give the same bits. Outputs that are constants are left out."""
    files = file_of(trip.before), file_of(trip.after)
    one, other = (by_onnxruntime(to_proto(file.model), file.inputs) for file in files)
    pairs = zip(files[0].model.outputs, one, strict=True)
    kept = [array for item, array in pairs if item.name not in trip.described.owned]
    return len(other) >= len(kept) and all(map(_same_bits, kept, other))


def _same_bits(one: Array, other: Array) -> bool:
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ONE_NODE)
def test_a_call_of_each_row_comes_back(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    assert isinstance(row.source, NodeForm)
    first, last = max(row.source.schema.since, OLDEST), min(row.source.schema.last or newest_opset(), newest_opset())
    for number in range(3):
        source = NumpySource(5, number)
        opset = source.integer(first, last)
        case = generate(source, Limits(max_nodes=1), [row], profile=Profile.NORMAL, symbolic=False, opset=opset)
        trip = round_trip(case, tmp_path)
        assert list(differences(trip)) == []
        assert computes_the_same(trip)


def test_drawn_cases_compute_the_same(tmp_path: Path) -> None:
    """Also in odd forms, with several nodes, of all opsets."""
    rows = [row for row in OPS if row.name in ONE_NODE]
    for number in range(200):
        case = generate(NumpySource(3, number), Limits(max_nodes=5), rows, profile=Profile.NORMAL, symbolic=False)
        trip = round_trip(case, tmp_path)
        assert (number, list(differences(trip)), computes_the_same(trip)) == (number, [], True)
