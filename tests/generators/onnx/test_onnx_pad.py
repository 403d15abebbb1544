"""Pad: result types, refusals, and drawn cases."""

from __future__ import annotations

import pytest
from onnx_calls import inferred, invalid_case

from generators.graph import Invalid
from generators.onnx.ops import pad

TYPES: list[tuple[str, str, dict[str, object], str]] = [
    ("Pad-2", "float32[2,3]", {"pads": (1, 0, 0, 2)}, "float32[3,5]"),
    ("Pad-11", "int8[2,3] int8[]", {"pads": (-1, 0, 0, -3), "inputs": (True, True)}, "int8[1,0]"),
    ("Pad-13", "float32[3]", {"pads": (2, 2), "mode": "reflect", "inputs": (True, False)}, "float32[7]"),
    ("Pad-18", "float32[2,3]", {"pads": (1, 1), "axes": (-2,), "inputs": (True, False)}, "float32[4,3]"),
    ("Pad-19", "float32[2]", {"pads": (5, 0), "mode": "wrap", "inputs": (True, False)}, "float32[7]"),
    ("Pad-25", "float32[0]", {"pads": (2, 1), "inputs": (True, False)}, "float32[3]"),
]

REFUSALS: list[tuple[str, str, dict[str, object], str]] = [
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


@pytest.mark.parametrize(("row", "operands", "attrs", "results"), TYPES)
def test_the_types_of_results(row: str, operands: str, attrs: dict[str, object], results: str) -> None:
    assert inferred(row, operands, **attrs) == results


@pytest.mark.parametrize(("row", "operands", "attrs", "message"), REFUSALS)
def test_what_is_refused(row: str, operands: str, attrs: dict[str, object], message: str) -> None:
    with pytest.raises(Invalid, match=message):
        inferred(row, operands, **attrs)


@pytest.mark.parametrize("operator", [operator.name for operator in pad.OPERATORS])
def test_readers_run_and_agree(operator: str) -> None:
    assert not invalid_case(operator, 40)
