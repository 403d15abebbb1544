"""Functions of one number: result types, refusals, and drawn cases that both readers run."""

from __future__ import annotations

import pytest
from onnx_calls import Expected, require_inferred, require_refused, require_valid

from generators.onnx.ops.elementwise import OPERATORS

INFERRED: list[Expected] = [
    ("Log-6", "float16[2,3]", {}, "float16[2,3]"),
    ("Log-13", "bfloat16[0]", {}, "bfloat16[0]"),
    ("Neg-6", "int8[6,2]", {}, "int8[6,2]"),
    ("IsInf-10", "float64[4]", {"detect_negative": 0}, "bool[4]"),
    ("IsNaN-20", "float16[]", {}, "bool[]"),
    ("BitwiseNot-18", "uint8[2]", {}, "uint8[2]"),
    ("Identity-1", "bool[2]", {}, "bool[2]"),
]

REFUSED: list[Expected] = [
    ("Log-6", "bfloat16[2]", {}, "input cannot be bfloat16"),  # new in opset 13
    ("Acos-22", "float64[2]", {}, "input cannot be float64"),  # onnxruntime has no kernel
    ("Neg-13", "uint8[2]", {}, "X cannot be uint8"),
    ("Not-1", "float32[2]", {}, "X cannot be float32"),
    ("IsInf-10", "float32[2]", {"detect_negative": 2}, "detect_negative must be 0 or 1 or null"),
    ("Tanh-6", "float32[1] float32[1]", {}, "takes 1 to 1 operands, not 2"),
]


@pytest.mark.parametrize("expected", INFERRED)
def test_result_types(expected: Expected) -> None:
    require_inferred(expected)


@pytest.mark.parametrize("expected", REFUSED)
def test_refusals(expected: Expected) -> None:
    require_refused(expected)


@pytest.mark.slow
def test_readers_run_drawn_cases() -> None:
    require_valid(OPERATORS, 150)
