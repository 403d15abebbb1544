"""What the file of a model may have at most: sizes, nodes and characters of names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from generators.graph import Invalid

MAX_SIZE = 1 << 40
"""The largest size of a dimension, and the most numbers of a tensor. More are not plausible."""
MAX_RANK = 8
MAX_NODES = 50_000
"""The most nodes of a file, and the most calls that they become: an operator with many operands becomes many calls."""
MAX_OPERANDS = 4 * MAX_NODES
"""The most operands of all nodes together."""
MAX_NAME = 1_000
"""The most characters of a value's name. Longer names are made from it for nodes that are cut in parts."""


def why_no_sizes(sizes: Sequence[int | None]) -> str:
    """Why a model cannot have a tensor of these sizes; "" where it can. None is an unknown size."""
    if len(sizes) > MAX_RANK:
        return f"rank {len(sizes)}, more than {MAX_RANK}"
    known = [size for size in sizes if size is not None]
    if any(size < 0 for size in known) or max(math.prod(known), *known, 0) > MAX_SIZE:
        return f"the sizes {list(sizes)}, which no tensor has"
    return ""


def require_sizes(name: str, sizes: Sequence[int | None], where: str) -> None:
    """Raise `Invalid` where a model cannot have a tensor of these sizes. None is an unknown size."""
    if why := why_no_sizes(sizes):
        raise Invalid(f"{where}: {name} has {why}")


class TopologicalOrder:
    """Checks that the nodes of a file are in topological order, and have not too many operands. Call `next` with each
    node. Raises `Invalid`."""

    def __init__(self, given: Iterable[str], nodes: int, where: str) -> None:
        self._defined, self._where = set(given), where
        self._operands = 0
        if nodes > MAX_NODES:
            raise Invalid(f"{where}: {nodes} nodes, more than {MAX_NODES}")

    def next(self, title: str, reads: Sequence[str], results: Sequence[str]) -> None:
        self._operands += len(reads)
        if self._operands > MAX_OPERANDS:
            raise Invalid(f"{self._where}: its nodes have more than {MAX_OPERANDS} operands")
        if missing := [name for name in reads if name not in self._defined]:
            raise Invalid(f"{self._where}: {title} reads {missing[0]!r} before any node makes it")
        if taken := [name for name in results if name in self._defined]:
            raise Invalid(f"{self._where}: {taken[0]!r} is made twice")
        if long := [name for name in results if len(name) > MAX_NAME]:
            raise Invalid(f"{self._where}: the name {long[0][:20]!r}... has {len(long[0])} characters")
        self._defined.update(results)
