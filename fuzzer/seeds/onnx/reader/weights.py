"""Read the weights of an ONNX file: `python -m fuzzer.seeds.onnx.reader.weights FILE PARENT`
(`fuzzer.seeds.own_weights`)."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, numpy_helper
from onnx.checker import ValidationError
from onnx.external_data_helper import load_external_data_for_tensor

from fuzzer.seeds import own_weights
from fuzzer.seeds.bounded_child import limit_child
from fuzzer.seeds.onnx.reader.reader import Unreadable, loaded, tensors_of_model, unchanged_nodes
from generators.graph import Array, DType, Invalid
from generators.onnx.small_types import held

_DTYPES = {dtype.numpy: dtype for dtype in DType}


def weights(path: Path, most: int) -> dict[str, Array]:
    """The numbers of each initializer and node Constant, by name; those of nodes that contain graphs by the names that
    `reader` gives them. Raise `Invalid` where they cannot be read, or take more than `most` bytes."""
    try:
        graph = loaded(path).graph
        unchanged_nodes(graph)
        found = tensors_of_model(graph)
        numbers = sum(math.prod(tensor.dims) for tensor in found.values())
        if numbers > most:
            raise Unreadable(f"has {numbers:,} numbers in its weights, more than {most >> 20} MiB")
        arrays = {name: _array(tensor, path.parent) for name, tensor in found.items()}
    except Unreadable as why:
        raise Invalid(f"{path}: {why}") from None
    if sum(array.nbytes for array in arrays.values()) > most:
        raise Invalid(f"{path}: its weights have more than {most >> 20} MiB")
    known = {name: held(array) for name, array in arrays.items()}
    return {name: array for name, array in known.items() if array.dtype in _DTYPES}


def _array(tensor: TensorProto, folder: Path) -> Array:
    """The numbers. `loaded` has refused tensors outside of the folder."""
    try:
        if tensor.external_data:
            load_external_data_for_tensor(tensor, str(folder))
            tensor.ClearField("data_location")
            tensor.ClearField("external_data")
        return np.ascontiguousarray(numpy_helper.to_array(tensor)).reshape(list(tensor.dims))
    except (OSError, ValueError, TypeError, RuntimeError, ValidationError) as error:
        raise Unreadable(f"its tensor {tensor.name!r} cannot be read: {' '.join(str(error).split())[:200]}") from None


def main() -> None:
    path = Path(sys.argv[1])
    with limit_child(int(sys.argv[2]), own_weights.limits_of_child(path)) as answers:
        answers.write(own_weights.answer(path, weights))


if __name__ == "__main__":
    main()
