"""Draws the numbers of a case, according to its profile (`generators.graph.Profile`).

The domain of an input takes precedence: an input of indices or of positive numbers holds such numbers in every profile.
Each tensor is drawn in a style of its own, because inputs that are all alike would miss bugs.
"""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np

from generators.choice import ChoiceSource
from generators.domain import ANY, Bounds, Domain
from generators.graph import Array, DType, Graph, Input, Layout, Profile, Role

Rng = np.random.Generator

WEIGHTS = ((Profile.NORMAL, 82), (Profile.EDGE, 10), (Profile.SPECIAL, 5), (Profile.EXTREME, 3))
"""How often each profile is drawn, in percent."""


def draw_profile(source: ChoiceSource) -> Profile:
    number = source.integer(1, 100)
    for profile, weight in WEIGHTS:
        number -= weight
        if number <= 0:
            return profile
    raise AssertionError("the weights add up to 100")


def may_be_extreme(graph: Graph) -> bool:
    """Whether a case of this graph can have the extreme profile: an input can hold the ends of an integer range."""
    return any(i.domain == ANY and i.value.type.dtype.is_integer and i.value.type.numel for i in graph.inputs)


def draw(source: ChoiceSource, item: Input, profile: Profile = Profile.NORMAL, rng: Rng | None = None) -> Array:
    """Draw an array for an input of a bound graph. It has the input's type, domain and layout."""
    rng = source.rng() if rng is None else rng
    dtype, shape = item.value.type.dtype, item.value.type.sizes
    if item.layout is Layout.EXPANDED:
        shape = (min(1, shape[0]), *shape[1:])
    if item.domain.bounds in (Bounds.WITHIN, Bounds.DISTINCT):
        array = _between(rng, item.domain, dtype, shape)
    elif dtype is DType.BOOL:
        array = rng.random(shape) < 0.5
    elif dtype.is_float:
        array = _floats(source, rng, item, profile, shape)
    else:
        array = _integers(rng, item.domain, dtype, profile, shape)
    if item.layout is Layout.EXPANDED:
        array = np.broadcast_to(array, item.value.type.sizes)
    with np.errstate(over="ignore"):
        return np.array(array, dtype.numpy)


def plain(item: Input) -> Array:
    """Return the plainest array of an input's domain: zeros if it allows them, else one number, else an ascending
    sequence along the axis of a `distinct` domain."""
    type, domain = item.value.type, item.domain
    match domain.bounds:
        case Bounds.ANY:
            return np.zeros(type.sizes, type.dtype.numpy)
        case Bounds.POSITIVE | Bounds.NONZERO:
            return np.ones(type.sizes, type.dtype.numpy)
        case Bounds.WITHIN:
            return np.full(type.sizes, min(max(domain.low, 0), domain.high), type.dtype.numpy)
        case Bounds.DISTINCT:
            count = type.sizes[domain.axis]
            first = min(max(domain.low, 0), domain.high - count + 1)
            shape = [count if axis == domain.axis else 1 for axis in range(type.rank)]
            ascending = np.arange(first, first + count).reshape(shape)
            return np.array(np.broadcast_to(ascending, type.sizes), type.dtype.numpy)


def seeded(shape: tuple[int, ...], dtype: DType) -> Array:
    """Return normally distributed numbers, which numpy draws again from the same seed on every machine. For float32 and
    float64 only: the conversion to half precision may be rounded twice."""
    return np.asarray(np.random.RandomState(0).standard_normal(shape)).astype(dtype.numpy)


def holds(array: Array, domain: Domain) -> bool:
    """Whether every number is in the domain. NaN is only in the domain `any`."""
    with np.errstate(invalid="ignore"):  # ml_dtypes reports a comparison with NaN in bfloat16
        return _holds(array, domain)


def _holds(array: Array, domain: Domain) -> bool:
    match domain.bounds:
        case Bounds.ANY:
            return True
        case Bounds.POSITIVE:
            return bool(np.all(array > 0))
        case Bounds.NONZERO:
            return bool(np.all((array > 0) | (array < 0)))
        case Bounds.WITHIN:
            return bool(np.all((array >= domain.low) & (array <= domain.high)))
        case Bounds.DISTINCT:
            inside = np.all((array >= domain.low) & (array <= domain.high))
            return bool(inside) and bool(np.all(np.diff(np.sort(array, domain.axis), axis=domain.axis) > 0))


