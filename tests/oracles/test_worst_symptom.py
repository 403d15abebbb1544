"""A wrong dtype or shape hides no wrong values, of the same output or of another one."""

from __future__ import annotations

from typing import Any

import fakes
import numpy as np
import pytest

from oracles.compare import judge
from oracles.expected_output import Expected
from oracles.finding import Kind
from oracles.identical import difference

INDICES = fakes.expect([[3, 7, 1], [0, 2, 5]], dtype="int64")
FLOATS = fakes.expect([0.7, -1.6, 3.2])
LARGE = fakes.expect([1.0, 70_000.0, -2.0])
BYTES = fakes.expect([3, 300], dtype="int64")


@pytest.mark.parametrize(
    ("actual", "right", "kind", "also"),
    [
        (np.zeros((2, 3), np.float32), INDICES, Kind.WRONG_VALUE, "float32 instead of int64"),
        (INDICES.eager.astype(np.float32), INDICES, Kind.WRONG_DTYPE, ""),
        (INDICES.eager.astype(np.int32), INDICES, Kind.WRONG_DTYPE, ""),
        (np.zeros((2, 3), np.int32), INDICES, Kind.WRONG_VALUE, "int32 instead of int64"),
        (INDICES.eager != 0, INDICES, Kind.WRONG_DTYPE, ""),
        (INDICES.eager == 0, INDICES, Kind.WRONG_VALUE, "bool instead of int64"),
        (np.array([0, -1, 3]), FLOATS, Kind.WRONG_DTYPE, ""),  # the integers next to zero
        (np.array([1, -2, 3]), FLOATS, Kind.WRONG_DTYPE, ""),  # the nearest ones
        (np.array([5, -2, 3]), FLOATS, Kind.WRONG_VALUE, "int64 instead of float32"),
        (FLOATS.eager.astype(np.float16), FLOATS, Kind.WRONG_DTYPE, ""),
        (FLOATS.eager.astype(np.float64), FLOATS, Kind.WRONG_DTYPE, ""),
        (np.array([0.7, -1.6, 3.4]), FLOATS, Kind.WRONG_VALUE, "float64 instead of float32"),
        (np.array([1, 0, -2], np.int16), LARGE, Kind.WRONG_DTYPE, ""),  # int16 has no 70,000
        (np.array([3, 44], np.uint8), BYTES, Kind.WRONG_DTYPE, ""),
        (np.zeros((2, 3), np.complex64), INDICES, Kind.WRONG_DTYPE, ""),
        (np.zeros((2, 2), np.int32), INDICES, Kind.WRONG_SHAPE, "int32 instead of int64"),
    ],
)
def test_the_worse_of_two_symptoms_of_one_output(actual: Any, right: Expected, kind: Kind, also: str) -> None:
    found = judge((actual,), (right,))
    assert found is not None
    assert (found[0], found[1].also) == (kind, also)
    compared = difference((right.eager,), (actual,), "the first run")
    assert compared is not None
    assert compared[0] is kind


def test_the_worst_output_is_the_symptom() -> None:
    right = (INDICES, FLOATS)
    wrong_dtype, wrong_shape = INDICES.eager.astype(np.int32), INDICES.eager[:1]
    for first in (wrong_dtype, wrong_shape):
        found = judge((first, FLOATS.eager + 1), right)
        assert found is not None
        assert (found[0], found[1].output) == (Kind.WRONG_VALUE, 1)
        compared = difference((INDICES.eager, FLOATS.eager), (first, FLOATS.eager + 1), "the first run")
        assert compared is not None
        assert (compared[0], compared[1].output) == (Kind.WRONG_VALUE, 1)


@pytest.mark.parametrize(
    ("actual", "elements", "wrong"),
    [
        (INDICES.eager[:, :2], 0, 0),
        (np.zeros((2, 2), np.int64), 4, 3),
        (np.zeros((3, 4), np.int64), 6, 5),
        (np.zeros(6, np.int64), 6, 5),
        (np.zeros((0, 3), np.int64), 0, 0),
        (np.zeros(5, np.int64), 0, 0),
    ],
)
def test_values_are_counted_in_the_part_that_two_shapes_have(actual: Any, elements: int, wrong: int) -> None:
    found = judge((actual,), (INDICES,))
    assert found is not None
    kind, evidence = found
    assert (kind, evidence.elements, evidence.wrong) == (Kind.WRONG_SHAPE, elements, wrong)
