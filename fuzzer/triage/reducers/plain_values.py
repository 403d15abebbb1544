"""Use plainer numbers in inputs: zeros, ones, 1 2 3 ..., whole numbers, and zeros beside numbers that are not finite.

Large tensors get numbers drawn from a seed. All numbers stay in the domain of their input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from fuzzer.triage.reducers.base import Subject
from generators.graph import Array, DType, Input, holds_floats
from generators.values import holds, plain, seeded

MANY = 24
"""Tensors with more numbers than this are not written out in reports."""

SEEDED = (DType.FLOAT32, DType.FLOAT64)

Maker = Callable[[Input, Array], Array]


def plain_values(subject: Subject) -> Iterator[Subject]:
    """Propose the numbers of each maker for all inputs at once, and then for one input at a time."""
    inputs = subject.case.bound.inputs
    tensors = subject.case.tensors
    for make in MAKERS:
        if make is _whole:
            yield from _from_a_seed(subject)
        changed = {item.value.name: _made(make, item, tensors[item.value.name]) for item in inputs}
        if len(inputs) > 1:
            yield subject.with_graph(subject.graph, changed)
        for name, array in changed.items():
            yield subject.with_graph(subject.graph, {**tensors, name: array})


def _made(make: Maker, item: Input, array: Array) -> Array:
    """Return the plainer array if it is in the input's domain, and the given one otherwise."""
    plainer = make(item, array)
    return plainer if holds(plainer, item.domain) else array


def counted(item: Input, array: Array) -> Array:
    """Return 1, -2, 3, -4, ..., or 1, 2, 3, 4, ... if dtype or domain allow no negative numbers."""
    numbers = np.arange(1, array.size + 1).reshape(array.shape)
    if array.dtype == np.bool_:
        return np.asarray(numbers % 2 == 1)
    if array.dtype == np.uint8:
        return np.asarray(numbers, array.dtype)
    signed: Array = np.where(numbers % 2 == 0, -numbers, numbers).astype(array.dtype)
    return signed if holds(signed, item.domain) else np.asarray(numbers, array.dtype)


def _from_a_seed(subject: Subject) -> Iterator[Subject]:
    """Propose numbers drawn from a seed for each large input. A report then has the seed instead of the numbers."""
    tensors = subject.case.tensors
    for item in subject.case.bound.inputs:
        name, dtype = item.value.name, item.value.type.dtype
        array = tensors[name]
        if array.size > MANY and dtype in SEEDED:
            made = seeded(array.shape, dtype)
            yield subject.with_graph(subject.graph, {**tensors, name: made if holds(made, item.domain) else array})


def _whole(item: Input, array: Array) -> Array:
    """Round each number away from zero."""
    if not item.value.type.dtype.is_float:
        return array
    return np.where(array < 0, np.floor(array), np.ceil(array)).astype(array.dtype)


def _only_nonfinite(item: Input, array: Array) -> Array:
    """Keep NaN and the infinities, and replace all other numbers by 0."""
    if not item.value.type.dtype.is_float:
        return array
    return np.where(np.isfinite(array), np.zeros_like(array), array).astype(array.dtype)


MAKERS: tuple[Maker, ...] = (
    lambda item, array: plain(item),
    lambda item, array: np.ones_like(array),
    counted,
    _whole,
    _only_nonfinite,
)


def value_complexity(array: Array) -> int:
    """Return how complex an array is, in the order of `MAKERS`: 0 for only zeros or only ones, 5 at most."""
    if holds_floats(array) and not bool(np.isfinite(array).all()):
        return 4 + bool(np.any(np.isfinite(array) & (array != 0)))
    if array.size == 0 or (bool(np.all(array == array.flat[0])) and float(array.flat[0]) in (0.0, 1.0)):
        return 0
    counted = np.arange(1, array.size + 1).reshape(array.shape)
    if array.dtype == np.bool_:
        return 1 if bool(np.all(array == (counted % 2 == 1))) else 2
    if bool(np.all(np.abs(array) == counted)):
        return 1
    return 2 if bool(np.all(array == np.rint(array))) or _is_seeded(array) else 3


def _is_seeded(array: Array) -> bool:
    known = DType.of(array.dtype)
    if known is None or known not in SEEDED or array.size <= MANY:
        return False
    return bool(np.array_equal(array, seeded(array.shape, known)))
