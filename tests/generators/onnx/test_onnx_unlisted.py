"""Nodes of files that no row has: as data in a case, and as the same nodes in a file again."""

from __future__ import annotations

import re
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from generators import case_file
from generators.builder import Builder
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Attr, Case, Graph, Input, Invalid, Node, TensorType, Value
from generators.onnx import model, unlisted
from generators.onnx.dialect import DIALECT
from generators.onnx.model import Attribute, Body, Tensor
from generators.onnx.rows import OPS, UNLISTED, node_at, rows_at
from generators.onnx.source import render
from generators.table import TABLE

BOXES, SCORES, ONE = (TensorType.parse(text) for text in ("float32[1,6,4]", "float32[1,1,6]", "int64[1]"))
SUPPRESSION = model.Node(
    "NonMaxSuppression", ("boxes", "scores", "", "limit"), ("picked",), (Attribute("center_point_box", 1),), "nms"
)
PICKED = {"boxes": BOXES, "scores": SCORES, "limit": ONE, "picked": TensorType.parse("int64[2,3]")}

WEIGHT = Tensor("FLOAT", (1,), np.array([0.5], np.float32).tobytes())
BODY = Body(
    (
        model.Node("Mul", ("last", "factor"), ("scaled",)),
        model.Node("Add", ("scaled", "step"), ("next",)),
        model.Node("Identity", ("on",), ("again",)),
    ),
    (model.Value("again", "BOOL", ()), model.Value("next", "FLOAT", (2,)), model.Value("scaled", None, None)),
    (model.Value("i", "INT64", ()), model.Value("on", "BOOL", ()), model.Value("last", "FLOAT", None)),
    {"factor": WEIGHT},
)
LOOP = model.Node("Loop", ("times", "", "start"), ("end", "all"), (Attribute("body", body=BODY),))
LOOPED = {
    "times": TensorType.parse("int64[]"),
    "start": TensorType.parse("float32[2]"),
    "step": TensorType.parse("float32[2]"),
    "end": TensorType.parse("float32[2]"),
    "all": TensorType.parse("float32[3,2]"),
}


def case_with(node: model.Node, types: dict[str, TensorType], version: int = 1) -> Case:
    """A case of this node alone."""
    call = unlisted.call_of(node, version, types)
    names = {name: f"x{place}" for place, name in enumerate(dict.fromkeys(call.args))}
    results = tuple(Value(f"v{place}", value.type) for place, value in enumerate(call.results))
    inputs = tuple(Input(Value(own, types[name])) for name, own in names.items())
    named = Node(call.op, tuple(names[arg] for arg in call.args), call.attrs, results)
    tensors = {item.value.name: np.ones(item.value.type.sizes, item.value.type.dtype.numpy) for item in inputs}
    return Case(Graph(inputs, (named,), tuple(value.name for value in results), "onnx", opset=17), tensors)


def with_attr(case: Case, key: str, value: Attr) -> Case:
    (node,) = case.graph.nodes
    return replace(case, graph=replace(case.graph, nodes=(replace(node, attrs={**node.attrs, key: value}),)))


def test_a_node_is_data_that_a_person_can_read() -> None:
    (node,) = case_with(SUPPRESSION, PICKED).graph.nodes
    assert (node.op, node.title, node.args) == ("onnx_node", "NonMaxSuppression", ("x0", "x1", "x2"))
    assert dict(node.attrs) == {
        "op_type": "NonMaxSuppression",
        "domain": "",
        "version": 0,
        "node": '{"inputs":["a0","a1","","a2"],"outputs":["r0"],"attributes":[{"name":"center_point_box","value":1}]}',
        "takes": ("float32[1,6,4]", "float32[1,1,6]", "int64[1]"),
        "types": ("int64[2,3]",),
    }
    assert DIALECT.text(node) == ["v0 = NonMaxSuppression(x0, x1, None, x2, center_point_box=1)"]


@pytest.mark.parametrize(("node", "types"), [(SUPPRESSION, PICKED), (LOOP, LOOPED)], ids=["plain", "body"])
def test_a_saved_case_is_the_same_case(node: model.Node, types: dict[str, TensorType]) -> None:
    case = case_with(node, types)
    check(case)
    again = case_file.decode(*case_file.encode(case))
    assert again.graph == case.graph


def test_a_file_has_the_node_as_it_was() -> None:
    case = case_with(SUPPRESSION, PICKED)
    (node,) = render(case.graph, case.tensors).model.nodes
    assert node == model.Node("NonMaxSuppression", ("x0", "x1", "", "x2"), ("v0",), SUPPRESSION.attributes)