def _between(rng: Rng, domain: Domain, dtype: DType, shape: tuple[int, ...]) -> Array:
    low, high = domain.low, domain.high
    if domain.bounds is Bounds.DISTINCT:
        longer = list(shape)
        longer[domain.axis] = high - low + 1
        order = rng.random(longer).argsort(domain.axis)
        return low + order[tuple(map(slice, shape))]
    return rng.uniform(low, high, shape) if dtype.is_float else rng.integers(low, high + 1, shape)


# --- floats


def _floats(source: ChoiceSource, rng: Rng, item: Input, profile: Profile, shape: tuple[int, ...]) -> Array:
    if profile is Profile.EDGE:
        array = source.choice(_EDGES)(rng, item.value.type.dtype, shape)
    else:
        array = np.asarray(source.choice(_STYLES)(rng, item.role, shape))
        array[rng.random(shape) < 0.08] = 0.0
        if item.domain.bounds is Bounds.ANY:
            _mix(rng, array, 0.0, -1.0)
    array = _moved(array, item.domain, 0.5)
    if profile is Profile.SPECIAL and item.domain.bounds is Bounds.ANY:
        specials = rng.choice(np.array([np.nan, np.inf, -np.inf, -0.0]), shape)
        array = np.where(rng.random(shape) < 0.12, specials, array)
    return array


def _mix(rng: Rng, array: Array, *numbers: float) -> None:
    """Write at most three numbers to drawn places of the array, if it has at least three elements."""
    if array.size > 2:
        start, step = rng.integers(0, array.size), rng.integers(1, (array.size - 1) // 2 + 1)
        for i, number in enumerate(numbers):
            array.reshape(-1)[(start + i * step) % array.size] = number


def _gauss(rng: Rng, role: Role, shape: tuple[int, ...]) -> Array:
    return rng.standard_normal(shape) * (0.5 if role is Role.PARAM else 1.0)


def _whole(rng: Rng, role: Role, shape: tuple[int, ...]) -> Array:
    return rng.integers(-4, 5, shape).astype(np.float64)


def _wide(rng: Rng, role: Role, shape: tuple[int, ...]) -> Array:
    return rng.uniform(-10.0, 10.0, shape)


_STYLES: tuple[Callable[[Rng, Role, tuple[int, ...]], Array], ...] = (_gauss, _whole, _wide)


def _ties(rng: Rng, dtype: DType, shape: tuple[int, ...]) -> Array:
    return rng.integers(-1, 2, shape).astype(np.float64)


def _halves(rng: Rng, dtype: DType, shape: tuple[int, ...]) -> Array:
    """Numbers halfway between two integers, where rounding to even matters."""
    return rng.integers(-6, 6, shape) + 0.5


def _offset(rng: Rng, dtype: DType, shape: tuple[int, ...]) -> Array:
    """Numbers whose mean is large compared with their spread, so that the computation of a variance cancels."""
    return 512.0 + rng.integers(-3, 4, shape)


def _denormal(rng: Rng, dtype: DType, shape: tuple[int, ...]) -> Array:
    tiny = float(ml_dtypes.finfo(dtype.numpy).smallest_normal)
    return np.where(rng.random(shape) < 0.5, rng.integers(-3, 4, shape) * tiny / 4, rng.standard_normal(shape))


_EDGES: tuple[Callable[[Rng, DType, tuple[int, ...]], Array], ...] = (_ties, _halves, _offset, _denormal)


# --- integers


def _integers(rng: Rng, domain: Domain, dtype: DType, profile: Profile, shape: tuple[int, ...]) -> Array:
    low, high = dtype.range
    most = 1 if profile is Profile.EDGE else 9
    array = rng.integers(max(low, -most), most + 1, shape)
    if domain.bounds is Bounds.ANY:
        few = [0] if low == 0 else [0, -1]
        if profile is Profile.EXTREME:
            high = min(high, np.iinfo(np.int64).max)  # all numbers are drawn as int64
            ends = np.array([low, low + 1, high - 1, high], np.int64)
            array = np.where(rng.random(shape) < 0.5, rng.choice(ends, shape), array)
            few.append(int(rng.choice(ends)))
            if array.size < 3:
                array = np.full(shape, few[-1])
        _mix(rng, array, *few)
    return _moved(array, domain, 1)


def _moved(array: Array, domain: Domain, least: float) -> Array:
    """Return the numbers at a distance of at least `least` from zero, if the domain excludes zero."""
    match domain.bounds:
        case Bounds.POSITIVE:
            return np.abs(array) + least
        case Bounds.NONZERO:
            return np.where(array < 0, array - least, array + least)
        case _:
            return array
