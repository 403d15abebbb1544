"""A part of a given file is a file of its own, with the functions and initializers that its nodes need."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from generators.graph import Input, Invalid, Role, TensorType, Value
from generators.onnx.cut_given import cut_given

OPSETS = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]


def value(name: str, *sizes: int | str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)


def function(name: str, *nodes: onnx.NodeProto) -> onnx.FunctionProto:
    return helper.make_function("own", name, ["a"], ["b"], list(nodes), OPSETS)


def model() -> bytes:
    """x -> MatMul(w) -> m -> Outer(Inner) -> f -> Add(k) -> s -> If(c): Neg(s) or m -> y; z = Unused(x)"""
    branches = [
        helper.make_graph([helper.make_node("Neg", ["s"], ["n"])], "then", [], [value("n", "b", 4)]),
        helper.make_graph([helper.make_node("Identity", ["m"], ["i"])], "else", [], [value("i", "b", 4)]),
    ]
    nodes = [
        helper.make_node("Constant", [], ["k"], value=numpy_helper.from_array(np.float32(2))),
        helper.make_node("MatMul", ["x", "w"], ["m"]),
        helper.make_node("Outer", ["m"], ["f"], domain="own"),
        helper.make_node("Add", ["f", "k"], ["s"]),
        helper.make_node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1]),
        helper.make_node("Unused", ["x"], ["z"], domain="own"),
    ]
    functions = [
        function("Inner", helper.make_node("Abs", ["a"], ["b"])),
        function("Outer", helper.make_node("Inner", ["a"], ["b"], domain="own")),
        function("Unused", helper.make_node("Sin", ["a"], ["b"])),
    ]
    condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    graph = helper.make_graph(
        nodes,
        "g",
        [value("x", "b", 3), condition],
        [value("y", "b", 4), value("z", "b", 3)],
        [numpy_helper.from_array(np.ones((3, 4), np.float32), "w")],
        value_info=[value("f", "b", 4), value("m", "b", 4)],
    )
    file: bytes = helper.make_model(graph, functions=functions, opset_imports=OPSETS, ir_version=9).SerializeToString()
    return file


def item(type: str = "float32[2,4]", role: Role = Role.INPUT) -> Input:
    return Input(Value("x0", TensorType.parse(type)), role)


def part(inputs: dict[str, Input], *outputs: str) -> tuple[onnx.ModelProto, tuple[str, ...]]:
    text, taken = cut_given(model(), inputs, {name: TensorType.parse("float32[2,4]") for name in outputs})
    file = onnx.load_from_string(text)
    onnx.checker.check_model(file)
    return file, taken


def summary(file: onnx.ModelProto) -> list[list[str]]:
    graph = file.graph
    return [
        [node.op_type for node in graph.node],
        [each.name for each in graph.input],
        [each.name for each in graph.initializer],
        [each.name for each in graph.output],
        [each.name for each in file.functions],
    ]


def sizes(item: onnx.ValueInfoProto) -> list[str | int]:
    return [dim.dim_param or dim.dim_value for dim in item.type.tensor_type.shape.dim]


def test_what_leads_to_an_output_is_kept_with_the_functions_that_it_calls() -> None:
    file, taken = part({"x": item("float32[2,3]"), "w": item("float32[3,4]", Role.PARAM)}, "f")
    assert summary(file) == [["MatMul", "Outer"], ["x"], ["w"], ["f"], ["Inner", "Outer"]]
    assert (taken, sizes(file.graph.input[0]), sizes(file.graph.output[0])) == ((), ["b", 3], ["b", 4])
    assert numpy_helper.to_array(file.graph.initializer[0]).tolist() == np.ones((3, 4)).tolist()


def test_a_computed_value_becomes_an_input_with_the_sizes_of_the_case() -> None:
    file, taken = part({"f": item(), "k": item("float32[]", Role.BUFFER)}, "s")
    assert summary(file) == [["Constant", "Add"], ["f"], [], ["s"], []]
    assert (taken, sizes(file.graph.input[0])) == ((), [2, 4])


def test_a_constant_value_becomes_an_initializer_without_numbers() -> None:
    inputs = {"f": item(role=Role.PARAM), "k": item("float32[]")}
    text, _ = cut_given(model(), inputs, {"s": TensorType.parse("float32[2,4]")})
    file = onnx.load_from_string(text)
    (tensor,) = file.graph.initializer
    assert (tensor.name, list(tensor.dims), tensor.data_type, tensor.raw_data) == ("f", [2, 4], TensorProto.FLOAT, b"")


def test_graphs_inside_of_nodes_read_what_is_around_them() -> None:
    file, taken = part({"s": item()}, "y")
    assert summary(file) == [["MatMul", "If"], ["s", "x", "c"], ["w"], ["y"], []]
    assert taken == ("x", "c"), "the file has the numbers of w"


def test_a_weight_whose_numbers_the_case_has_is_taken() -> None:
    whole = onnx.load_from_string(model())
    whole.graph.initializer[0].ClearField("raw_data")
    text, taken = cut_given(whole.SerializeToString(), {"s": item()}, {"y": TensorType.parse("float32[2,4]")})
    assert (summary(onnx.load_from_string(text))[2], taken) == (["w"], ("x", "w", "c"))


@pytest.mark.parametrize(
    ("inputs", "output", "why"),
    [
        ({"q": item()}, "y", "no value 'q'"),
        ({}, "q", "no value 'q'"),
        ({"f": item()}, "f", "returns its input 'f'"),
    ],
)
def test_what_is_no_part_is_refused(inputs: dict[str, Input], output: str, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        part(inputs, output)


def test_a_tensor_inside_of_a_function_stays_there() -> None:
    file, _ = part({"f": item(), "k__1": item("float32[]", Role.BUFFER)}, "s")
    assert summary(file)[1] == ["f"]
