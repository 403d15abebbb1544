"""Pads of the last dimensions, with positive and negative amounts on any side.

`pad` is PyTorch's: (left, right) of the last dimension first. A negative amount crops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from generators.choice import ChoiceSource
from generators.graph import Attr, Attrs, DType, Form, TensorType
from generators.op import INTS, SCALAR, Layer, Op, Types, ints_of, optional, require
from generators.torch.ops.operands import one
from generators.torch.ops.rules import ALL, NUMERIC, require_dtype

Largest = Callable[[int, int], int]
"""(size, size after cropping) -> the largest amount."""


def _pairs(attrs: Attrs) -> list[tuple[int, int]]:
    pad = ints_of(attrs, "pad")
    require(len(pad) % 2 == 0, f"pad takes pairs, not {len(pad)} amounts")
    return list(zip(pad[::2], pad[1::2], strict=True))


def _kept(size: int, pair: tuple[int, int]) -> int:
    """The size of a dimension after cropping."""
    return size + min(pair[0], 0) + min(pair[1], 0)


def _padded(x: TensorType, pairs: Sequence[tuple[int, int]]) -> TensorType:
    lead = x.rank - len(pairs)
    sizes = zip(x.sizes[lead:], reversed(pairs), strict=True)
    return x.with_shape(*x.sizes[:lead], *(size + left + right for size, (left, right) in sizes))


def _draw_pair(source: ChoiceSource, size: int, largest: Largest, least: int) -> tuple[int, int]:
    """A third of the amounts crop, and leave at least `least`; sometimes an amount is large."""
    most = 4 if source.chance(95) else 40

    def amount(kept: int) -> int:
        if kept > least and source.chance(35):
            return source.integer(least - kept, -1)
        return source.integer(0, max(0, min(largest(size, kept), most)))

    left = amount(size)
    right = amount(size + min(left, 0))
    return min(left, max(0, largest(size, size + min(right, 0)))), right


def _anything(size: int, kept: int) -> int:
    return 1 << 16


# --- with a constant: any number of dimensions


def _constant(types: Types, attrs: Attrs) -> TensorType:
    (x,), pairs = types, _pairs(attrs)
    require(len(pairs) <= x.rank, f"pad of {len(pairs)} dimensions does not fit {x}")
    for size, pair in zip(reversed(x.sizes), pairs, strict=False):
        require(_kept(size, pair) >= 0, f"pad {pair} crops more than size {size}")
    value = attrs["value"]
    if isinstance(value, int | float) and x.dtype is not DType.BOOL:
        low, high = _range(x.dtype)
        require(low <= value <= high, f"{x.dtype} cannot hold {value}")
    return _padded(x, pairs)


def _range(dtype: DType) -> tuple[float, float]:
    return (-_LARGEST[dtype], _LARGEST[dtype]) if dtype.is_float else dtype.range


_LARGEST = {
    DType.FLOAT64: math.inf,
    DType.FLOAT32: (2 - 2**-23) * 2.0**127,
    DType.BFLOAT16: (2 - 2**-7) * 2.0**127,
    DType.FLOAT16: 65504.0,
}


def _constant_attrs(source: ChoiceSource, types: Types) -> Attrs:
    (x,) = types
    pad: list[int] = []
    for axis in range(1, source.integer(0 if x.rank == 0 or source.chance(5) else 1, x.rank) + 1):
        pad += _draw_pair(source, x.sizes[-axis], _anything, 0 if source.chance(5) else 1)
    return {"pad": tuple(pad), "value": _value(source, x.dtype)}


def _value(source: ChoiceSource, dtype: DType) -> Attr:
    """PyTorch converts the number to the tensor's dtype as C does: 1.5 becomes 1 for integers, and true for bool."""
    if source.chance(40):
        return None
    value = source.choice((0, 1, 2, 7, 0.0, 0.5, 1.5) if dtype is DType.UINT8 else (0, 1, -2, 0.0, 0.5, -1.5))
    return value if dtype.is_float or source.chance(15) else bool(value) if dtype is DType.BOOL else int(value)


