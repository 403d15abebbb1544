"""Scatters: result types, refusals, and drawn cases."""

from __future__ import annotations

import pytest
from onnx_calls import inferred, invalid_case

from generators.graph import Invalid
from generators.onnx.ops import scatter

TYPES: list[tuple[str, str, dict[str, object], str]] = [
    ("Scatter-9", "float32[4,5] int64[2,5] float32[2,5]", {}, "float32[4,5]"),
    ("ScatterElements-11", "int8[4,5] int32[4,2] int8[4,2]", {"axis": -1}, "int8[4,5]"),
    ("ScatterElements-18", "float32[4] int64[9] float32[9]", {"reduction": "max"}, "float32[4]"),
    ("ScatterND-11", "float32[4,5,6] int64[3,2] float32[3,6]", {}, "float32[4,5,6]"),
    ("ScatterND-16", "float32[4] int64[9,1] float32[9]", {"reduction": "add"}, "float32[4]"),
    ("ScatterND-18", "float32[4] int64[1] float32[]", {}, "float32[4]"),
]

REFUSALS: list[tuple[str, str, dict[str, object], str]] = [
    ("Scatter-9", "float32[4] int64[2] float32[3]", {}, "have other sizes"),
    ("ScatterElements-13", "float32[4] int64[5] float32[5]", {}, "names a position twice"),
    ("ScatterElements-13", "float32[4,5] int64[5,1] float32[5,1]", {"axis": 1}, "is larger than"),
    ("ScatterElements-16", "float32[4] int64[2] float32[2]", {"reduction": "max"}, "has no reduction max"),
    ("ScatterElements-18", "float32[4] int64[2] float32[2]", {"reduction": "mean"}, "reduction must be one of none"),
    ("ScatterND-13", "float32[4,5] int64[2,1] float32[2]", {}, "should have the sizes"),
    ("ScatterND-13", "float32[4] int64[5,1] float32[5]", {}, "names a position twice"),
]


@pytest.mark.parametrize(("row", "operands", "attrs", "results"), TYPES)
def test_the_types_of_results(row: str, operands: str, attrs: dict[str, object], results: str) -> None:
    assert inferred(row, operands, **attrs) == results


@pytest.mark.parametrize(("row", "operands", "attrs", "message"), REFUSALS)
def test_what_is_refused(row: str, operands: str, attrs: dict[str, object], message: str) -> None:
    with pytest.raises(Invalid, match=message):
        inferred(row, operands, **attrs)


@pytest.mark.parametrize("symbolic", [None, True])
@pytest.mark.parametrize("operator", [operator.name for operator in scatter.OPERATORS])
def test_readers_run_and_agree(operator: str, symbolic: bool | None) -> None:
    assert not invalid_case(operator, 40, symbolic=symbolic)
