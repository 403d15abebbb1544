"""Checks of operator rows, and small calls of a row. One test checks sixteen rows, and reports an error for each row
that fails.

A test for each row would take more time to collect and report than most of the checks take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.op import Op
from generators.torch.ops import OPS

ROWS_OF_A_TEST = 16
SMALL = Limits(max_numel=128)

Check = Callable[[Op], None]


def each_row(ops: Iterable[Op] = OPS) -> Callable[[Check], Callable[[list[Op]], None]]:
    """Turn a check of one row into tests of all rows. `pytest -k NAME` runs the test that contains the row NAME."""
    all_ops = list(ops)
    tests = [all_ops[start : start + ROWS_OF_A_TEST] for start in range(0, len(all_ops), ROWS_OF_A_TEST)]
    parametrize = pytest.mark.parametrize("rows", tests, ids=[",".join(op.name for op in rows) for rows in tests])

    def tests_of(check: Check) -> Callable[[list[Op]], None]:
        def test(rows: list[Op]) -> None:
            check_rows(check, rows)

        test.__name__ = test.__qualname__ = check.__name__
        test.__module__, test.__doc__ = check.__module__, check.__doc__
        test.pytestmark = list(getattr(check, "pytestmark", []))  # type: ignore[attr-defined]
        return parametrize(test)

    return tests_of


def check_rows(check: Check, rows: Iterable[Op]) -> None:
    """Check every row, and raise one group of the errors of all rows that fail."""
    errors = []
    for op in rows:
        try:
            check(op)
        except (Exception, pytest.fail.Exception) as error:
            error.add_note(f"row: {op.name}")
            errors.append(error)
    if errors:
        names = ", ".join(error.__notes__[-1].removeprefix("row: ") for error in errors)
        raise BaseExceptionGroup(f"{check.__name__}: {names}", errors)


def builders(op: Op, count: int, seed: int = 14) -> list[Builder]:
    """Return builders of graphs that end in a drawn call of the row."""
    drawn_builders = [Builder(NumpySource(seed, index), SMALL) for index in range(count)]
    return [builder for builder in drawn_builders if builder.grow(op)]
