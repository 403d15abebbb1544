"""Compare two results that must be identical: no rounding is allowed."""

from __future__ import annotations

import numpy as np

from generators.graph import Array
from oracles.finding import Kind, Mismatch, WorstElement


def difference(first: tuple[Array, ...], second: tuple[Array, ...], reference: str) -> tuple[Kind, Mismatch] | None:
    """Return how `second` differs from `first`; None where they are identical.

    `reference` names what gave `first`, e.g. "the first run". The payload of a NaN and the sign of a zero do not count.
    """
    if len(first) != len(second):
        counts = f"{reference}'s {len(first)} outputs", f"{len(second)} outputs"
        return Kind.WRONG_ARITY, Mismatch(0, *counts, against=reference)
    for index, (one, other) in enumerate(zip(first, second, strict=True)):
        if one.shape != other.shape or one.dtype != other.dtype:
            kind = Kind.WRONG_SHAPE if one.shape != other.shape else Kind.WRONG_DTYPE
            types = f"{reference}'s {one.dtype}{list(one.shape)}", f"{other.dtype}{list(other.shape)}"
            return kind, Mismatch(index, *types, against=reference)
        changed = (one != other) & ~((one != one) & (other != other))
        if count := int(np.count_nonzero(changed)):
            texts = f"{reference}'s result", f"{count} of {one.size} elements differ"
            evidence = Mismatch(index, *texts, _worst(one, other, changed), one.size, count, against=reference)
            return Kind.WRONG_VALUE, evidence
    return None


def _worst(one: Array, other: Array, changed: Array) -> WorstElement:
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(one.astype(np.float64) - other.astype(np.float64))
    distance = np.where(np.isnan(distance), np.inf, distance)
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(np.where(changed, distance, -1.0))), one.shape))
    return WorstElement(index, float(one[index]), float(other[index]), 0.0, 0.0)
