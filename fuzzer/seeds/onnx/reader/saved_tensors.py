"""Read arrays from files: `python -m fuzzer.seeds.onnx.reader.saved_tensors PATH PARENT`
(`fuzzer.seeds.given_inputs`)."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from onnx import TensorProto, numpy_helper

from fuzzer.seeds import own_weights
from fuzzer.seeds.bounded_child import limit_child
from fuzzer.system.named_file import read_named
from generators.graph import Array, DType, Invalid
from generators.onnx.small_types import held
from generators.plain_file import NO_FILE

_DTYPES = {dtype.numpy for dtype in DType}


def tensors(path: Path, most: int) -> dict[str, Array]:
    """The arrays of an .npz file, or of the files input_0.pb, input_1.pb, ... of a folder, by name. Raise `Invalid`
    where they cannot be read, or take more than `most` bytes."""
    try:
        read = dict(_of_folder(path, most) if path.is_dir() else _of_npz(path, most))
    except (OSError, ValueError, TypeError, RuntimeError, zipfile.BadZipFile) as error:
        raise Invalid(f"{path}: it cannot be read: {' '.join(str(error).split())[:200]}") from None
    found = {name: held(array) for name, array in read.items()}
    if not found:
        raise Invalid(f"{path}: it has no {'input_0.pb' if path.is_dir() else 'arrays'}")
    if wrong := [name for name, array in found.items() if array.dtype not in _DTYPES]:
        raise Invalid(f"{path}: {wrong[0]!r} is of {found[wrong[0]].dtype}, which no case has")
    return found


def _of_npz(path: Path, most: int) -> Iterator[tuple[str, Array]]:
    if not path.is_file():
        raise Invalid(f"{path}: {NO_FILE}")
    with zipfile.ZipFile(path) as archive:
        _require_size(path, sum(each.file_size for each in archive.infolist()), most)
    with np.load(path, allow_pickle=False) as arrays:
        for name in arrays.files:
            yield name, np.asarray(arrays[name], order="C")


def _of_folder(path: Path, most: int) -> Iterator[tuple[str, Array]]:
    files = [path / f"input_{number}.pb" for number in range(len(list(path.glob("input_*.pb"))))]
    _require_size(path, sum(file.stat().st_size for file in files), most)
    for file in files:
        yield _of_file(file, most)


def _of_file(path: Path, most: int) -> tuple[str, Array]:
    tensor, data = TensorProto(), read_named(path, most)
    try:
        tensor.ParseFromString(data)
    except Exception as error:  # protobuf's DecodeError has no type stub and no public module
        raise Invalid(f"{path}: it is no tensor of ONNX: {error}") from None
    if not tensor.name:
        raise Invalid(f"{path}: the tensor has no name, so that nothing tells which input it is")
    if tensor.data_location == TensorProto.EXTERNAL:
        raise Invalid(f"{path}: its numbers are in another file, which is not opened")
    return tensor.name, np.asarray(numpy_helper.to_array(tensor), order="C").reshape(list(tensor.dims))


def _require_size(path: Path, size: int, most: int) -> None:
    if size > most:
        raise Invalid(f"{path}: it has {size >> 20} MiB, more than {most >> 20}")


def main() -> None:
    path = Path(sys.argv[1])
    with limit_child(int(sys.argv[2]), own_weights.limits_of_child(path)) as answers:
        answers.write(own_weights.answer(path, tensors))


if __name__ == "__main__":
    main()
