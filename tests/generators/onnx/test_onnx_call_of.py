"""A node of a file as a call of a row: the row of its version, and what no row has."""

from __future__ import annotations

import pytest

from generators.graph import Attrs, Invalid, TensorType
from generators.onnx.call_of import Surroundings, call_of, row_of
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


@pytest.mark.parametrize(
    ("node", "opset", "why"),
    [
        (Node("Softmax", ("x",), ("y",)), 6, "opset 6 is not within 7 to "),
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
