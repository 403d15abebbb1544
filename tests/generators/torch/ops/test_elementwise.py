"""Functions of one tensor, and casts."""

from __future__ import annotations

import pytest
import torch
from eager import in_torch, types_of

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import DRAWN, Attrs, DType, Form, Invalid, Node, Profile, TensorType, Value
from generators.torch.ops import TABLE
from generators.torch.ops.pairs import bounded, nonzero
from generators.torch.source import statements

CAST: Attrs = {"dtype": "int8", "non_blocking": False, "copy": False}


@pytest.mark.parametrize(
    ("op", "type", "attrs", "form", "line"),
    [
        ("neg", "float32[2]", {}, Form.OPERATOR, "v0 = -x0"),
        ("abs", "float32[2]", {}, Form.OPERATOR, "v0 = abs(x0)"),
        ("bitwise_not", "int8[2]", {}, Form.OPERATOR, "v0 = ~x0"),
        ("exp", "float32[2]", {}, Form.INPLACE, "v0 = x0.exp_()"),
        ("acos", "float32[2]", {}, Form.FUNCTION, "v0 = torch.arccos(x0)"),
        ("round", "int32[2]", {"decimals": 0}, Form.METHOD, "v0 = x0.round()"),
        ("round", "float32[2]", {"decimals": -1}, Form.PLAIN, "v0 = torch.round(x0, decimals=-1)"),
        ("round", "float32[2]", {"decimals": -1}, Form.INPLACE, "v0 = x0.round_(decimals=-1)"),
        ("logit", "float32[2]", {"eps": None}, Form.METHOD, "v0 = x0.logit(None)"),
        ("to", "float32[2]", CAST, Form.METHOD, "v0 = x0.char()"),
        ("to", "float32[2]", CAST, Form.FUNCTION, "v0 = x0.type(torch.int8)"),
        ("to", "float32[2]", {**CAST, "copy": True}, Form.PLAIN, "v0 = x0.to(torch.int8, copy=True)"),
        ("identity", "float32[2]", {}, Form.MODULE, "v0 = layer(x0)"),
    ],
)
def test_source_texts(op: str, type: str, attrs: Attrs, form: Form, line: str) -> None:
    node = Node(op, ("x0",), attrs, (Value("v0", TensorType.parse("float32[]")),), form)
    assert statements(node, ("x0",), "layer") == [line]
    assert TABLE[op].expresses(form, types_of(type), attrs)


def test_methods_of_casts_cannot_express_copy() -> None:
    assert not TABLE["to"].expresses(Form.METHOD, types_of("float32[2]"), {**CAST, "copy": True})


def test_casts_to_other_floats_are_casts_to_float64_in_the_reference() -> None:
    node = Node("to", ("x0",), {**CAST, "dtype": "float16"}, (Value("v0", TensorType.parse("float16[]")),), Form.METHOD)
    assert statements(node, ("x0",), float64=True) == ["v0 = x0.double()"]


def guarded(index: int, type: str, low: float, high: float, profile: Profile = Profile.NORMAL) -> tuple[Builder, Value]:
    b = Builder(NumpySource(4, index), Limits(), profile)
    return b, bounded(b, b.fresh_input(TensorType.parse(type)), low, high)


@pytest.mark.parametrize("type", ["float32[3]", "int64[3]", "uint8[3]", "bool[3]"])
def test_a_value_is_bounded_by_a_clamp_or_by_its_domain(type: str) -> None:
    for index in range(20):
        b, value = guarded(index, type, 0.5, 4.0)
        clamps = [(node.op, node.attrs["min"], node.attrs["max"]) for node in b.nodes]
        low = 0.5 if type == "float32[3]" else 1
        assert clamps in ([], [("clamp", low, 4)])
        if not clamps:
            domain = b.inputs[-1].domain
            assert (value.name, domain.low, domain.high) == ("x1", 1, 1 if type == "bool[3]" else 4)


def test_bounds_without_an_integer_are_refused_for_integers() -> None:
    with pytest.raises(Invalid, match="int64 has nothing between"):
        guarded(0, "int64[2]", 0.25, 0.75)


def test_floats_of_the_special_profile_are_not_bounded() -> None:
    b, value = guarded(0, "float32[2]", -1.0, 1.0, Profile.SPECIAL)
    assert (value.name, b.nodes) == ("x0", [])
    b, value = guarded(0, "int64[2]", -1.0, 1.0, Profile.SPECIAL)
    assert value.name != "x0"


@pytest.mark.parametrize("profile", Profile)
def test_the_smallest_integer_is_never_divided_by_minus_one(profile: Profile) -> None:
    """Neither as an input of the extreme profile nor as a computed value."""
    divisors = set()
    for index in range(200):
        b = Builder(NumpySource(6, index), Limits(max_numel=64), profile)
        b.grow(TABLE["neg"])
        if not b.grow(TABLE[b.source.choice(("div", "floor_divide", "remainder", "fmod"))]):
            continue
        dividend, divisor = b.nodes[-1].args
        inputs = {item.value.name: item for item in b.inputs}
        if divisor in inputs and not any(t.dtype.is_float for t in b.graph().arg_types(b.nodes[-1])):
            may_be_smallest = profile is Profile.EXTREME or dividend not in inputs
            divisors.add((may_be_smallest, str(inputs[divisor].domain)))
    divisors -= {(True, "within 1 1"), (False, "within 1 1")}  # domains of bool
    assert divisors == {(True, "positive"), *([(False, "nonzero")] if profile is not Profile.EXTREME else [])}


def test_the_divisor_of_a_float_may_be_negative() -> None:
    b = Builder(NumpySource(1, 0))
    x = b.fresh_input(TensorType(DType.FLOAT32, (2,)))
    nonzero(b, x, x)
    assert str(b.inputs[-1].domain) == "nonzero"


def test_rounding_to_decimals_counts_as_a_step() -> None:
    types = types_of("float32[2]")
    terms = TABLE["round"].terms
    assert terms is not None
    assert (terms(types, {"decimals": 0}), terms(types, {"decimals": 1})) == (0, 2)


def test_casts_by_name_give_the_dtype() -> None:
    for dtype in DRAWN:
        if dtype is not DType.UINT8:
            attrs = {**CAST, "dtype": dtype.value}
            assert in_torch("to", types_of("float32[2]"), attrs, Form.METHOD) == f"{dtype}[2]"
    assert torch.ones(2).byte().dtype is torch.uint8
