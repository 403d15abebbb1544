"""Cases for loops: drawn as a campaign draws them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from itertools import count

from fuzzer.campaign.plan.selection import ops_named
from generators.choice import NumpySource
from generators.graph import Case, Invalid
from generators.limits import Limits
from generators.op import Op
from generators.torch.random_graph import generate

MAX_OPS = 5


def cases(ops: str = "*", *, max_ops: int = MAX_OPS, seed: int | None = None) -> Iterator[Case]:
    """Return an iterator without an end over random valid cases.

    ops      comma-separated globs of operators, such as "conv*,relu"; `fuzz ops` lists them
    max_ops  the most operators of a case, without the `clamp` that guards an operand
    seed     cases of equal seeds are equal; without one they differ each time

    Raises `Invalid`, a ValueError, where no operator has such a name, or none fits a graph.
    """
    start = secrets.randbits(32) if seed is None else seed
    return drawn(ops_named(ops), limits(max_ops), start, 0)


def drawn(rows: tuple[Op, ...], bounds: Limits, seed: int, stream: int) -> Iterator[Case]:
    """Yield case 0, 1, 2, ... of a seed. Other streams of the same seed have other cases."""
    for number in count():
        yield generate(NumpySource(seed, number, stream), bounds, rows, f"seed {seed} case {number}")


def limits(max_ops: int) -> Limits:
    if max_ops < 1:
        raise Invalid(f"max_ops is {max_ops}; a case has at least one operator")
    return Limits(max_nodes=max_ops)
