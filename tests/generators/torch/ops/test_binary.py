"""Operators of two and three operands, and of tensors and Python numbers."""

from __future__ import annotations

import pytest
from conformance.torch.binary import ALPHA
from eager import types_of

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attrs, Form, Node, TensorType, Value
from generators.torch.ops import TABLE
from generators.torch.source import statements


@pytest.mark.parametrize(
    ("op", "attrs", "form", "lines"),
    [
        ("add", ALPHA, Form.PLAIN, ["v0 = torch.add(x0, x1)"]),
        ("add", {"alpha": 2}, Form.METHOD, ["v0 = x0.add(x1, alpha=2)"]),
        ("add", ALPHA, Form.INPLACE, ["v0 = x0", "v0 += x1"]),
        ("add", {"alpha": 2}, Form.INPLACE, ["v0 = x0.add_(x1, alpha=2)"]),
        ("div", {"rounding_mode": "floor"}, Form.INPLACE, ["v0 = x0.div_(x1, rounding_mode='floor')"]),
        ("floor_divide", {}, Form.OPERATOR, ["v0 = x0 // x1"]),
        ("bitwise_left_shift", {}, Form.INPLACE, ["v0 = x0", "v0 <<= x1"]),
        ("lt", {}, Form.OPERATOR, ["v0 = x0 < x1"]),
        ("lt", {}, Form.INPLACE, ["v0 = x0.lt_(x1)"]),
        ("where", {}, Form.METHOD, ["v0 = x1.where(x0, x2)"]),
        ("clamp_tensor", {}, Form.INPLACE, ["v0 = x0.clamp_(x1, x2)"]),
        ("mul_scalar", {"other": 2}, Form.INPLACE, ["v0 = x0", "v0 *= 2"]),
        ("mul_scalar", {"other": -3}, Form.INPLACE, ["v0 = x0.mul_(-3)"]),
        ("bitwise_or", {}, Form.INPLACE, ["v0 = x0.bitwise_or_(x1)"]),
        ("bitwise_or_scalar", {"other": 5}, Form.INPLACE, ["v0 = x0.bitwise_or_(5)"]),
        ("lt_scalar", {"other": 2}, Form.OPERATOR, ["v0 = 2 > x0"]),
        ("rpow_scalar", {"base": -2}, Form.PLAIN, ["v0 = (-2) ** x0"]),
        ("rdiv_scalar", {"other": 2}, Form.PLAIN, ["v0 = 2 / x0"]),
    ],
)
def test_source_texts(op: str, attrs: Attrs, form: Form, lines: list[str]) -> None:
    names = ("x0", "x1", "x2")[: TABLE[op].arity[1]]
    node = Node(op, names, attrs, (Value("v0", TensorType.parse("float32[]")),), form)
    assert statements(node, names) == lines


def test_the_operator_form_cannot_express_alpha() -> None:
    types = types_of("float32[2] float32[2]")
    assert TABLE["add"].expresses(Form.OPERATOR, types, ALPHA)
    assert not TABLE["add"].expresses(Form.OPERATOR, types, {"alpha": 2})


def test_operands_broadcast_in_every_direction() -> None:
    """The first operand is broadcast, or the second, or both, or none."""
    combinations = set()
    for index in range(200):
        b = Builder(NumpySource(3, index), Limits(max_numel=512))
        if b.grow(TABLE["mul"]):
            (x, y), out = b.graph().arg_types(b.nodes[-1]), b.nodes[-1].results[0].type
            combinations.add((x.shape == out.shape, y.shape == out.shape))
    assert len(combinations) == 4


def test_python_numbers_of_other_types_are_drawn() -> None:
    combinations = set()
    for index in range(200):
        b = Builder(NumpySource(3, index))
        if b.grow(TABLE["add_scalar"]):
            (x,) = b.graph().arg_types(b.nodes[-1])
            kind = "float" if x.dtype.is_float else "int" if x.dtype.is_integer else "bool"
            combinations.add((kind, type(b.nodes[-1].attrs["other"]).__name__))
    assert len(combinations) == 9


@pytest.mark.parametrize("name", ["bitwise_left_shift", "bitwise_right_shift"])
def test_shifts_stay_below_eight_bits(name: str) -> None:
    for index in range(60):
        b = Builder(NumpySource(3, index))
        if b.grow(TABLE[name]):
            domains = {item.value.name: str(item.domain) for item in b.inputs}
            clamps = {node.results[0].name: (node.attrs["min"], node.attrs["max"]) for node in b.nodes[:-1]}
            by = b.nodes[-1].args[1]
            assert domains.get(by) == "within 0 7" or clamps[by] == (0, 7)
