"""The numbers of all tensors that a model's file has. A child with limits reads them, and writes them as MessagePack.

Nothing is unpickled. A file of ONNX may have tensors in other files of its folder, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

import msgspec
import numpy as np

from fuzzer.seeds.bounded_child import Limits, answer_of, limits_of
from generators.graph import Array, DType, Invalid

MODULES = {".onnx": "fuzzer.seeds.onnx.reader.weights", ".pt2": "fuzzer.seeds.torch.pt2_weights"}
"""The child of each suffix: `python -m MODULE FILE PARENT`."""

MOST_BYTES = 512 << 20
"""The most that they may take together: a run of lanes sends them to a process."""

WITH_OWN_WEIGHTS = ", with its own weights"
"""The end of the origin of a case that has them. Its reports say so."""


ReadAll = Callable[[Path, int], Mapping[str, Array]]


class Weights(StrEnum):
    """The numbers of a model's parameters and buffers of floating point."""

    OWN = "own"
    DRAWN = "drawn"


class _Tensor(msgspec.Struct):
    dtype: DType
    shape: tuple[int, ...]
    data: bytes


class _Answer(msgspec.Struct):
    weights: dict[str, _Tensor] = {}
    refused: str = ""


def read(path: Path) -> dict[str, Array]:
    """The numbers of each tensor of an .onnx or .pt2 file, by its name there. Raise `Invalid` with one line where they
    cannot be read, or take more than `MOST_BYTES`."""
    return tensors_read_by(MODULES[path.suffix], path)


def tensors_read_by(module: str, path: Path) -> dict[str, Array]:
    """What a child writes whose `main` calls `answer`. Raise `Invalid` as `read` does."""
    text = answer_of(module, path, MOST_BYTES + (64 << 20))
    try:
        found = msgspec.msgpack.decode(text, type=_Answer)
        if found.refused:
            raise Invalid(found.refused)
        return {
            name: np.frombuffer(each.data, each.dtype.numpy).reshape(each.shape) for name, each in found.weights.items()
        }
    except (msgspec.DecodeError, ValueError) as error:
        if isinstance(error, Invalid):
            raise
        raise Invalid(f"{path}: the answer of its reader cannot be read: {error}") from None


def limits_of_child(path: Path) -> Limits:
    """What the child of a file may take. Its tensors may be in other files."""
    return replace(limits_of(path), memory=(2 << 30) + 4 * MOST_BYTES)


def answer(path: Path, read_all: ReadAll) -> bytes:
    """What the child writes. `read_all` returns the numbers of the tensors of a file, by name, of which there may be so
    many bytes, or raises `Invalid`."""
    try:
        found = read_all(path, MOST_BYTES)
        arrays = {name: _Tensor(DType(each.dtype.name), each.shape, each.tobytes()) for name, each in found.items()}
        return msgspec.msgpack.encode(_Answer(arrays))
    except Invalid as why:
        return msgspec.msgpack.encode(_Answer(refused=str(why)))
    except MemoryError:
        return msgspec.msgpack.encode(_Answer(refused=f"{path}: {limits_of_child(path).too_much_memory}"))
