"""The values of a case as a safetensors file: each dtype and shape comes back, and other contents are refused."""

from __future__ import annotations

import numpy as np
import pytest

from generators import tensors_file
from generators.types import DType, Invalid, TensorType


@pytest.mark.parametrize("dtype", list(DType))
@pytest.mark.parametrize("shape", [(), (0, 2), (2, 3)])
def test_an_array_comes_back_bit_for_bit(dtype: DType, shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape, dtype=int)).astype(dtype.numpy).reshape(shape)
    back = tensors_file.decode(tensors_file.encode({"x": array}), {"x": TensorType(dtype, shape)})["x"]
    assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, shape, array.tobytes())


def test_an_array_that_is_not_contiguous_is_stored() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3).T
    back = tensors_file.decode(tensors_file.encode({"x": array}), {"x": TensorType(DType.FLOAT32, (3, 2))})["x"]
    assert np.array_equal(back, array)


def test_arrays_come_in_the_order_of_their_names() -> None:
    """safetensors gives them in an order that differs from run to run, and so did `fuzz report --format json`."""
    names = [f"x{number}" for number in range(9)]
    contents = tensors_file.encode({name: np.zeros(1, np.float32) for name in reversed(names)})
    assert list(tensors_file.decode(contents, {})) == names


def test_a_name_without_a_type_stays_as_it_is_stored() -> None:
    array = np.array([1.5], dtype=DType.BFLOAT16.numpy)
    assert tensors_file.decode(tensors_file.encode({"x": array}), {})["x"].dtype == np.uint16


@pytest.mark.parametrize("contents", [b"", b"no file of tensors", b"\xff" * 16])
def test_other_contents_are_refused(contents: bytes) -> None:
    with pytest.raises(Invalid):
        tensors_file.decode(contents, {})


@pytest.mark.slow
def test_a_header_is_no_larger_than_that_of_the_most_tensors() -> None:
    many = tensors_file.encode({f"x{n}": np.zeros(0, np.float32) for n in range(10_000)})
    assert len(tensors_file.decode(many, {})) == 10_000
    size = (tensors_file.MOST_HEADER + 1).to_bytes(8, "little")
    with pytest.raises(Invalid, match="its header has more than 4 MiB"):
        tensors_file.decode(size + b"{}".ljust(tensors_file.MOST_HEADER + 1), {})
