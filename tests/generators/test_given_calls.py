"""A call of a case is a part of that call of the person's model that makes its results, such as of a function."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from onnx import TensorProto, helper

from generators.given_calls import GivenCall, given_calls
from generators.graph import Case, Given, Graph, Input, Node, TensorType, Value

TYPE = TensorType.parse("float32[2]")
OPSETS = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]


def model() -> bytes:
    """x -> Neg -> a -> own.Twice -> b -> own.Twice -> c -> Twice of another domain -> d"""
    function = helper.make_function(
        "own",
        "Twice",
        ["i"],
        ["o"],
        [helper.make_node("Abs", ["i"], ["t"]), helper.make_node("Exp", ["t"], ["o"])],
        OPSETS[:1],
    )
    nodes = [
        helper.make_node("Neg", ["x"], ["a"]),
        helper.make_node("Twice", ["a"], ["b"], domain="own"),
        helper.make_node("Twice", ["b"], ["c"], domain="own"),
        helper.make_node("Twice", ["c"], ["d"], domain="another"),
    ]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("x", "d")]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:])
    file: bytes = helper.make_model(graph, functions=[function], opset_imports=OPSETS).SerializeToString()
    return file


def case() -> Case:
    """The case of the model, whose functions are its calls 1 and 2, and 3 and 4. The file has no name for v1 and v3."""
    rows = ("Neg-13", "Abs-13", "Exp-13", "Abs-13", "Exp-13", "Neg-13")
    nodes = tuple(
        Node(row, (f"v{place - 1}" if place else "x0",), {}, (Value(f"v{place}", TYPE),))
        for place, row in enumerate(rows)
    )
    graph = Graph((Input(Value("x0", TYPE)),), nodes, ("v5",), "onnx", opset=18)
    made = {"v0": "a", "v1": "t_1", "v2": "b", "v4": "c", "v5": "d"}
    return Case(graph, {"x0": np.ones(2, np.float32)}, given=Given(graph, model(), {"x0": "x"}, made=made))


def test_the_calls_of_a_function_are_one_call_of_the_model() -> None:
    assert given_calls(case()) == (
        GivenCall("Neg", (0,)),
        GivenCall("Twice", (1, 2)),
        GivenCall("Twice", (3, 4)),
        GivenCall("Neg", (5,)),
    )


def test_without_a_model_each_call_is_one() -> None:
    found = given_calls(replace(case(), given=None))
    assert found == tuple(GivenCall(op, (number,)) for number, op in enumerate(case().graph.ops))
