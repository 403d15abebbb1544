"""The rows of all dialects, by name. Names say the dialect: PyTorch's begin with a small letter, ONNX's with a capital.

ONNX's rows are made when the first of them is asked for, which takes 0.2 CPU seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from generators.op import Op
from generators.torch.ops import FAMILIES as TORCH_FAMILIES
from generators.torch.ops import TABLE as TORCH_ROWS

DIALECTS = ("torch", "onnx")


def dialect_of(op: str) -> str:
    """The dialect of a row, by its name."""
    return "onnx" if op[:1].isupper() else "torch"


def rows(dialect: str) -> Mapping[str, Op]:
    """The rows of a dialect, by name."""
    if dialect == "torch":
        return TORCH_ROWS
    from generators.onnx.rows import ROWS

    return ROWS


def families(dialect: str) -> Mapping[str, tuple[Op, ...]]:
    """For each row of a dialect, the rows of its file: operators that are alike."""
    if dialect == "torch":
        return TORCH_FAMILIES
    from generators.onnx.rows import FAMILIES

    return FAMILIES


def in_force(name: str, opset: int) -> str | None:
    """The row of the same operator that a graph of this opset may have. A row of PyTorch is in force in each graph."""
    if dialect_of(name) == "torch":
        return name
    from generators.onnx.rows import version_at

    return version_at(name, opset)


class _Table(Mapping[str, Op]):
    def __getitem__(self, name: str) -> Op:
        return rows(dialect_of(name))[name]

    def __iter__(self) -> Iterator[str]:
        yield from rows("torch")
        yield from rows("onnx")

    def __len__(self) -> int:
        return len(rows("torch")) + len(rows("onnx"))


TABLE: Mapping[str, Op] = _Table()
