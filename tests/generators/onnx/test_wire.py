"""Messages of protobuf without the onnx package: what is read is written again, and no bytes lead to another error."""

from __future__ import annotations

import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from generators.graph import Invalid
from generators.onnx.wire import BYTES, VARINT, Field, fields, of, texts, written


def model() -> bytes:
    node = helper.make_node("Elu", ["x"], ["y"], alpha=0.5, name="é")
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 300])
    weight = numpy_helper.from_array(helper.np.ones((2,), "float64"), "w")
    graph = helper.make_graph([node], "g", [value], [helper.make_empty_tensor_value_info("y")], [weight])
    file: bytes = helper.make_model(graph, ir_version=9).SerializeToString()
    return file


def test_what_is_read_is_written_again() -> None:
    assert written(fields(model())) == model()
    (graph,) = of(7, fields(model()))
    (node,) = of(1, fields(graph.message))
    found = fields(node.message)
    assert (texts(1, found), texts(3, found), texts(4, found)) == (["x"], ["é"], ["Elu"])


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**63, 2**64 - 1])
def test_numbers_of_all_lengths(number: int) -> None:
    tensor = onnx.TensorProto(dims=[number]) if number < 2**63 else None
    text = written([Field(1, number, VARINT)])
    assert fields(text) == [Field(1, number, VARINT)]
    assert tensor is None or tensor.SerializeToString() == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"\x0a\x05ab", "a field is longer than its message"),
        (b"\x0b", "a field is written in the way 3, which ONNX has not"),
        (b"\x08\xff", "a number in it has no end"),
        (b"\x08" + b"\xff" * 20, "a number in it has no end"),
        (b"\x0d\x00", "a field is longer than its message"),
    ],
)
def test_what_is_no_message_is_refused(text: bytes, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        fields(text)


def test_a_field_of_another_kind_is_refused() -> None:
    with pytest.raises(Invalid, match="its field 3 is a number"):
        Field(3, 7, VARINT).message  # noqa: B018
    with pytest.raises(Invalid, match="its field 3 is no text"):
        Field(3, b"\xff", BYTES).text  # noqa: B018
