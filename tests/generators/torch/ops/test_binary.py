"""Operators of two and three operands, and of tensors and Python numbers."""

from __future__ import annotations

import pytest
from eager import in_torch, inferred, types_of
from form_comparison import compare_forms
from random_calls import compare_calls, refused_by_both

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attrs, Form, Invalid, Node, TensorType, Value
from generators.torch.ops import TABLE, Op, binary, scalar
from generators.torch.source import statements

EACH_ROW = pytest.mark.parametrize("op", binary.OPS, ids=lambda op: op.name)
STRICTER = {
    "add": "numbers that the dtype cannot hold",
    "sub": "numbers that the dtype cannot hold",
    "rsub": "numbers that the dtype cannot hold",
    "addcmul": "PyTorch truncates a float value for integers",
    "addcdiv": "numbers that the dtype cannot hold",
    "where": "uint8 as a condition is deprecated",
} | {op.name: "numbers that the dtype cannot hold, shifts by more bits than it has" for op in scalar.OPS}
ALPHA: Attrs = {"alpha": 1}


@EACH_ROW
@pytest.mark.exhaustive
def test_random_calls_are_accepted_and_refused_as_by_pytorch(op: Op) -> None:
    assert compare_calls(op, 100).keys() <= {
        "accepted",
        "refused",
        *(["stricter"] if op.name in STRICTER else []),
    }


@EACH_ROW
@pytest.mark.exhaustive
def test_every_form_gives_the_results_of_the_plain_form(op: Op) -> None:
    compared, wrong = compare_forms(op, 40)
    assert not wrong
    assert compared.keys() == op.forms.keys()


@pytest.mark.parametrize(
    ("op", "types", "attrs", "message"),
    [
        ("add", "float32[2,3] float32[2]", ALPHA, "do not broadcast"),
        ("mul", "float32[2,1,3] float32[4,2]", {}, "do not broadcast"),
        ("add", "int32[2] int32[2]", {"alpha": 0.5}, "alpha is an integer for int32"),
        ("add", "float32[2] float32[2]", {"alpha": False}, "alpha is a boolean for boolean results only"),
        ("sub", "bool[2] bool[2]", ALPHA, "is not defined for bool"),
        ("sub", "float32[2] bool[2]", ALPHA, "is not defined for bool"),
        ("rsub_scalar", "bool[2]", {"other": 1}, "is not defined for bool"),
        ("sub_scalar", "float32[2]", {"other": True}, "is not defined for bool"),
        ("div", "bool[2] bool[2]", {"rounding_mode": "floor"}, "is not defined for bool"),
        ("div_scalar", "int32[2]", {"other": 0, "rounding_mode": "trunc"}, "integers are not divided by 0"),
        ("remainder_scalar", "int32[2]", {"other": 0}, "integers are not divided by 0"),
        ("pow", "bool[2] bool[2]", {}, "is not defined for bool"),
        ("pow_scalar", "int32[2]", {"exponent": -1}, "integers have no negative powers"),
        ("rpow_scalar", "bool[2]", {"base": True}, "is not defined for bool"),
        ("hypot", "int32[2] int32[2]", {}, "is not defined for int32"),
        ("logaddexp", "int64[2] bool[2]", {}, "is not defined for int64"),
        ("heaviside", "float32[2] float64[2]", {}, "must share one dtype"),
        ("gcd", "int64[2] float32[2]", {}, "is not defined for float32"),
        ("ldexp", "float32[2] bool[2]", {}, "to the power of a bool"),
        ("bitwise_and", "int32[2] float32[2]", {}, "is not defined for float32"),
        ("bitwise_and_scalar", "int32[2]", {"other": 0.5}, "is not defined for float32"),
        ("bitwise_left_shift", "bool[2] bool[2]", {}, "is not defined for bool"),
        ("isclose", "int64[2] int32[2]", {"rtol": 0.0, "atol": 0.0, "equal_nan": False}, "must share one dtype"),
        ("isclose", "int64[2] int64[2]", {"rtol": -0.5, "atol": 0.0, "equal_nan": False}, "are not negative"),
        ("clamp_tensor", "bool[2] bool[2] bool[2]", {}, "is not defined for bool"),
        ("clamp_min_scalar", "int8[2]", {"min": 300}, "int8 cannot hold 300"),
        ("lerp", "float32[2] float64[2] float32[2]", {}, "must share one dtype"),
        ("lerp", "float32[2] float32[2] float64[1]", {}, "the weight must be of the operands' dtype"),
        ("lerp_scalar", "int64[2] int64[2]", {"weight": 0.5}, "is not defined for int64"),
        ("addcmul", "bool[2] bool[2] bool[2]", {"value": 1}, "is not defined for bool"),
        ("addcdiv", "float32[2] int32[2] int32[2]", {"value": 1}, "does not divide integers"),
        ("where", "int64[2] float32[2] float32[2]", {}, "the condition must be bool, not int64"),
        ("where", "bool[2] float32[3] float32[3]", {}, "do not broadcast"),
        ("where_scalar", "bool[2] uint8[2]", {"other": 300}, "uint8 cannot hold 300"),
    ],
)
def test_pytorch_and_inference_refuse(op: str, types: str, attrs: Attrs, message: str) -> None:
    refused_by_both(op, types_of(types), attrs, message)


