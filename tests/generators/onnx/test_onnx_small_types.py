"""Element types of ONNX that a case holds in a wider dtype."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from generators.graph import DType
from generators.onnx.model import ELEMENTS, Tensor
from generators.onnx.small_types import SMALL_TYPES, SmallType, held, in_small_type

EACH = pytest.mark.parametrize(("element", "small"), SMALL_TYPES.items(), ids=list(SMALL_TYPES))

NO_CASE = {"UNDEFINED", "STRING", "COMPLEX64", "COMPLEX128"}


@EACH
def test_the_table_says_what_the_onnx_package_says(element: str, small: SmallType) -> None:
    assert small.number == onnx.TensorProto.DataType.Value(element)
    assert small.numpy == onnx.helper.tensor_dtype_to_np_dtype(small.number)
    assert small.bits == int("".join(filter(str.isdigit, element.removeprefix("FLOAT").removeprefix("UINT")))[:1] or 0)


def test_every_element_type_of_onnx_is_known_or_no_type_of_numbers() -> None:
    assert {*SMALL_TYPES, *ELEMENTS, *NO_CASE} == set(onnx.TensorProto.DataType.keys())


@EACH
def test_the_wider_dtype_has_each_number(element: str, small: SmallType) -> None:
    every = np.arange(2**small.bits, dtype=np.uint8).view(small.numpy)
    wide = held(every)
    assert wide.dtype == small.held.numpy
    again = in_small_type(wide, small)
    assert again.dtype == small.numpy
    np.testing.assert_array_equal(held(again), wide)  # there are several NaN
    assert len({str(number) for number in wide.tolist()}) > 2**small.bits - 8
    assert Tensor(element, every.shape, every.tobytes()).array.dtype == small.numpy  # type: ignore[arg-type]


def test_what_the_type_does_not_have_becomes_the_nearest_number_that_it_has() -> None:
    floats = np.array([1e9, -1e9, 0.3, np.nan, np.inf], np.float32)
    made = held(in_small_type(floats, SMALL_TYPES["FLOAT8E5M2"]))
    np.testing.assert_array_equal(made, np.array([57344, -57344, 0.3125, np.nan, np.inf], np.float32))
    integers = np.array([-128, -3, 100], np.int8)
    assert held(in_small_type(integers, SMALL_TYPES["INT4"])).tolist() == [-8, -3, 7]


def test_an_array_of_a_case_is_held_as_it_is() -> None:
    array = np.ones(2, DType.BFLOAT16.numpy)
    assert held(array) is array
