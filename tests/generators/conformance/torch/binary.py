"""Operators of two and three operands, and of tensors and Python numbers."""

from __future__ import annotations

from conformance import Table
from generators.graph import Attrs

ALPHA: Attrs = {"alpha": 1}


RAISED = (RuntimeError,)
REFUSED: Table = [
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
]

STRICTER: Table = [
    ("add_scalar", "uint8[2]", {"other": -3}, "uint8 cannot hold -3"),
    ("eq_scalar", "uint8[2]", {"other": -1}, "uint8 cannot hold -1"),
    ("mul_scalar", "float16[2]", {"other": 1e6}, "too large for float16"),
    ("addcmul", "int32[2] int32[2] int32[2]", {"value": 2.5}, "value is an integer for int32"),
    ("where", "uint8[2] float32[2] float32[2]", {}, "the condition must be bool, not uint8"),
]

RESULTS: Table = [
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
]