@pytest.mark.parametrize(
    ("op", "types", "attrs", "result"),
    [
        ("add", "bool[2] bool[]", {"alpha": True}, "bool[2]"),
        ("add", "float16[2] float64[]", {"alpha": 0.5}, "float16[2]"),
        ("add", "int8[2,1] uint8[3]", ALPHA, "int16[2,3]"),
        ("div", "int8[2] int8[2]", {"rounding_mode": None}, "float32[2]"),
        ("div", "int8[2] int8[2]", {"rounding_mode": "floor"}, "int8[2]"),
        ("float_power", "bool[2] int8[2]", {}, "float64[2]"),
        ("pow", "int8[] float16[]", {}, "float16[]"),
        ("maximum", "bool[0] bool[1]", {}, "bool[0]"),
        ("copysign", "int64[2] bool[2]", {}, "float32[2]"),
        ("ldexp", "int32[2] float16[2]", {}, "float16[2]"),
        ("lerp", "float32[] float32[] float64[]", {}, "float64[]"),
        ("lerp", "float32[2] float32[2] int8[]", {}, "float32[2]"),
        ("addcmul", "float16[] float32[] float16[2]", {"value": 1}, "float16[2]"),
        ("clamp_tensor", "bool[2] bool[2]", {}, "bool[2]"),
        ("clamp_tensor", "float16[2,1] float32[3] float64[4,1,1]", {}, "float64[4,2,3]"),
        ("add_scalar", "int64[2]", {"other": 0.5}, "float32[2]"),
        ("add_scalar", "float64[2]", {"other": 1}, "float64[2]"),
        ("add_scalar", "bool[2]", {"other": 1}, "int64[2]"),
        ("add_scalar", "bool[2]", {"other": True}, "bool[2]"),
        ("rdiv_scalar", "uint8[2]", {"other": -3}, "float32[2]"),
        ("lt_scalar", "int8[2]", {"other": 0.5}, "bool[2]"),
        ("bitwise_left_shift_scalar", "bool[2]", {"other": 3}, "int64[2]"),
        ("where", "bool[] float32[2] float64[]", {}, "float32[2]"),
        ("where_scalar", "bool[2,1] int8[3]", {"other": 0.5}, "float32[2,3]"),
        ("where_numbers", "bool[2]", {"input": True, "other": 1.5}, "float32[2]"),
        ("where_numbers", "bool[2]", {"input": True, "other": False}, "bool[2]"),
    ],
)
def test_corners(op: str, types: str, attrs: Attrs, result: str) -> None:
    assert inferred(op, types_of(types), attrs) == result == in_torch(op, types_of(types), attrs)


@pytest.mark.parametrize(
    ("op", "types", "attrs", "message"),
    [
        ("bitwise_left_shift_scalar", "int8[2]", {"other": 8}, "does not shift int8 so far"),
        ("add_scalar", "uint8[2]", {"other": -3}, "uint8 cannot hold -3"),
        ("eq_scalar", "uint8[2]", {"other": -1}, "uint8 cannot hold -1"),
        ("mul_scalar", "float16[2]", {"other": 1e6}, "too large for float16"),
        ("addcmul", "int32[2] int32[2] int32[2]", {"value": 2.5}, "value is an integer for int32"),
        ("where", "uint8[2] float32[2] float32[2]", {}, "the condition must be bool, not uint8"),
    ],
)
def test_inference_refuses_what_pytorch_accepts(op: str, types: str, attrs: Attrs, message: str) -> None:
    in_torch(op, types_of(types), attrs)
    with pytest.raises(Invalid, match=message):
        inferred(op, types_of(types), attrs)


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
