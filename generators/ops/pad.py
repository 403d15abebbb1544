"""Pads of the last 1 to 3 dimensions, with positive and negative amounts on any side.

`pad` is PyTorch's: (left, right) of the last dimension first. A negative amount crops.
"""

from __future__ import annotations

from collections.abc import Callable

from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attrs, DType, TensorType
from generators.ops.base import INTS, NUMBER, Op, Types, ints_of, require
from generators.ops.operands import one
from generators.ops.rules import NUMERIC, require_dtype


def _pairs(attrs: Attrs) -> list[tuple[int, int]]:
    pad = ints_of(attrs, "pad")
    require(len(pad) % 2 == 0, f"pad takes pairs, not {len(pad)} amounts")
    return list(zip(pad[::2], pad[1::2], strict=True))


def _padded(x: TensorType, pairs: list[tuple[int, int]]) -> TensorType:
    require(len(pairs) <= x.rank, f"pad of {len(pairs)} dimensions does not fit {x}")
    shape = list(x.sizes)
    for axis, (left, right) in enumerate(pairs, 1):
        kept = shape[-axis] + min(left, 0) + min(right, 0)
        require(kept > 0, f"pad {(left, right)} leaves nothing of size {shape[-axis]}")
        shape[-axis] += left + right
    return x.with_shape(*shape)


def _constant(types: Types, attrs: Attrs) -> TensorType:
    value = attrs["value"]
    require(types[0].dtype.is_float or isinstance(value, int), "an integer tensor takes an integer pad value")
    return _padded(types[0], _pairs(attrs))


Largest = Callable[[int, int], int]  # (size, what negative amounts leave of it) -> the largest amount


def _spatial(largest: Largest, *dtypes: DType) -> Callable[[Types, Attrs], TensorType]:
    """Modes that copy from the tensor: (N, C, spatial...) or (C, spatial...), amounts up to `largest(size)`."""

    def infer(types: Types, attrs: Attrs) -> TensorType:
        require_dtype(types, *dtypes)
        (x,), pairs = types, _pairs(attrs)
        require(1 <= len(pairs) <= 3, "this mode pads 1 to 3 dimensions")
        require(x.rank - len(pairs) in (1, 2), f"pad of {len(pairs)} dimensions takes rank + 1 or + 2, not {x}")
        for axis, pair in enumerate(pairs, 1):
            size = x.sizes[-axis]
            limit = largest(size, size + min(pair[0], 0) + min(pair[1], 0))
            require(max(pair) <= limit, f"pad {pair} is more than {limit}, the most for size {size}")
        return _padded(x, pairs)

    return infer


def _draw_pair(source: ChoiceSource, size: int, largest: Largest) -> tuple[int, int]:
    """Negative about a third of the time; at least one element of the dimension stays."""

    def amount(kept: int) -> int:
        if kept > 1 and source.chance(35):
            return source.integer(-(kept - 1), -1)
        return source.integer(0, min(largest(size, kept), 4))

    left = amount(size)
    right = amount(size + min(left, 0))
    return min(left, largest(size, size + min(right, 0))), right


def _spatial_attrs(largest: Largest) -> Callable[[ChoiceSource, Types], Attrs]:
    def attrs(source: ChoiceSource, types: Types) -> Attrs:
        (x,) = types
        leading = source.choice([lead for lead in (1, 2) if 1 <= x.rank - lead <= 3])
        pad: list[int] = []
        for axis in range(1, x.rank - leading + 1):
            pad += _draw_pair(source, x.sizes[-axis], largest)
        return {"pad": tuple(pad)}

    return attrs


def _constant_attrs(source: ChoiceSource, types: Types) -> Attrs:
    (x,) = types
    pad: list[int] = []
    for axis in range(1, source.integer(1, min(x.rank, 3)) + 1):
        pad += _draw_pair(source, x.sizes[-axis], _anything)
    number = source.choice((0, 0, 1, -2))
    return {"pad": tuple(pad), "value": number / 2 if x.dtype.is_float else number}


def _anything(size: int, kept: int) -> int:
    return 1 << 16


def _mode(mode: str, largest: Largest, *dtypes: DType) -> Op:
    source = f'F.pad({{0}}, {{pad}}, mode="{mode}")'
    return Op(
        f"pad_{mode}",
        one(dtypes, ranks=(2, 5)),
        _spatial(largest, *dtypes),
        source,
        _spatial_attrs(largest),
        {"pad": INTS},
    )


OPS = (
    Op(
        "pad_constant",
        one(NUMERIC, ranks=(1, 5)),
        _constant,
        'F.pad({0}, {pad}, mode="constant", value={value})',
        _constant_attrs,
        {"pad": INTS, "value": NUMBER},
    ),
    _mode("reflect", lambda size, kept: size - 1, *FLOATS),
    _mode("replicate", _anything, *FLOATS),
    # what is wrapped around must not itself be wrapped: PyTorch would copy elements that it has not written yet
    _mode("circular", lambda size, kept: kept, *FLOATS, DType.INT64),
)
