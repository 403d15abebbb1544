"""Read a .pt2 file in a child: `python -m fuzzer.seeds.pt2_file FILE PARENT` writes the `Program` as MessagePack.

Nothing in the file is executed (`pt2`). The child is needed because kilobytes of zipped JSON can become gigabytes of
memory.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from fuzzer.seeds import pt2
from fuzzer.seeds.bounded_child import answer_of, limit_child
from fuzzer.seeds.program import Program, require_sizes
from generators.graph import DType, Invalid

MODULE = "fuzzer.seeds.pt2_file"
SECONDS, CPU_SECONDS = 240.0, 120
MEMORY_BYTES = 4 << 30
MAX_ANSWER = 32 << 20


class _Tensor(msgspec.Struct):
    dtype: DType
    shape: tuple[int, ...]
    data: bytes


class _Answer(msgspec.Struct):
    """One of the two is set."""

    program: Program | None = None
    refused: str = ""


def read(path: Path) -> Program:
    """Read a file. Raise `Invalid` with one line that describes what is wrong and where."""
    answer = decode(answer_of(MODULE, path, SECONDS, MAX_ANSWER), path)
    if answer.program is None:
        raise Invalid(answer.refused)
    return answer.program


def encode(answer: _Answer) -> bytes:
    return msgspec.msgpack.encode(answer, enc_hook=_plain)


def decode(data: bytes, path: Path) -> _Answer:
    try:
        answer = msgspec.msgpack.decode(data, type=_Answer, dec_hook=_array)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise Invalid(f"{path}: the answer of its reader cannot be read: {error}") from None
    for name, type in answer.program.types.items() if answer.program else ():
        require_sizes(name, type.sizes, str(path))
    return answer


def _plain(array: Any) -> object:
    return _Tensor(DType(array.dtype.name), array.shape, array.tobytes())


def _array(wanted: type, value: object) -> object:
    tensor = msgspec.convert(value, _Tensor)
    return np.frombuffer(tensor.data, tensor.dtype.numpy).reshape(tensor.shape)


def _answer(path: Path) -> _Answer:
    try:
        return _Answer(pt2.read(path))
    except Invalid as why:
        return _Answer(refused=str(why))


def main() -> None:
    path = Path(sys.argv[1])
    with limit_child(int(sys.argv[2]), MEMORY_BYTES, CPU_SECONDS) as answer_file:
        try:
            data = encode(_answer(path))
        except MemoryError:
            data = encode(_Answer(refused=f"{path}: reading it takes more than {MEMORY_BYTES >> 30} GiB of memory"))
        answer_file.write(data)


if __name__ == "__main__":
    main()