def _constant_layer(types: Types, attrs: Attrs) -> str:
    pad, value = ints_of(attrs, "pad"), attrs["value"]
    if value is None:
        return f"torch.nn.ZeroPad{len(pad) // 2}d({_amounts(pad)})"
    return f"torch.nn.ConstantPad{len(pad) // 2}d({_amounts(pad)}, {value!r})"


def _amounts(pad: tuple[int, ...]) -> str:
    """Return the argument of a layer, which accepts one number for all sides."""
    return repr(pad if len(set(pad)) > 1 else pad[0])


def _has_layer(types: Types, attrs: Attrs) -> bool:
    return 1 <= len(_pairs(attrs)) <= 3


CONSTANT = Op(
    "pad_constant",
    lambda b: (b.tensor(ranks=(0 if b.source.chance(10) else 1, 5)),),
    _constant,
    'F.pad({0}, {pad}, mode="constant"{more})',
    _constant_attrs,
    {"pad": INTS, "value": optional(SCALAR)},
    {"value": None},
    forms={
        Form.FUNCTION: "torch.constant_pad_nd({0}, {pad}{more})",
        Form.MODULE: Layer(_constant_layer, when=_has_layer),
    },
)


# --- with elements of the tensor: (N, C, spatial...) or (C, spatial...)


def _copied(mode: str, layer: str, dtypes: Sequence[DType], largest: Largest) -> Op:
    """Reflect and replicate also read cropped elements, so they work where cropping leaves none. Only circular may give
    an empty result (the checks of the others are incomplete)."""

    def infer(types: Types, attrs: Attrs) -> TensorType:
        require_dtype(types, *dtypes)
        (x,), pairs = types, _pairs(attrs)
        require(1 <= len(pairs) <= 3, "this mode pads 1 to 3 dimensions")
        lead = x.rank - len(pairs)
        require(lead in (1, 2), f"pad of {len(pairs)} dimensions takes rank + 1 or + 2, not {x}")
        circular = mode == "circular"
        require(circular or min(x.sizes[lead - 1 :]) > 0, f"takes no empty dimension but the batch, as {x}")
        for size, pair in zip(reversed(x.sizes[lead:]), pairs, strict=False):
            limit = largest(size, _kept(size, pair))
            require(sum(pair) + size > -circular, f"pad {pair} crops all of size {size}")
            require(max(pair) <= limit, f"pad {pair} is more than {limit}, the most for size {size}")
        return _padded(x, pairs)

    def attrs(source: ChoiceSource, types: Types) -> Attrs:
        (x,) = types
        lead = source.choice([lead for lead in (1, 2) if 1 <= x.rank - lead <= 3])
        pad: list[int] = []
        for size in reversed(x.sizes[lead:]):
            pad += _draw_pair(source, size, largest, 0 if source.chance(5) else 1)
        return {"pad": tuple(pad)}

    def make(types: Types, attrs: Attrs) -> str:
        pad = ints_of(attrs, "pad")
        return f"torch.nn.{layer}{len(pad) // 2}d({_amounts(pad)})"

    return Op(
        f"pad_{mode}",
        one(dtypes, ranks=(2, 5)),
        infer,
        f'F.pad({{0}}, {{pad}}, mode="{mode}")',
        attrs,
        {"pad": INTS},
        forms={Form.MODULE: Layer(make)},
        plainer="pad_constant",
    )


OPS = (
    CONSTANT,
    _copied("reflect", "ReflectionPad", NUMERIC, lambda size, kept: size - 1),
    _copied("replicate", "ReplicationPad", NUMERIC, _anything),
    # wrapped elements must not be wrapped again: PyTorch would copy elements that it has not written yet
    _copied("circular", "CircularPad", ALL, lambda size, kept: kept),
)
