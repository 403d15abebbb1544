"""The rule by which ONNX's node tests compare results."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import msgspec
import numpy as np
import pytest

from fuzzer.cases.expected_results import EXPECTED_NAME, Expected, difference, read
from generators.graph import Array, Invalid
from generators.onnx.source import tensor


def expected(*arrays: Array) -> Expected:
    return Expected(tuple(map(tensor, arrays)), 1e-3, 1e-7)


FLOATS = np.array([1.0, -2.0, np.nan, np.inf], np.float32)
LARGE = np.array([2**62 + 1, 5], np.int64)
HALVES = np.array([1.0, 2.0], ml_dtypes.bfloat16)


@pytest.mark.parametrize(
    ("actual", "wanted", "why"),
    [
        (FLOATS, FLOATS, ""),
        (FLOATS * np.float32(1.0009), FLOATS, ""),
        (FLOATS * np.float32(1.01), FLOATS, "result 0: 2 of 4 elements differ; at [0] is 1.0099999904632568, not 1.0"),
        (-FLOATS[3:], FLOATS[3:], "result 0: 1 of 1 elements differ; at [0] is -inf, not inf"),
        (FLOATS.astype(np.float64), FLOATS, "result 0 is float64, not float32"),
        (FLOATS[None], FLOATS, "result 0 has the shape [1, 4], not [4]"),
        (np.array(3, np.int32), np.array(4, np.int32), "result 0: 1 of 1 elements differ; at [] is 3, not 4"),
        (LARGE + 9, LARGE, "result 0: 1 of 2 elements differ; at [1] is 14, not 5"),
        (LARGE + np.array([9, 0]), LARGE, ""),  # 9 is less than a thousandth
        (np.array([True]), np.array([False]), "result 0: 1 of 1 elements differ; at [0] is True, not False"),
        (HALVES * HALVES.dtype.type(1.0078125), HALVES, ""),  # one unit in the last place
        (HALVES * HALVES.dtype.type(1.03125), HALVES, "result 0: 2 of 2 elements differ; at [0] is 1.03125, not 1.0"),
        (np.zeros((0, 3), np.int64), np.zeros((0, 3), np.int64), ""),
    ],
)
def test_values_are_compared_as_the_suite_compares_them(actual: Array, wanted: Array, why: str) -> None:
    assert difference([actual], expected(wanted)) == why


def test_results_are_counted() -> None:
    assert difference([FLOATS], expected(FLOATS, FLOATS)) == "1 results, not 2"


def test_the_second_result_is_compared_too() -> None:
    assert difference([FLOATS, LARGE], expected(FLOATS, LARGE[:1])) == "result 1 has the shape [2], not [1]"


def test_a_file_that_says_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"expected\.msgpack: .*choose another folder$"):
        read(tmp_path)
    (tmp_path / EXPECTED_NAME).write_bytes(b"\x01")
    with pytest.raises(Invalid, match="choose another folder"):
        read(tmp_path)
    (tmp_path / EXPECTED_NAME).write_bytes(msgspec.msgpack.encode(expected(FLOATS)))
    assert read(tmp_path) == expected(FLOATS)
