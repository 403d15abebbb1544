"""Drawn cases of every operator of ONNX are valid files, on which both readers agree."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from onnx_calls import invalid_case

from generators.graph import Attrs
from generators.onnx.operator import Operator
from generators.onnx.ops import (
    FAMILIES,
    activation,
    binary,
    cast,
    compare,
    elementwise,
    index,
    norm,
    pool,
    scatter,
    select,
)
from generators.onnx.ops.operands import float32


def names(*families: tuple[Operator, ...]) -> list[str]:
    return [operator.name for family in families for operator in family]


COUNT = 40
COUNTS = {
    **dict.fromkeys(names(activation.OPERATORS, binary.OPERATORS, compare.OPERATORS, elementwise.OPERATORS), 10),
    **dict.fromkeys(names(cast.OPERATORS, select.OPERATORS), 10),
    **dict.fromkeys(names(norm.OPERATORS, pool.OPERATORS), 20),
    "Attention": 120,
    **dict.fromkeys(("Resize", "Upsample"), 60),
}
"""Operator -> how many cases are drawn, where they are not forty."""

JUDGED: dict[str, Callable[[Attrs], bool]] = dict.fromkeys(
    names(norm.OPERATORS), lambda attrs: attrs.get("epsilon") != float32(1e-12)
)
"""Operator -> which calls are looked at: with a very small epsilon, the rounding of a mean of equal numbers decides
about the result."""

OPEN_SIZES = [*names(index.OPERATORS, scatter.OPERATORS), "MaxRoiPool", "RoiAlign"]
"""Operators whose indices must be in range where an open size is smallest."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("operator", dict.fromkeys(names(*FAMILIES)))
def test_drawn_cases_are_valid_in_both_readers(operator: str) -> None:
    assert invalid_case(operator, COUNTS.get(operator, COUNT), JUDGED.get(operator, lambda attrs: True)) == ""


@pytest.mark.exhaustive
@pytest.mark.parametrize("operator", OPEN_SIZES)
def test_drawn_cases_with_open_sizes_are_valid_in_both_readers(operator: str) -> None:
    assert invalid_case(operator, COUNTS.get(operator, COUNT), symbolic=True) == ""
