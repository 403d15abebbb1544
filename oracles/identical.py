"""Compare two results that must be identical: no rounding is allowed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from generators.graph import Array, holds_floats
from oracles.beside import is_number, values_beside_dtype
from oracles.compare import WORST_FIRST
from oracles.expected_output import Expected
from oracles.finding import Kind, Mismatch, WorstElement
from oracles.transforms import Rounding


def difference(first: tuple[Array, ...], second: tuple[Array, ...], reference: str) -> tuple[Kind, Mismatch] | None:
    """Return how `second` differs from `first`; None where they are identical.

    `reference` names what gave `first`, e.g. "the first run". The payload of a NaN and the sign of a zero do not count.
    """
    if len(first) != len(second):
        counts = f"{reference}'s {len(first)} outputs", f"{len(second)} outputs"
        return Kind.WRONG_ARITY, Mismatch(0, *counts, against=reference)
    pairs = enumerate(zip(first, second, strict=True))
    found = [each for index, (one, other) in pairs if (each := _of_output(index, one, other, reference))]
    return min(found, key=lambda each: WORST_FIRST.index(each[0]), default=None)


def _of_output(index: int, one: Array, other: Array, reference: str) -> tuple[Kind, Mismatch] | None:
    types = f"{reference}'s {one.dtype}{list(one.shape)}", f"{other.dtype}{list(other.shape)}"
    if one.shape != other.shape:
        return Kind.WRONG_SHAPE, Mismatch(index, *types, against=reference)
    if one.dtype != other.dtype:
        values = _beside_dtype(index, one, other)
        if values is None:
            return Kind.WRONG_DTYPE, Mismatch(index, *types, against=reference)
        also = f"{other.dtype} instead of {one.dtype}"
        return Kind.WRONG_VALUE, replace(values, against=reference, also=also)
    changed = (one != other) & ~((one != one) & (other != other))
    if count := int(np.count_nonzero(changed)):
        texts = f"{reference}'s result", f"{count} of {one.size} elements differ"
        evidence = Mismatch(index, *texts, _worst(one, other, changed), one.size, count, against=reference)
        return Kind.WRONG_VALUE, evidence
    return None


def _beside_dtype(index: int, one: Array, other: Array) -> Mismatch | None:
    """How the numbers differ, where the dtypes do, beyond what the other dtype explains."""
    if not is_number(other.dtype):
        return None
    exact = Expected(one, one.astype(np.float64) if holds_floats(one) else one, np.zeros(one.shape), one != one)
    return values_beside_dtype(index, other, exact, Rounding.SAME)


def _worst(one: Array, other: Array, changed: Array) -> WorstElement:
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(one.astype(np.float64) - other.astype(np.float64))
    distance = np.where(np.isnan(distance), np.inf, distance)
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(np.where(changed, distance, -1.0))), one.shape))
    return WorstElement(index, float(one[index]), float(other[index]), 0.0, 0.0)
