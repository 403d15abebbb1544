"""Names for the kinds of loops of a kernel: `tir SSR max reads 1`.

The name of a block consists of its axes (S spatial, R reduced, O other), the operation that computes the stored value,
and the number of regions that it reads. It has no sizes and no names of variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MOST_STATEMENTS = 500
"""The largest number of statements that are read in a kernel. Longer kernels are unrolled, and repeat themselves."""

_AXES = {0: "S", 2: "R"}
"""From TVM's `IterVar.iter_type` to a letter."""


def block_patterns(kernel: Any) -> list[str]:
    """Return the names of the blocks of a PrimFunc. A lowered PrimFunc has none."""
    return sorted({_pattern(block) for block in _blocks(kernel.body) if len(block.iter_vars)})


def _blocks(statement: Any) -> Iterator[Any]:
    """Yield the blocks, outermost first. Classes are compared by name, because releases have them in other modules."""
    waiting = [statement]
    for _ in range(MOST_STATEMENTS):
        if not waiting:
            return
        now = waiting.pop()
        match type(now).__name__:
            case "SBlockRealize" | "BlockRealize":
                waiting.append(now.block)
            case "SBlock" | "Block":
                yield now
                waiting.append(now.body)
            case "SeqStmt":
                waiting += reversed(list(now.seq))
            case "IfThenElse":
                waiting += [each for each in (now.else_case, now.then_case) if each is not None]
            case _:
                if (body := getattr(now, "body", None)) is not None:
                    waiting.append(body)


def _pattern(block: Any) -> str:
    axes = "".join(_AXES.get(int(axis.iter_type), "O") for axis in block.iter_vars)
    return f"tir {axes} {_made_by(block.body)} reads {min(len(block.reads), 4)}"


def _made_by(statement: Any) -> str:
    """Name the operation that computes the stored value, where the block is a single store."""
    if type(statement).__name__ != "BufferStore":
        return type(statement).__name__.lower()
    value = statement.value
    if type(value).__name__ == "Call":
        return str(value.op.name).rpartition(".")[2]
    return type(value).__name__.lower()
