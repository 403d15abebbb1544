"""How a call of ONNX is written, as titles of reports say it."""

from __future__ import annotations

from typing import Any

import pytest

from generators.dialect import dialect_named
from generators.graph import Form, Node, TensorType, Value
from generators.onnx.written import written


def node(op: str, form: Form, **attrs: Any) -> Node:
    return Node(op, ("x0",), attrs, (Value("v0", TensorType.parse("float32[2]")),), form)


def test_constant_inputs_are_named() -> None:
    assert written(node("Reshape-13", Form.AS_INPUT, shape=(2,))) == "`shape` is an input"
    assert written(node("Clip-13", Form.AS_INPUT, min=0.0, max=1.0)) == "`min` and `max` are inputs"
    assert written(node("Clip-13", Form.LIST, min=0.0, max=None)) == "`min` from Constant"
    assert written(node("Clip-13", Form.CONSTANT, min=0.0, max=1.0)) == "`min` and `max` from Constant"


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (Form.PLAIN, ""),
        (Form.IDENTITY, "after Identity"),
        (Form.CAST, "after Cast and Cast back"),
        (Form.EMPTY, "empty names of inputs"),
        (Form.LOCAL, "in a local function"),
        (Form.BRANCH, "in If"),
    ],
)
def test_other_forms(form: Form, words: str) -> None:
    assert written(node("Relu-13", form)) == words


def test_a_call_of_pytorch_is_shown_by_its_source() -> None:
    assert dialect_named("torch").written(node("relu", Form.METHOD)) == ""
