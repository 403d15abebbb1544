"""The limits of a generated graph, and the sizes of dimensions that are drawn."""

from __future__ import annotations

from dataclasses import dataclass, field

SIZES = (1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 13, 16)
"""The usual sizes; small ones are more frequent."""

TILES = (15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)
"""Sizes at and next to the tile sizes of schedules."""

LONG = (2047, 2048, 2049, 2053)
"""Sizes that need more than one block of a reduction kernel."""


LARGE = ((131_072,), (100_003,), (262_145,), (512, 257), (331, 320), (64, 2049))
"""The sizes of axes that make a large tensor: more than 10^5 elements."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a generated graph.

    max_nodes  operator calls
    max_numel  elements of one tensor
    max_bytes  bytes of all tensors together
    max_work   multiply-adds of all nodes together: terms per element x elements
    large_percent  this many drawn shapes in a hundred have the sizes of a large tensor
    min_nodes  at least this many operator calls
    sizes      sizes that most drawn shapes have one of; empty: none is preferred
    to_show    whether a graph that shows little gets one more output or is drawn again. Hypothesis could not shrink a
               case to a number then
    """

    max_nodes: int = 8
    max_numel: int = 4096
    max_bytes: int = 64 << 20
    max_work: int = 50_000_000
    large_percent: int = 0
    min_nodes: int = field(default=1, repr=False)  # messages list the largest values
    sizes: tuple[int, ...] = field(default=(), repr=False)
    to_show: bool = field(default=True, repr=False)


def of_large_tensors(limits: Limits) -> Limits:
    """The limits of a graph of few nodes that has large tensors. Readers that compute in Python take seconds for 10^7
    multiply-adds, and the numbers of a case are stored."""
    nodes = min(limits.max_nodes, 3)
    return Limits(nodes, max_numel=1 << 19, max_bytes=16 << 20, max_work=2_000_000, large_percent=50)
