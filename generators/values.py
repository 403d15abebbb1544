"""The numbers that go into a case.

The normal profile always has negative numbers and zeros in it, and differs from tensor to tensor: bugs hide from
inputs that all look alike.
"""

from __future__ import annotations

import numpy as np

from generators.choice import ChoiceSource
from generators.graph import Array, Domain, DType, Input, Role


def draw(source: ChoiceSource, item: Input) -> Array:
    """An array for an input of a bound graph, within its domain."""
    dtype, shape, rng = item.value.type.dtype, item.value.type.sizes, source.rng()
    if dtype is DType.BOOL:
        return np.asarray(rng.random(shape) < 0.5)
    if dtype is DType.INT64:
        return np.asarray(_in_domain(rng.integers(-9, 10, shape), item.domain, 1), np.int64)
    style = source.choice(("gauss", "integers", "wide"))
    if style == "integers":
        array = rng.integers(-4, 5, shape).astype(np.float64)
    elif style == "gauss":
        array = rng.normal(0.0, 0.5 if item.role is Role.PARAM else 1.0, shape)
    else:
        array = rng.uniform(-10.0, 10.0, shape)
    array = np.where(rng.random(shape) < 0.08, 0.0, array)
    return np.asarray(_in_domain(array, item.domain, 0.5), dtype.numpy)


def plain(item: Input) -> Array:
    """The plainest array of an input's domain: zeros where it may, else ones."""
    type = item.value.type
    make = np.zeros if item.domain is Domain.ANY else np.ones
    return make(type.sizes, type.dtype.numpy)


def _in_domain(array: Array, domain: Domain, least: float) -> Array:
    """Numbers moved away from zero by `least` where the domain asks for it."""
    match domain:
        case Domain.ANY:
            return array
        case Domain.POSITIVE:
            return np.abs(array) + least
        case Domain.NONZERO:
            return np.where(array < 0, array - least, array + least)
