"""An ONNX file as data: what reports would write as code is checked."""

from __future__ import annotations

import msgspec
import pytest

from generators.graph import Invalid
from generators.onnx import model as onnx_model
from generators.onnx.model import Attribute, Node, OnnxModel, Tensor


def text_with(attribute: str) -> bytes:
    node = Node("Relu", ("x",), ("y",), (Attribute(attribute, 1),))
    return onnx_model.encode(OnnxModel(9, {"": 18}, (), (), (node,), {}))


@pytest.mark.parametrize("name", ["axis", "value_ints", "_x"])
def test_names_of_attributes_are_read(name: str) -> None:
    assert onnx_model.decode(text_with(name), "onnx.json").nodes[0].attributes[0].name == name


@pytest.mark.parametrize("name", ["", "a b", "a=1, b", "x=__import__('os').system('id'), y", "for", "a\n", "1"])
def test_a_name_that_would_be_code_is_refused(name: str) -> None:
    """Scripts have it as the name of an argument: helper.make_node(..., axis=1)."""
    with pytest.raises(Invalid, match="is no name of an attribute"):
        onnx_model.decode(text_with(name), "onnx.json")


def test_a_deep_document_is_refused() -> None:
    text = msgspec.json.encode({"ir_version": 9}).replace(b"9", b"[" * 5000)
    with pytest.raises(Invalid, match=r"onnx\.json: "):
        onnx_model.decode(text, "onnx.json")


@pytest.mark.parametrize(
    ("shape", "data"), [((1,) * 10_000, b"1"), ((-1, -1), b"1"), ((0, 1 << 63), b""), ((2,), b"1"), ((1 << 62, 4), b"")]
)
def test_a_tensor_that_is_no_array_is_refused(shape: tuple[int, ...], data: bytes) -> None:
    text = onnx_model.encode(OnnxModel(9, {"": 18}, (), (), (), {"c": Tensor("INT8", shape, data)}))
    with pytest.raises(Invalid, match="bytes for INT8"):
        onnx_model.decode(text, "onnx.json")


def test_a_tensor_without_elements_is_read() -> None:
    text = onnx_model.encode(OnnxModel(9, {"": 18}, (), (), (), {"c": Tensor("FLOAT", (0, 2), b"")}))
    assert onnx_model.decode(text, "onnx.json").initializers["c"].array.shape == (0, 2)
