"""A part of a case has that part of the given model which is its graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from generators.graph import Case, Given, Graph, Input, Invalid, Node, TensorType, Value
from generators.part_of_given import with_part_of_given
from generators.renumber import renumbered

TYPE = TensorType.parse("float32[2]")
ARRAY = np.ones(2, np.float32)


def node(op: str, number: int, *args: str) -> Node:
    return Node(op, args, {}, (Value(f"v{number}", TYPE),))


def graph(inputs: tuple[str, ...], nodes: tuple[Node, ...], *outputs: str) -> Graph:
    return Graph(tuple(Input(Value(name, TYPE)) for name in inputs), nodes, outputs, "onnx", opset=18)


def case() -> Case:
    """The graph does not have the Identity of the file."""
    nodes = [
        helper.make_node("Abs", ["in"], ["a"]),
        helper.make_node("Identity", ["other"], ["same"]),
        helper.make_node("Add", ["a", "same"], ["b"]),
        helper.make_node("Neg", ["b"], ["c"]),
    ]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("in", "other", "c")]
    file = helper.make_model(helper.make_graph(nodes, "g", values[:2], values[2:]), ir_version=9)
    whole = graph(("x0", "x1"), (node("Abs-13", 0, "x0"), node("Add-14", 1, "v0", "x1"), node("Neg-13", 2, "v1")), "v2")
    made = {"v0": "a", "v1": "b", "v2": "c"}
    given = Given(whole, file.SerializeToString(), {"x0": "in", "x1": "other"}, made=made)
    return Case(whole, {"x0": ARRAY, "x1": ARRAY}, given=given)


def part(inputs: tuple[str, ...], nodes: slice, *outputs: str) -> Case:
    return Case(graph(inputs, case().graph.nodes[nodes], *outputs), dict.fromkeys(inputs, ARRAY))


def file_of(found: Case) -> onnx.GraphProto:
    assert found.given is not None
    assert found.given.graph is found.graph
    return onnx.load_from_string(found.given.model).graph


def test_a_cut_value_is_an_input_of_the_model() -> None:
    found = with_part_of_given(case(), part(("v1",), slice(2, 3), "v2"))
    assert [each.op_type for each in file_of(found).node] == ["Neg"]
    assert found.given is not None
    assert (found.given.names, found.given.made) == ({"v1": "b"}, {"v2": "c"})
    named = renumbered(found).given
    assert named is not None
    assert (named.names, named.made) == ({"x0": "b"}, {"v0": "c"})


def test_what_the_model_reads_further_is_an_input_of_the_part() -> None:
    """The node of the graph reads v0 alone, and the file adds `same`, which it computes from `other`."""
    whole = case()
    nodes = (node("Abs-13", 0, "x0"), node("Relu-14", 1, "v0"), node("Neg-13", 2, "v1"))
    read = replace(whole.graph, nodes=nodes)
    assert whole.given is not None
    whole = replace(whole, graph=read, given=replace(whole.given, graph=read))
    found = with_part_of_given(whole, Case(graph(("v0",), nodes[1:], "v2"), {"v0": ARRAY}))
    assert [each.name for each in file_of(found).input] == ["a", "other"]
    assert [item.value.name for item in found.graph.inputs] == list(found.tensors) == ["v0", "x1"]


def test_the_same_graph_has_the_same_model() -> None:
    whole = case()
    again = replace(whole, graph=replace(whole.graph))
    assert again.given is None
    assert with_part_of_given(whole, again).given is whole.given


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (Case(graph(("x0",), (node("Neg-13", 0, "x0"),), "v0"), {"x0": ARRAY}), "calls that the case has not"),
        (part(("x0",), slice(0, 1), "v0", "v0"), "returns a value twice"),
        (Case(graph(("y0",), (), "y0"), {"y0": ARRAY}), "no name for y0"),
    ],
)
def test_what_is_no_part_of_the_case_is_refused(changed: Case, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        with_part_of_given(case(), changed)


def test_a_case_without_a_given_model_has_no_parts_of_it() -> None:
    with pytest.raises(Invalid, match="has no given model"):
        with_part_of_given(replace(case(), given=None), case())
