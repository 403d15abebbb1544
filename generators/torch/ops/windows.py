"""Shared by rows over sliding windows: one number for all dimensions, or one for each."""

from __future__ import annotations

from collections.abc import Sequence

from generators.choice import ChoiceSource
from generators.graph import Attr, Attrs
from generators.op import INT, INTS, AttrKind, int_of, ints_of, optional, require

EACH = AttrKind("a number, or one for each dimension", lambda v: INT.accepts(v) or (INTS.accepts(v) and v != ()))
OPTIONAL_EACH = optional(EACH)


def each(attrs: Attrs, key: str, nd: int, *, single: bool = True) -> tuple[int, ...]:
    """The numbers of the `nd` dimensions. Most of PyTorch's functions also repeat a `single` number in a list."""
    value = attrs[key]
    if not isinstance(value, tuple):
        return (int_of(attrs, key),) * nd
    require(len(value) == nd or (single and len(value) == 1), f"{key} takes {nd} numbers, not {len(value)}")
    values = ints_of(attrs, key)
    return values if len(values) == nd else values * nd


def either(source: ChoiceSource, values: Sequence[int], *, single: bool = True) -> Attr:
    """Return equal numbers mostly as one number, which is sometimes in a list."""
    if len(set(values)) > 1 or source.chance(30):
        return tuple(values)
    return (values[0],) if single and source.chance(10) else values[0]


def steps(source: ChoiceSource, nd: int, most: Sequence[int] = (3, 3, 3)) -> list[int]:
    """Draw strides or dilations. Half of the time all are 1."""
    if source.chance(50):
        return [1] * nd
    return [source.choice([step for step in (1, 2, 2, 3) if step <= limit] or [1]) for limit in most[:nd]]


def window(size: int, kernel: int, stride: int, padding: int, dilation: int = 1, ceil: bool = False) -> int:
    """Output size of a sliding window (torch.nn.MaxPool2d, Conv2d). With `ceil`, windows may end beyond the
    right padding, even the only one, but windows that would start there are dropped."""
    require(kernel > 0 and stride > 0 and dilation > 0 and padding >= 0, "kernel, stride, dilation must be positive")
    span = size + 2 * padding - dilation * (kernel - 1) - 1
    out = (-(-span // stride) if ceil else span // stride) + 1
    if ceil and (out - 1) * stride >= size + padding:
        out -= 1
    require(out > 0, f"window of {kernel} (dilation {dilation}) is larger than {size} padded by {padding}")
    return out
