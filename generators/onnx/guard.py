"""Guards: a Clip that a row adds before its own call, so that a computed value is in the range that the call is
defined for. The graph itself shows why a case is valid. Where the opset has no Clip for a dtype, and for NaN, a new
input with a domain takes the place of the value."""

from __future__ import annotations

from generators.builder import Builder
from generators.domain import NONZERO, POSITIVE, Domain, within
from generators.graph import DType, Profile, Value
from generators.onnx.operator import NodeForm
from generators.op import Op, require

LARGEST = {DType.FLOAT16: 2.0**15}
"""The bound of a guard that means 'no bound'; a larger one for the other dtypes. All floats hold both exactly."""


def bounded(b: Builder, value: Value, low: float, high: float, domain: Domain) -> Value:
    """Return the float value after a Clip to [low, high], or a new input of its type in the domain, which is within
    these bounds. In the special profile the value is returned unchanged, because functions are defined for NaN,
    infinities and zeros."""
    if b.profile is Profile.SPECIAL:
        return value
    clip = _clip(b, value.type.dtype)
    if clip is None or b.source.chance(30):
        return b.fresh_input(value.type, domain=domain)
    return _clipped(b, clip, value, low, high)


def finite(b: Builder, value: Value, low: float, high: float) -> Value:
    """Return a value of the same type whose numbers are within [low, high] in every profile. Both are whole numbers.
    What is undefined beyond them is in `generators.undefined`. For integers, the bounds that the dtype cannot hold are
    replaced by the ends of its range."""
    dtype, low, high = value.type.dtype, int(low), int(high)
    if not dtype.is_float:
        low, high = max(low, dtype.range[0]), min(high, dtype.range[1])
        require(low <= high, f"{dtype} has no number within the bounds")
        if (low, high) == dtype.range:
            return value
    clip = _clip(b, dtype)
    if clip is None or b.source.chance(20) or (dtype.is_float and b.profile is Profile.SPECIAL):
        return b.fresh_input(value.type, domain=within(low, high))
    return _clipped(b, clip, value, low, high)


def nonzero(b: Builder, value: Value, dividend: Value) -> Value:
    """Return a divisor that replaces the value. Integers are positive where a node computes the dividend: it may be the
    smallest integer, whose quotient by -1 the dtype cannot hold."""
    dtype = value.type.dtype
    if dtype.is_float and b.profile is Profile.SPECIAL:
        return value
    clip = _clip(b, dtype)
    if clip is not None and b.producer(value.name) and b.source.chance(50):
        return _clipped(b, clip, value, 0.5 if dtype.is_float else 1, 8)
    computed = b.producer(dividend.name) is not None
    return b.fresh_input(value.type, domain=POSITIVE if computed and not dtype.is_float else NONZERO)


def _clip(b: Builder, dtype: DType) -> Op | None:
    """The Clip of the graph's opset, where it takes the dtype."""
    clip = b.dialect.operator_at("Clip", b.opset)
    assert isinstance(clip.source, NodeForm)
    return clip if dtype in clip.source.schema.dtypes("input") else None


def _clipped(b: Builder, clip: Op, value: Value, low: float, high: float) -> Value:
    most = LARGEST.get(value.type.dtype, 2.0**20)
    given = {"min": max(low, -most), "max": min(high, most)}
    if not value.type.dtype.is_float:
        given = {key: int(bound) for key, bound in given.items()}
    return b.emit(clip, (value,), {**clip.defaults, **given})[0]
