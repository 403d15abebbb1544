"""What kinds of loops a kernel consists of, as names: `tir SSR max reads 1`.

Of each block: its axes (S spatial, R reduced, O others), what the stored value is made by, and how many regions it
reads. Sizes, names and numbers stay out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MOST_STATEMENTS = 500
"""Looked at in one kernel; unrolled ones are longer, and show nothing new."""

_AXES = {0: "S", 2: "R"}
"""By TVM's `IterVar.iter_type`."""


def block_patterns(kernel: Any) -> list[str]:
    """Of a PrimFunc with blocks; none of one that was lowered."""
    return sorted({_pattern(block) for block in _blocks(kernel.body) if len(block.iter_vars)})


def _blocks(statement: Any) -> Iterator[Any]:
    """Outermost first. By the names of classes: they moved between releases."""
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
    """What gives the value that is stored, where a block does just that."""
    if type(statement).__name__ != "BufferStore":
        return type(statement).__name__.lower()
    value = statement.value
    if type(value).__name__ == "Call":
        return str(value.op.name).rpartition(".")[2]
    return type(value).__name__.lower()
