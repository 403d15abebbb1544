"""Several nodes of a file as one call: as data in a case, and as the same nodes in a file again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

import msgspec
import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from fuzzer.lanes.onnx.proto import to_proto
from generators import case_file
from generators.check import check
from generators.graph import Case, Graph, Input, Invalid, Node, TensorType, Value
from generators.onnx import model, unlisted
from generators.onnx.dialect import DIALECT
from generators.onnx.model import Attribute, Body
from generators.onnx.several import call_of_several
from generators.onnx.small_types import SMALL_TYPES, SmallType
from generators.onnx.source import render
from generators.table import TABLE

X, SUM = TensorType.parse("float32[2]"), TensorType.parse("float32[4]")
SEQUENCE = (
    model.Node("SequenceConstruct", ("x", "x"), ("s",), (), "build"),
    model.Node("ConcatFromSequence", ("s",), ("y",), (Attribute("axis", 0),)),
)
FLOAT8 = SMALL_TYPES["FLOAT8E4M3FN"]
TO_FLOAT8 = (model.Node("Cast", ("x",), ("q",), (Attribute("to", FLOAT8.number),)),)
MOVED = (model.Node("Transpose", ("q",), ("t",)),)


def case_with(
    nodes: tuple[model.Node, ...],
    wanted: tuple[str, ...],
    types: dict[str, TensorType],
    small: Mapping[str, SmallType] = MappingProxyType({}),
) -> Case:
    """A case of these nodes alone. Its numbers are 1, 2, ..."""
    call = call_of_several(nodes, wanted, {}, types, small)
    names = {name: f"x{place}" for place, name in enumerate(call.args)}
    results = tuple(Value(f"v{place}", value.type) for place, value in enumerate(call.results))
    inputs = tuple(Input(Value(own, types[name])) for name, own in names.items())
    named = Node(call.op, tuple(names[arg] for arg in call.args), call.attrs, results)
    tensors = {
        item.value.name: np.arange(1, 1 + item.value.type.numel, dtype=item.value.type.dtype.numpy).reshape(
            item.value.type.sizes
        )
        for item in inputs
    }
    return Case(Graph(inputs, (named,), tuple(value.name for value in results), "onnx", opset=19), tensors)


def test_a_file_has_the_nodes_as_they_were() -> None:
    case = case_with(SEQUENCE, ("y",), {"x": X, "y": SUM})
    check(case)
    assert render(case.graph, case.tensors).model.nodes == (
        model.Node("SequenceConstruct", ("x0", "x0"), ("v0_b0",)),
        model.Node("ConcatFromSequence", ("v0_b0",), ("v0",), (Attribute("axis", 0),)),
    )
    (call,) = case.graph.nodes
    assert call.title == "SequenceConstruct"
    assert DIALECT.text(call) == ["v0 = SequenceConstruct(x0, nodes=(SequenceConstruct, ConcatFromSequence))"]
    assert case_file.decode(*case_file.encode(case)).graph == case.graph


def test_a_file_with_the_nodes_runs() -> None:
    case = case_with(SEQUENCE, ("y",), {"x": X, "y": SUM})
    (y,) = ReferenceEvaluator(to_proto(render(case.graph, case.tensors).model)).run(None, case.inputs)
    assert y.tolist() == [1, 2, 1, 2]


def test_what_is_of_a_small_type_is_cast_from_and_to_what_a_case_holds() -> None:
    """The result of a Cast to float8 is float32 in the case, and so is what a Transpose of float8 takes and gives."""
    types = {"x": X, "q": X, "t": X}
    made = case_with(TO_FLOAT8, ("q",), types, {"q": FLOAT8})
    assert render(made.graph, made.tensors).model.nodes == (
        model.Node("Cast", ("x0",), ("v0_b0",), (Attribute("to", 17),)),
        model.Node("Cast", ("v0_b0",), ("v0",), (Attribute("to", 1),)),
    )
    moved = case_with(MOVED, ("t",), types, {"q": FLOAT8, "t": FLOAT8})
    assert render(moved.graph, moved.tensors).model.nodes == (
        model.Node("Cast", ("x0",), ("v0_b0",), (Attribute("to", 17),)),
        model.Node("Transpose", ("v0_b0",), ("v0_b1",)),
        model.Node("Cast", ("v0_b1",), ("v0",), (Attribute("to", 1),)),
    )
    check(made)
    check(moved)


def test_a_value_that_others_read_and_the_nodes_too_is_cast_last() -> None:
    types = {"x": X, "q": X, "t": X}
    case = case_with((*TO_FLOAT8, *MOVED), ("q", "t"), types, {"q": FLOAT8, "t": FLOAT8})
    assert [(node.op, node.inputs, node.outputs) for node in render(case.graph, case.tensors).model.nodes] == [
        ("Cast", ("x0",), ("v0_b0",)),
        ("Transpose", ("v0_b0",), ("v0_b1",)),
        ("Cast", ("v0_b0",), ("v0",)),
        ("Cast", ("v0_b1",), ("v1",)),
    ]


def test_they_round_where_one_of_them_does() -> None:
    row = TABLE[unlisted.NAME]
    assert row.terms is not None
    kept = (*MOVED, model.Node("Concat", ("t",), ("p",), (Attribute("axis", 0),)))
    assert row.terms((X,), call_of_several(kept, ("p",), {}, {"q": X, "p": X}).attrs) == 0
    rounded = (*MOVED, model.Node("Softmax", ("t",), ("p",)))
    assert row.terms((X,), call_of_several(rounded, ("p",), {}, {"q": X, "p": X}).attrs) == 2


NODE = model.Node("Neg", ("a0",), ("b0",))
RETURNED = (model.Value("b0", "FLOAT", (2,)),)


@pytest.mark.parametrize(
    ("inputs", "outputs", "body", "why"),
    [
        (("a0",), ("r0",), Body((NODE,), RETURNED), "several nodes have inputs or attributes of one node"),
        ((), ("r0",), Body((NODE,), RETURNED, (model.Value("b0", None, None),)), "is not the next name of a subgraph"),
        ((), ("", "r0"), Body((NODE,), RETURNED), "several nodes leave out a result"),
        ((), ("r0", "r1"), Body((NODE,), RETURNED), "several nodes have other results than their subgraph"),
        ((), ("r0",), Body((NODE,), (model.Value("a0", None, None),)), "a result is that of no node, or is twice"),
        ((), ("r0", "r1"), Body((NODE,), RETURNED * 2), "a result is that of no node, or is twice"),
    ],
)
def test_what_is_no_call_of_several_nodes_is_refused(
    inputs: tuple[str, ...], outputs: tuple[str, ...], body: Body, why: str
) -> None:
    text = msgspec.json.encode(unlisted.Written(inputs, outputs, (Attribute(unlisted.NODES, body=body),))).decode()
    with pytest.raises(Invalid, match=re.escape(why)):
        unlisted.written(text)
