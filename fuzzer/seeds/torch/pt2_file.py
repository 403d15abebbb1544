"""Read a .pt2 file in a child: `python -m fuzzer.seeds.torch.pt2_file FILE PARENT` writes what is in it as MessagePack.

Nothing in the file is executed (`pt2`). The child is needed because kilobytes of zipped JSON can become gigabytes of
memory.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from fuzzer.seeds.bounded_child import answer_of, limit_child, limits_of
from fuzzer.seeds.bounds import require_sizes
from fuzzer.seeds.torch import pt2
from fuzzer.seeds.torch.program import Program
from generators.graph import DType, Invalid

MODULE = "fuzzer.seeds.torch.pt2_file"
MAX_ANSWER = 128 << 20


class _Tensor(msgspec.Struct):
    dtype: DType
    shape: tuple[int, ...]
    data: bytes


class Pt2Model(msgspec.Struct):
    """A file as a program, and as cases have it.

    document   the program as it was exported, for cases (`generators.torch.given`), which check it; b"" where its
               version is not read any more
    not_given  the reason
    is_open    whether it leaves sizes open
    inputs     the names of the tensors that it takes, in order
    results    how many tensors it returns
    no_tensors a line for each other result
    """

    program: Program
    document: bytes = b""
    not_given: str = ""
    is_open: bool = False
    inputs: tuple[str, ...] = ()
    results: int = 0
    no_tensors: tuple[str, ...] = ()


class _Answer(msgspec.Struct):
    """One of the two is set."""

    model: Pt2Model | None = None
    refused: str = ""


def read(path: Path) -> Program:
    """Read a file. Raise `Invalid` with one line that describes what is wrong and where."""
    return read_model(path).program


def read_model(path: Path) -> Pt2Model:
    """Read a file, as `read` does."""
    answer = decode(answer_of(MODULE, path, MAX_ANSWER), path)
    if answer.model is None:
        raise Invalid(answer.refused)
    return answer.model


def encode(answer: _Answer) -> bytes:
    return msgspec.msgpack.encode(answer, enc_hook=_plain)


def decode(data: bytes, path: Path) -> _Answer:
    try:
        answer = msgspec.msgpack.decode(data, type=_Answer, dec_hook=_array)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise Invalid(f"{path}: the answer of its reader cannot be read: {error}") from None
    for name, type in answer.model.program.types.items() if answer.model else ():
        require_sizes(name, type.sizes, str(path))
    return answer


def _plain(array: Any) -> object:
    return _Tensor(DType(array.dtype.name), array.shape, array.tobytes())


def _array(wanted: type, value: object) -> object:
    tensor = msgspec.convert(value, _Tensor)
    return np.frombuffer(tensor.data, tensor.dtype.numpy).reshape(tensor.shape)


def _answer(path: Path) -> _Answer:
    try:
        model = Pt2Model(pt2.read(path))
    except Invalid as why:
        return _Answer(refused=str(why))
    try:
        found = pt2.document(path)
    except Invalid as why:
        return _Answer(msgspec.structs.replace(model, not_given=str(why)))
    model.document, model.inputs, model.results, model.no_tensors = (
        found.text,
        found.inputs,
        found.results,
        found.no_tensors,
    )
    model.is_open = b'"as_expr"' in model.document
    return _Answer(model)


def main() -> None:
    path = Path(sys.argv[1])
    limits = limits_of(path)
    with limit_child(int(sys.argv[2]), limits) as answer_file:
        try:
            data = encode(_answer(path))
        except MemoryError:
            data = encode(_Answer(refused=f"{path}: {limits.too_much_memory}"))
        answer_file.write(data)


if __name__ == "__main__":
    main()
