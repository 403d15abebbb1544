"""Pad: result types, refusals, and drawn cases."""

from __future__ import annotations

import pytest
from onnx_calls import Expected, require_inferred, require_refused, require_valid

from generators.onnx.ops import pad

INFERRED: list[Expected] = [
    ("Pad-2", "float32[2,3]", {"pads": (1, 0, 0, 2)}, "float32[3,5]"),
    ("Pad-11", "int8[2,3] int8[]", {"pads": (-1, 0, 0, -3), "inputs": (True, True)}, "int8[1,0]"),
    ("Pad-13", "float32[3]", {"pads": (2, 2), "mode": "reflect", "inputs": (True, False)}, "float32[7]"),
    ("Pad-18", "float32[2,3]", {"pads": (1, 1), "axes": (-2,), "inputs": (True, False)}, "float32[4,3]"),
    ("Pad-19", "float32[2]", {"pads": (5, 0), "mode": "wrap", "inputs": (True, False)}, "float32[7]"),
    ("Pad-25", "float32[0]", {"pads": (2, 1), "inputs": (True, False)}, "float32[3]"),
]

REFUSED: list[Expected] = [
    ("Pad-2", "float32[2,3]", {"pads": (1, 0)}, "2 pads do not fit 2 axes"),
    ("Pad-2", "float32[2]", {"pads": (-2, -1)}, "remove more than 2"),
    (
        "Pad-13",
        "float32[3]",
        {"pads": (3, 0), "mode": "reflect", "inputs": (True, False)},
        "too few elements",
    ),
    ("Pad-13", "float32[0]", {"pads": (1, 0), "mode": "edge", "inputs": (True, False)}, "too few elements"),
    ("Pad-18", "float32[3]", {"pads": (1, 0), "mode": "wrap", "inputs": (True, False)}, "does not wrap"),
    ("Pad-18", "float32[3]", {"pads": (1, 0), "axes": (1,), "inputs": (True, False)}, "out of range"),
    ("Pad-11", "float32[3] float64[]", {"pads": (1, 0), "inputs": (True, True)}, "must be float32"),
]


@pytest.mark.parametrize("expected", INFERRED)
def test_result_types(expected: Expected) -> None:
    require_inferred(expected)


@pytest.mark.parametrize("expected", REFUSED)
def test_refusals(expected: Expected) -> None:
    require_refused(expected)


@pytest.mark.slow
def test_readers_run_drawn_pads() -> None:
    require_valid(pad.OPERATORS, 100)
