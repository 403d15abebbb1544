"""How a call of ONNX is written, as titles of reports say it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from generators.dialect import dialect_named
from generators.graph import Form, Node, TensorType, Value
from generators.onnx.operator import NodeForm
from generators.onnx.rows import ROWS
from generators.onnx.schema import schemas
from generators.onnx.written import INPUTS, result, text, written


def node(op: str, form: Form, **attrs: Any) -> Node:
    return Node(op, ("x0",), attrs, (Value("v0", TensorType.parse("float32[2]")),), form)


def test_constant_inputs_are_named() -> None:
    assert written(node("Reshape-13", Form.AS_INPUT, shape=(2,))) == "`shape` is an input"
    assert written(node("Clip-13", Form.AS_INPUT, min=0.0, max=1.0)) == "`min` and `max` are inputs"
    assert written(node("Clip-13", Form.LIST, min=0.0, max=None)) == "`min` from Constant"
    assert written(node("Clip-13", Form.CONSTANT, min=0.0, max=1.0)) == "`min` and `max` from Constant"


def test_a_constant_input_has_the_name_that_it_has_in_onnx() -> None:
    assert written(node("SequenceEmpty-11", Form.CONSTANT, at=0)) == "`position` of SequenceAt from Constant"
    named = {name for row in ROWS.values() if isinstance(row.source, NodeForm) for name in own_names(row.source)}
    assert named == INPUTS.keys()


def test_a_call_shows_its_operands_as_a_file_has_them() -> None:
    left_out = {"inputs": (True, False, True, False), "outputs": (True, False), "num_heads": 1}
    call = replace(node("MatMulInteger-10", Form.PLAIN, **left_out), args=("x0", "x1"))
    assert text(call) == ['v0 = MatMulInteger(x0, "", x1, num_heads=1)']
    assert text(node("Relu-13", Form.PLAIN)) == ["v0 = Relu(x0)"]


@pytest.mark.parametrize(
    ("op", "outputs", "names"),
    [
        ("Dropout-13", (True, True), ["", "mask"]),
        ("Dropout-13", (False, True), ["mask"]),
        ("TopK-11", None, ["", "Indices", ""]),
    ],
)
def test_a_result_has_its_name_where_it_is_not_the_first(
    op: str, outputs: tuple[bool, ...] | None, names: list[str]
) -> None:
    call = node(op, Form.PLAIN, **({"outputs": outputs} if outputs else {}))
    assert [result(call, place) for place in range(len(names))] == names
    assert dialect_named("torch").result(node("relu", Form.PLAIN), 0) == ""


def own_names(form: NodeForm) -> set[str]:
    """The constants of a row that the operator's own schema does not have."""
    versions = schemas()[form.schema.name]
    return {name for name in form.constants if not any(each.has_input(name) for each in versions)}


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
