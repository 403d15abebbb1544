"""A check of all rows reports every row that fails."""

from __future__ import annotations

import pytest
from rows import ROWS_OF_A_TEST, check_rows, each_row

from generators.op import Op
from generators.table import TABLE
from generators.torch.ops import OPS

ADD, MUL, SUB = (TABLE[name] for name in ("add", "mul", "sub"))


def fails_for_two(op: Op) -> None:
    if op is SUB:
        pytest.fail("no exception was raised")
    assert op is ADD


def test_the_error_names_each_row_that_fails() -> None:
    with pytest.raises(BaseExceptionGroup, match=r"^fails_for_two: mul, sub$") as caught:
        check_rows(fails_for_two, [MUL, ADD, SUB])
    assert [error.__notes__ for error in caught.value.exceptions] == [["row: mul"], ["row: sub"]]


def test_every_row_is_in_one_test() -> None:
    (mark,) = each_row()(fails_for_two).pytestmark  # type: ignore[attr-defined]
    _, tests = mark.args
    assert [op for rows in tests for op in rows] == list(OPS)
    assert max(map(len, tests)) == ROWS_OF_A_TEST
