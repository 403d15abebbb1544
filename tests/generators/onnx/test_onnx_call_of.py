"""A node of a file as a call of a row: the row of its version, and what no row has."""

from __future__ import annotations

import numpy as np
import pytest

from generators.graph import Array, Attrs, Form, Invalid, TensorType
from generators.onnx.call_of import Known, Surroundings, call_of, row_of
from generators.onnx.model import Attribute, Node

X = {"x": TensorType.parse("float32[4,3]")}


def called(node: Node, opset: int) -> tuple[str, Attrs]:
    call = call_of(node, Surroundings(opset, X, {}, {name for name in node.outputs if name}))
    return call.op, {key: value for key, value in call.attrs.items() if value is not None}


def test_a_node_is_a_call_of_the_version_in_force() -> None:
    softmax = Node("Softmax", ("x",), ("y",), (Attribute("axis", 1),))
    assert called(softmax, 12) == ("Softmax-11", {"axis": 1})
    assert called(softmax, 13) == ("Softmax-13", {"axis": 1})
    assert row_of(Node("FastGelu", ("x",), ("y",), (), "", "com.microsoft"), 17).name == "FastGelu-1"


@pytest.mark.parametrize(
    ("op", "opset"),
    [("SplitToSequence", 17), ("SequenceLength", 17), ("OptionalGetElement", 18), ("OptionalHasElement", 18)],
)
def test_a_node_is_no_call_of_a_row_that_is_several_nodes(op: str, opset: int) -> None:
    """SplitToSequence alone returns a sequence, and the row of its name a tensor of it."""
    with pytest.raises(Invalid, match="a row of its name is several nodes, and these are not read back"):
        called(Node(op, ("x",), ("y",)), opset)


@pytest.mark.parametrize("limit", [np.array([3]), np.array(3)], ids=["list", "scalar"])
def test_a_single_number_may_be_a_list(limit: Array) -> None:
    types = {"b": TensorType.parse("float32[1,4,4]"), "s": TensorType.parse("float32[1,1,4]")}
    node = Node("NonMaxSuppression", ("b", "s", "limit", "overlap"), ("y",))
    known = {"limit": Known(limit), "overlap": Known(np.array([1.0], np.float32))}
    call = call_of(node, Surroundings(17, types, known, {"y"}))
    assert call.attrs["max_output_boxes_per_class"] == 3
    assert str(call.results[0].type) == "int64[3,3]"


@pytest.mark.parametrize("read", [{"y", ""}, {""}], ids=["read", "unread"])
def test_a_result_whose_size_depends_on_the_data_is_left_out(read: set[str]) -> None:
    """An empty name, which stands for an input that is left out elsewhere, is no result that something reads."""
    node = Node("Unique", ("x",), ("values", "", "y"))
    call = call_of(node, Surroundings(17, X, {}, read))
    assert call.attrs["outputs"] == (False, False, True, False)
    assert [(value.name, str(value.type)) for value in call.results] == [("y", "int64[12]")]


def test_the_form_says_whether_constants_are_lists_or_tensors() -> None:
    node = Node("Slice", ("x", "starts", "ends"), ("y",))
    for form in (Form.PLAIN, Form.CONSTANT, Form.LIST, Form.COMPUTED):
        known = {name: Known(np.array([number]), form) for name, number in (("starts", 0), ("ends", 2))}
        call = call_of(node, Surroundings(17, X, known, {"y"}))
        assert (call.form, str(call.results[0].type)) == (form, "float32[2,3]")


@pytest.mark.parametrize(
    ("node", "opset", "why"),
    [
        (Node("Softmax", ("x",), ("y",)), 29, "opset 29 is not within 1 to "),
        (Node("NoSuchOperator", ("x",), ("y",)), 17, "no row of the operator table has its name"),
        (Node("FastGelu", ("x",), ("y",)), 17, "no row of the operator table has its name"),
        (Node("Softmax", ("z",), ("y",)), 17, "the type of z is unknown or not supported"),
        (Node("Softmax", (), ("y",)), 17, "its input input is missing"),
        (Node("Softmax", ("x", "x"), ("y",)), 17, "has 2 inputs"),
        (Node("Softmax", ("x",), ("y", "z")), 17, "has 2 outputs"),
        (Node("Softmax", ("x",), ("y",), (Attribute("dim", 1),)), 17, "has no attribute dim"),
        (Node("Reshape", ("x", "x"), ("y",)), 17, "shape is not known when the model is compiled"),
    ],
)
def test_what_no_row_has_is_refused_with_the_reason(node: Node, opset: int, why: str) -> None:
    with pytest.raises(Invalid) as refused:
        called(node, opset)
    assert str(refused.value).startswith(why)