def test_what_a_subgraph_reads_around_the_node_is_an_operand() -> None:
    """Its own values have names that nothing else in the file has."""
    assert unlisted.captured(LOOP) == ("step",)
    case = case_with(LOOP, LOOPED)
    (call,) = case.graph.nodes
    assert call.args == ("x0", "x1", "x2")
    (node,) = render(case.graph, case.tensors).model.nodes
    (attribute,) = node.attributes
    body = attribute.body
    assert body is not None
    assert [item.name for item in body.inputs] == ["v0_b0", "v0_b1", "v0_b2"]
    assert list(body.initializers) == ["v0_b3"]
    assert [(each.op, each.inputs, each.outputs) for each in body.nodes] == [
        ("Mul", ("v0_b2", "v0_b3"), ("v0_b4",)),
        ("Add", ("v0_b4", "x2"), ("v0_b5",)),
        ("Identity", ("v0_b1",), ("v0_b6",)),
    ]
    assert [(item.name, item.element, item.shape) for item in body.outputs] == [
        ("v0_b6", "BOOL", ()),
        ("v0_b5", "FLOAT", (2,)),
        ("v0_b4", None, None),
    ]
    assert DIALECT.text(call) == ["v0, v1 = Loop(x0, None, x1, body=(Mul, Add, Identity))"]


def test_a_name_of_a_subgraph_hides_one_around_it() -> None:
    inner = Body((model.Node("Neg", ("x",), ("x_2",)),), (model.Value("x_2", None, None),))
    outer = Body(
        (model.Node("Relu", ("y",), ("x",)), model.Node("If", ("p",), ("z",), (Attribute("then_branch", body=inner),))),
        (model.Value("z", None, None),),
    )
    assert unlisted.captured(model.Node("If", ("p",), ("r",), (Attribute("then_branch", body=outer),))) == ("y", "p")


def test_the_file_has_the_version_of_another_domain() -> None:
    scaler = model.Node("Scaler", ("x",), ("y",), (Attribute("scale", (2.0,)),), "", "ai.onnx.ml")
    types = dict.fromkeys("xy", TensorType.parse("float32[3]"))
    case = case_with(scaler, types, version=3)
    check(case)
    assert render(case.graph, case.tensors).model.opsets == {"": 17, "ai.onnx.ml": 3}
    (node,) = case.graph.nodes
    other = replace(node, attrs={**node.attrs, "version": 2}, results=(Value("v1", types["y"]),))
    with pytest.raises(Invalid, match=r"the file has another version of the domain 'ai\.onnx\.ml'"):
        check(replace(case, graph=replace(case.graph, nodes=(node, other))))


def test_other_operands_are_refused() -> None:
    """No rule says what the node gives for them. Therefore reduction changes no size and no dtype before the node."""
    case = case_with(SUPPRESSION, PICKED)
    (_, *rest) = case.graph.inputs
    smaller = Input(Value("x0", BOXES.with_shape(1, 5, 4)))
    tensors = {**case.tensors, "x0": case.tensors["x0"][:, :5]}
    with pytest.raises(Invalid, match=r"takes float32\[1,6,4\], .* not float32\[1,5,4\]"):
        check(replace(case, graph=replace(case.graph, inputs=(smaller, *rest)), tensors=tensors))


def written(**changes: object) -> str:
    plain: dict[str, object] = {"inputs": ["a0", "a1", "", "a2"], "outputs": ["r0"]}
    return msgspec.json.encode(plain | changes).decode()


def body(**changes: object) -> dict[str, object]:
    value = {"name": "b1", "element": "FLOAT", "shape": [2]}
    node = {"op": "Neg", "inputs": ["b0"], "outputs": ["b1"], "attributes": [], "name": "", "domain": ""}
    plain: dict[str, object] = {"nodes": [node], "outputs": [value], "inputs": [{**value, "name": "b0"}]}
    return {"name": "body", "body": {key: value for key, value in (plain | changes).items() if value is not None}}


def nested(depth: int) -> dict[str, object]:
    found = body(nodes=[], inputs=None, outputs=[])
    for _ in range(depth - 1):
        inner = {"op": "If", "inputs": [], "outputs": [], "attributes": [found], "name": "", "domain": ""}
        found = body(nodes=[inner], inputs=None, outputs=[])
    return found


