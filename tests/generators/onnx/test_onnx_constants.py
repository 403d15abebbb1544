"""How a file has inputs that are attributes of a row, and outputs that no case reads."""

from __future__ import annotations

import numpy as np
import pytest

from generators.graph import Attr, Form, Graph, Input, Node, Role, TensorType, Value
from generators.onnx.computed import computed
from generators.onnx.model import OnnxModel
from generators.onnx.rows import ROWS
from generators.onnx.source import render


def file_of(row: str, operand: str, opset: int, form: Form = Form.PLAIN, **given: Attr) -> OnnxModel:
    """The file of one call."""
    type, op = TensorType.parse(operand), ROWS[row]
    attrs = {**op.defaults, **given}
    results = tuple(Value(f"v{at}", each) for at, each in enumerate(op.results((type,), attrs)))
    graph = Graph(
        (Input(Value("x0", type), Role.INPUT),),
        (Node(row, ("x0",), attrs, results, form),),
        ("v0",),
        "onnx",
        opset=opset,
    )
    return render(graph, {"x0": np.zeros(type.sizes, type.dtype.numpy)}).model


@pytest.mark.parametrize(("dtype", "element"), [("int32", "INT32"), ("int64", "INT64")])
def test_a_constant_has_the_dtype_that_was_drawn(dtype: str, element: str) -> None:
    model = file_of("Slice-13", "float32[4]", 13, Tind=dtype, starts=(1,), ends=(3,))
    assert {name: each.element for name, each in model.initializers.items()} == {
        "v0_starts": element,
        "v0_ends": element,
    }
    assert model.nodes[0].attributes == ()


def test_a_condition_in_a_branch_is_not_the_one_of_the_branch() -> None:
    model = file_of("Compress-11", "float32[2]", 13, Form.BRANCH, condition=(True, False))
    assert [item.name for item in model.inputs] == ["x0", "v0_chosen"]
    assert list(model.initializers) == ["v0_condition"]


@pytest.mark.parametrize("form", [Form.PLAIN, Form.BRANCH, Form.LOCAL])
def test_an_output_that_no_case_reads_has_a_name_if_it_must(form: Form) -> None:
    model = file_of("Unique-11", "int64[2]", 13, form, outputs=(False, False, True, False))
    nodes = {node.op: node for node in model.nodes}
    match form:
        case Form.PLAIN:
            assert nodes["Unique"].outputs == ("v0_Y", "", "v0")
        case Form.BRANCH:
            assert nodes["If"].outputs == ("v0",)
        case _:
            assert model.functions[0].nodes[0].outputs == ("v0_Y", "", "v0")


def test_the_end_of_a_dimension_is_no_sum_with_a_size() -> None:
    nodes = computed("ends", np.array([5, 2**63 - 1, -(2**63)]), "x", TensorType.parse("float32[4]"), 13)
    constants = [node.attributes[0].tensor.array.tolist() for node in nodes if node.op == "Constant"]
    assert constants == [[0], [1], [2**63 - 1], [-(2**63)]]  # where to gather, what to add, and the two ends
    assert nodes[-1].inputs == ("ends_0", "ends_1", "ends_2")
