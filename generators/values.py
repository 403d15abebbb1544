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
    type, rng = item.value.type, source.rng()
    if type.dtype is DType.BOOL:
        return rng.random(type.sizes) < 0.5
    if type.dtype is DType.INT64:
        return _in_domain(rng.integers(-9, 10, type.sizes), item.domain).astype(np.int64)
    style = source.choice(("gauss", "integers", "wide"))
    if style == "integers":
        array = rng.integers(-4, 5, type.sizes).astype(np.float64)
    elif style == "gauss":
        array = rng.normal(0.0, 0.5 if item.role is Role.PARAM else 1.0, type.sizes)
    else:
        array = rng.uniform(-10.0, 10.0, type.sizes)
    array = np.where(rng.random(type.sizes) < 0.08, 0.0, array)
    return _in_domain(array, item.domain).astype(type.dtype.numpy)


def plain(item: Input) -> Array:
    """The plainest array of an input's domain: zeros where it may, else ones."""
    type = item.value.type
    make = np.zeros if item.domain is Domain.ANY else np.ones
    return make(type.sizes, type.dtype.numpy)


def _in_domain(array: Array, domain: Domain) -> Array:
    numbers = array.astype(np.float64)
    match domain:
        case Domain.ANY:
            return array
        case Domain.POSITIVE:
            return np.abs(numbers) + 0.5
        case Domain.NONZERO:
            return np.where(numbers < 0, numbers - 0.5, numbers + 0.5)
