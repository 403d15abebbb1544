"""The operands of calls of PyTorch that may be left out: tensors that an index `x[{1}, 0]` does not name."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from generators.graph import Node
from generators.torch.ops import TABLE
from generators.torch.ops.indexing import INDEX, index_of


def fewer(node: Node, read: Collection[str]) -> Iterator[Node]:
    """The call with the tensors that its index names. They are its last operands."""
    row = TABLE[node.op]
    if row.schema.get("index") is not INDEX:
        return
    first, index = row.arity[0], index_of(node.attrs)
    named = {int(item[1:-1]) for item in index if item.startswith("{")}
    kept = [place for place in range(len(node.args)) if place < first or place in named]
    if len(kept) < len(node.args):
        renamed = tuple(f"{{{kept.index(int(item[1:-1]))}}}" if item.startswith("{") else item for item in index)
        yield replace(node, args=tuple(node.args[place] for place in kept), attrs={**node.attrs, "index": renamed})
