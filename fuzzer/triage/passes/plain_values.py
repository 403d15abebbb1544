"""Plainer numbers: zeros or ones, then a short count, then whole numbers (of many, those of a seed), then zeros beside
what is not finite.

A domain is never left."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from fuzzer.triage.passes.base import Subject
from generators.graph import Array, DType, Input, holds_floats
from generators.values import holds, plain, seeded

MANY = 24
"""Numbers from which on nobody reads them."""

SEEDED = (DType.FLOAT32, DType.FLOAT64)

Maker = Callable[[Input, Array], Array]


def plain_values(subject: Subject) -> Iterator[Subject]:
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
    """The plainer array, as far as the input's domain has it."""
    plainer = make(item, array)
    return plainer if holds(plainer, item.domain) else array


def _counted(item: Input, array: Array) -> Array:
    """1, 2, 3, ... in order; every other one negative where dtype and domain allow."""
    numbers = np.arange(1, array.size + 1).reshape(array.shape)
    if array.dtype == np.bool_:
        return np.asarray(numbers % 2 == 1)
    if array.dtype == np.uint8:
        return np.asarray(numbers, array.dtype)
    signed: Array = np.where(numbers % 2 == 0, -numbers, numbers).astype(array.dtype)
    return signed if holds(signed, item.domain) else np.asarray(numbers, array.dtype)


def _from_a_seed(subject: Subject) -> Iterator[Subject]:
    """Many numbers, from a seed: a report then says the seed. Few are better whole."""
    tensors = subject.case.tensors
    for item in subject.case.bound.inputs:
        name, dtype = item.value.name, item.value.type.dtype
        array = tensors[name]
        if array.size > MANY and dtype in SEEDED:
            made = seeded(array.shape, dtype)
            yield subject.with_graph(subject.graph, {**tensors, name: made if holds(made, item.domain) else array})


def _whole(item: Input, array: Array) -> Array:
    """Each number rounded away from zero."""
    if not item.value.type.dtype.is_float:
        return array
    return np.where(array < 0, np.floor(array), np.ceil(array)).astype(array.dtype)


def _odd_alone(item: Input, array: Array) -> Array:
    """NaN and infinities where they are, zeros elsewhere."""
    if not item.value.type.dtype.is_float:
        return array
    return np.where(np.isfinite(array), np.zeros_like(array), array).astype(array.dtype)


MAKERS: tuple[Maker, ...] = (
    lambda item, array: plain(item),
    lambda item, array: np.ones_like(array),
    _counted,
    _whole,
    _odd_alone,
)


def value_complexity(array: Array) -> int:
    """How plain an array is, in the order of the candidates above: 0 is the plainest. What is not finite comes last."""
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
    known = next((dtype for dtype in SEEDED if dtype.numpy == array.dtype), None)
    return known is not None and array.size > MANY and bool(np.array_equal(array, seeded(array.shape, known)))
