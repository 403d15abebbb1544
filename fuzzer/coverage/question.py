"""The messages between the supervisor and the child that exports programs. Loads no compiler."""

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
    DYNAMO = "dynamo exporter"  # takes twenty times as long as the TorchScript exporter

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
    """A request. case.json and the tensors follow as two more messages. `opset` applies to the ONNX exporters only."""

    way: Way
    opset: int


class Answer(msgspec.Struct, frozen=True):
    """The keys that a program reaches. With an error, they are those that were reached before it."""

    keys: tuple[str, ...] = ()
    error: str = ""


class Tables(msgspec.Struct, frozen=True):
    """A child's first message."""

    tables: dict[Table, tuple[str, ...]]
