"""What the supervisor asks of a child that looks at programs, and what it answers. Loads no compiler."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Table(StrEnum):
    """A converter table of one of TVM's importers."""

    EXPORT = "exported program"
    FX = "fx"
    ONNX = "onnx"


class Way(StrEnum):
    """A way from a program to what an importer reads."""

    EXPORT = "torch.export"
    DECOMPOSED = "decompositions"
    FX = "symbolic_trace"
    ONNX = "TorchScript exporter"
    DYNAMO = "dynamo exporter"  # twenty times dearer than the other one

    @property
    def table(self) -> Table:
        return _TABLES[self]


_TABLES = {
    Way.EXPORT: Table.EXPORT,
    Way.DECOMPOSED: Table.EXPORT,
    Way.FX: Table.FX,
    Way.ONNX: Table.ONNX,
    Way.DYNAMO: Table.ONNX,
}


class Question(msgspec.Struct, frozen=True):
    """Followed by case.json and the tensors, each a message of its own. `opset` is for the ways to ONNX."""

    way: Way
    opset: int


class Answer(msgspec.Struct, frozen=True):
    """The keys that were seen, and what went wrong on the way: it need not have gone wrong at once."""

    keys: tuple[str, ...] = ()
    error: str = ""


class Tables(msgspec.Struct, frozen=True):
    """A child's first message."""

    tables: dict[Table, tuple[str, ...]]
