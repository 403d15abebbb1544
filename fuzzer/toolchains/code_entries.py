"""What a toolchain would run, as data: a child of it writes the table (`fuzzer.children.code_table`)."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Kind(StrEnum):
    """What an entry is."""

    CONVERTER = "converter"
    IMPORTER = "importer"
    LEGALIZATION = "legalization"
    GRADIENT = "gradient"
    PASS = "pass"
    PIPELINE = "pipeline"
    SCHEDULE = "schedule rule"


class Entry(msgspec.Struct, frozen=True):
    """A part of TVM that a lane may run.

    name       of a converter `export softmax.int`, `fx relu`, `onnx Softmax 13`; of a legalization and a gradient the
               operator; of a pass, a pipeline and a rule its own
    functions  the numbers of the functions that it calls
    operators  the operators of Relax that these make
    """

    kind: Kind
    name: str
    functions: tuple[int, ...]
    operators: tuple[str, ...] = ()


class CodeTable(msgspec.Struct, frozen=True):
    """The entries of a toolchain.

    python     the version of its interpreter: bytecode of two versions cannot be compared
    functions  by number, the place of a function and a digest of its code: `relax/op/nn/nn.py softmax#0a1b2c3d4e5f6071`
    constants  by the number of the function, the numbers in its code
    places     the number of the function that stands at a place: `tvm.topi.nn.softmax.softmax`
    """

    python: tuple[int, ...]
    functions: tuple[str, ...]
    constants: tuple[tuple[int | float, ...], ...]
    entries: tuple[Entry, ...]
    places: dict[str, int]


def encode(table: CodeTable) -> bytes:
    return msgspec.json.encode(table)


def decode(data: bytes) -> CodeTable:
    """Raise `msgspec.DecodeError` where it is no table."""
    return msgspec.json.decode(data, type=CodeTable)
