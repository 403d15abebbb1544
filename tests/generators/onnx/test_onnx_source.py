"""How a graph of ONNX becomes a file: each form of a call, roles of tensors, outputs, and what a check refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest
from graphs_by_hand import case_of

from generators.check import check
from generators.graph import Case, DType, Form, Graph, Input, Invalid, Node, Role, TensorType, Value
from generators.onnx.rows import at_opset
from generators.onnx.schema import OLDEST, newest_opset
from generators.onnx.source import IR_VERSION, render

F32 = DType.FLOAT32
X = Value("x0", TensorType(F32, (2, 3)))
Y = Value("v0", TensorType(F32, (3, 2)))


def reshaped(form: Form, opset: int = 17, op: str = "Reshape-14", **attrs: object) -> Case:
    node = Node(op, ("x0",), {"shape": (3, -1), "allowzero": None, **attrs}, (Y,), form)
    graph = Graph((Input(X),), (node,), ("v0",), "onnx", (), opset)
    return Case(graph, {"x0": np.zeros((2, 3), np.float32)})


@pytest.mark.parametrize(
    ("form", "ops", "inputs", "initializers"),
    [
        (Form.PLAIN, ["Reshape"], ["x0"], ["v0_shape"]),
        (Form.CONSTANT, ["Constant", "Reshape"], ["x0"], []),
        (Form.LIST, ["Constant", "Reshape"], ["x0"], []),
        (Form.AS_INPUT, ["Reshape"], ["x0", "v0_shape"], []),
        (Form.IDENTITY, ["Identity", "Reshape"], ["x0"], ["v0_shape"]),
        (Form.CAST, ["Cast", "Cast", "Reshape"], ["x0"], ["v0_shape"]),
        (Form.LOCAL, ["Local"], ["x0"], ["v0_shape"]),
    ],
)
def test_each_form_writes_the_constant_input_in_its_own_way(
    form: Form, ops: list[str], inputs: list[str], initializers: list[str]
) -> None:
    case = reshaped(form)
    check(case)
    file = render(case.graph, case.tensors)
    assert [node.op for node in file.model.nodes] == ops
    assert [item.name for item in file.model.inputs] == list(file.inputs) == inputs
    assert list(file.model.initializers) == initializers
    if form is Form.AS_INPUT:
        assert file.inputs["v0_shape"].tolist() == [3, -1]


def test_a_computed_constant_comes_from_the_shape_of_the_first_operand() -> None:
    file = render(reshaped(Form.COMPUTED).graph, reshaped(Form.COMPUTED).tensors)
    assert next(node.op for node in file.model.nodes) == "Shape"
    assert [node.op for node in file.model.nodes][-2:] == ["Concat", "Reshape"]
    assert file.model.initializers == {}


def test_a_list_is_a_tensor_where_the_opset_has_no_lists() -> None:
    case = reshaped(Form.LIST, 11, "Reshape-5")
    case = replace(case, graph=replace(case.graph, nodes=(replace(case.graph.nodes[0], attrs={"shape": (3, -1)}),)))
    check(case)
    (constant, _) = render(case.graph, case.tensors).model.nodes
    assert [each.name for each in constant.attributes] == ["value"]


def test_a_branch_has_the_call_in_both_branches() -> None:
    case = reshaped(Form.BRANCH)
    file = render(case.graph, case.tensors)
    (node,) = file.model.nodes
    assert (node.op, [each.name for each in node.attributes]) == ("If", ["then_branch", "else_branch"])
    assert [inner.op for each in node.attributes if each.body for inner in each.body.nodes] == ["Reshape", "Reshape"]


def test_parameters_are_initializers_and_buffers_are_constants() -> None:
    weight = Input(Value("w0", TensorType(F32, (3,))), Role.PARAM)
    buffer = Input(Value("b0", TensorType(F32, (3,))), Role.BUFFER)
    nodes = (
        Node("Add-14", ("x0", "w0"), {}, (Value("v0", X.type),)),
        Node("Add-14", ("v0", "b0"), {}, (Value("v1", X.type),)),
    )
    graph = Graph((Input(X), weight, buffer), nodes, ("v1",), "onnx", (), 17)
    tensors = {"x0": np.zeros((2, 3), np.float32), "w0": np.ones(3, np.float32), "b0": np.ones(3, np.float32)}
    check(Case(graph, tensors))
    file = render(graph, tensors)
    assert list(file.model.initializers) == ["w0"]
    assert next((node.op, node.outputs) for node in file.model.nodes) == ("Constant", ("b0",))


def test_an_output_that_is_an_input_or_a_second_output_is_the_result_of_an_identity() -> None:
    node = Node("Relu-14", ("x0",), {}, (Value("v0", X.type),))
    graph = Graph((Input(X),), (node,), ("v0", "x0", "v0"), "onnx", (), 17)
    file = render(graph, {"x0": np.zeros((2, 3), np.float32)})
    assert [item.name for item in file.model.outputs] == ["v0", "y1_out", "y2_out"]
    assert [node.op for node in file.model.nodes] == ["Relu", "Identity", "Identity"]


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (reshaped(Form.PLAIN, 12), "nodes[0]: Reshape-14 is not in force at opset 12"),
        (reshaped(Form.PLAIN, 0), "opset: 0 is not within 1 to 28"),
        (reshaped(Form.PLAIN, 99), "opset: 99 is not within 1 to 28"),
        (reshaped(Form.INPLACE), "nodes[0] (Reshape-14): has no inplace form"),
        (reshaped(Form.PLAIN, op="Reshape-1"), "nodes[0]: 'Reshape-1' is not in the operator table"),
        (reshaped(Form.PLAIN, shape=(5, -1)), "nodes[0] (Reshape-14): "),
        (reshaped(Form.PLAIN, hook=1), "nodes[0] (Reshape-14): takes attributes"),
    ],
)
def test_a_graph_that_is_no_file_is_refused(case: Case, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        check(case)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize("opset", range(OLDEST, newest_opset() + 1))
def test_a_file_has_the_version_of_the_format_that_its_opset_needs(opset: int) -> None:
    needed = onnx.helper.find_min_ir_version_for([onnx.helper.make_opsetid("", opset)])
    case = case_of({"x0": "float32[1]"}, [("v0", at_opset("Neg", opset).name, "x0")], "v0", opset=opset)
    assert render(case.graph, case.tensors).model.ir_version == max(needed, IR_VERSION)