BEGUN = '{"inputs":[],"outputs":["r0"],"attributes":['
IN_A_BODY = '{"name":"b","body":{"nodes":[{"op":"If","inputs":[],"outputs":[],"attributes":['
HALF = {"element": "FLOAT", "shape": [1], "data": "AAAAPw=="}
NEG = {"op": "Neg", "inputs": ["b0"], "outputs": ["b1"], "attributes": [], "name": "", "domain": ""}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Input data was truncated"),
        ("[]", "Expected `object`, got `array`"),
        (BEGUN + IN_A_BODY * 10_000, "recursion"),
        (written() + " ", "not written as this version writes it"),
        (written(attributes=[]), "not written as this version writes it"),
        (written(more=1), "unknown field `more`"),
        (written(inputs=["a0", "a2", "", "a1"]), "are no names of operands"),
        (written(inputs=["x0", "x1", "", "x2"]), "are no names of operands"),
        (written(outputs=[]), "it has no result"),
        (written(outputs=[""]), "it has no result"),
        (written(outputs=[f"r{place}" for place in range(65)]), "or more than 64"),
        (written(attributes=[{"name": "mode; import os", "value": 1}]), "is no name of an attribute"),
        (written(attributes=[{"name": "inputs", "value": 1}]), "is no name of an attribute"),
        (written(attributes=[{"name": "a", "value": 1}, {"name": "a", "value": 1}]), "or that of two"),
        (written(attributes=[{"name": "a", "value": None}]), "got `null`"),
        (written(attributes=[{"name": "a", "tensor": {**HALF, "shape": [2]}}]), "bytes for FLOAT"),
        (written(attributes=[{"name": "a", "tensor": {**HALF, "element": "STRING"}}]), "Invalid enum value 'STRING'"),
        (written(attributes=[body(initializers={"b1": {**HALF, "shape": [9]}})]), "bytes for FLOAT"),
        (written(attributes=[body(nodes=[{**NEG, "domain": "own"}])]), "'own' has no documented operators"),
        (written(attributes=[body(nodes=[{**NEG, "op": "Neg()"}])]), "is no name of an operator"),
        (written(attributes=[body(nodes=[{**NEG, "name": "n"}])]), "a node of a subgraph has a name"),
        (written(attributes=[body(nodes=[{**NEG, "inputs": ["b7"]}])]), "reads 'b7', which nothing makes"),
        (written(attributes=[body(nodes=[{**NEG, "inputs": ["a9"]}])]), "reads 'a9', which nothing makes"),
        (written(attributes=[body(nodes=[{**NEG, "outputs": ["b0"]}])]), "'b0' is not the next name"),
        (written(attributes=[body(inputs=None)]), "reads 'b0', which nothing makes"),
        (written(attributes=[nested(9)]), "its subgraphs are deeper than 8"),
        (written(attributes=[body(nodes=[{**NEG, "inputs": [], "outputs": []}] * 2_000)]), "more than 2000 nodes"),
    ],
)
def test_what_is_no_node_is_refused(text: str, why: str) -> None:
    with pytest.raises(Invalid, match=re.escape(why)):
        unlisted.written(text)
    with pytest.raises(Invalid, match="node must be a node of ONNX"):
        check(with_attr(case_with(SUPPRESSION, PICKED), "node", text))


def test_subgraphs_may_be_so_deep() -> None:
    assert UNLISTED.schema["node"].accepts(written(attributes=[body()]))
    assert UNLISTED.schema["node"].accepts(written(attributes=[nested(8)]))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("op_type", "Non MaxSuppression"),
        ("op_type", "a.b"),
        ("domain", "own"),
        ("domain", "ai.onnx.ml"),  # without a version
        ("version", 1),
        ("version", True),
        ("types", ()),
        ("types", ("int64[2,3]", "int64[2,3]")),
        ("types", ("string[2]",)),
        ("types", ("int64[n,3]",)),
        ("takes", ("float32[1,6,4]", "float32[1,1,6]")),
        ("takes", ("float32[1,6,4]", "float32[1,1,6]", "int64[1]", "int64[1]")),
    ],
)
def test_attributes_that_do_not_fit_are_refused(key: str, value: Attr) -> None:
    with pytest.raises(Invalid):
        check(with_attr(case_with(SUPPRESSION, PICKED), key, value))


@pytest.mark.parametrize(
    ("node", "why"),
    [
        (msgspec.structs.replace(SUPPRESSION, domain="own"), "the domain 'own' has no documented operators"),
        (msgspec.structs.replace(SUPPRESSION, op="a b"), "'a b' is no name of an operator"),
    ],
)
def test_a_node_that_a_case_cannot_have_says_why(node: model.Node, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        unlisted.call_of(node, 1, PICKED)


def test_it_is_never_drawn() -> None:
    assert UNLISTED not in OPS
    assert all(UNLISTED not in rows_at(opset) for opset in (7, 17, 26))
    builder = Builder(NumpySource(0), dialect="onnx", opset=17)
    assert not builder.grow(UNLISTED)


def test_it_stays_at_its_opset() -> None:
    (node,) = case_with(SUPPRESSION, PICKED).graph.nodes
    assert node_at(node, 13) is None


@pytest.mark.parametrize(("op", "terms"), [("Reshape", 0), ("Unique", 0), ("MatMul", 24), ("Unheard", 24)])
def test_its_results_are_rounded_where_a_row_does_not_say_that_they_are_exact(op: str, terms: int) -> None:
    (node,) = case_with(msgspec.structs.replace(SUPPRESSION, op=op), PICKED).graph.nodes
    counted = TABLE["onnx_node"].terms
    assert counted is not None
    assert counted((BOXES, SCORES, ONE), node.attrs) == terms
