"""The values of a case as the contents of `tensors.safetensors`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import safetensors
import safetensors.numpy

from generators.types import Array, DType, Invalid, TensorType

MOST_HEADER = 4 << 20
"""The most bytes of the names, types and sizes of the tensors. Those of 10,000 tensors have one million."""


def encode(tensors: Mapping[str, Array]) -> bytes:
    return safetensors.numpy.save({name: _as_bits(tensors[name]) for name in sorted(tensors)})


def of_bytes(name: str, data: bytes | None) -> dict[str, Array]:
    """The bytes as a tensor of this name; nothing where there are none."""
    return {} if data is None else {name: np.frombuffer(data, np.uint8)}


def _as_bits(array: Array) -> Array:
    """Return a contiguous array that safetensors can store. bfloat16 is stored as uint16, for numpy has no bfloat16."""
    bits = array.view(np.uint16) if array.dtype == DType.BFLOAT16.numpy else array
    return np.ascontiguousarray(bits).reshape(array.shape)  # ascontiguousarray turns a 0-d array into a 1-d one


def decode(contents: bytes, types: Mapping[str, TensorType]) -> dict[str, Array]:
    """Return the arrays in the order of their names. `types` says which were bfloat16; arrays with other names stay as
    they are stored. Raise `Invalid` where the contents are no safetensors file."""
    if int.from_bytes(contents[:8], "little") > MOST_HEADER:
        raise Invalid(f"its header has more than {MOST_HEADER >> 20} MiB")
    try:
        arrays = safetensors.numpy.load(contents)
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise Invalid(str(error)) from None
    return {name: _from_bits(a, types[name]) if name in types else a for name, a in sorted(arrays.items())}


def _from_bits(array: Array, type: TensorType) -> Array:
    is_bfloat16 = type.dtype is DType.BFLOAT16 and array.dtype == np.uint16
    return array.view(DType.BFLOAT16.numpy) if is_bfloat16 else array
