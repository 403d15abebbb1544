"""Convolutions and transposed convolutions over 1 to 3 dimensions, pools and padding."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attr, Attrs, DType, TensorType, Value
from generators.op import (
    BOOL,
    INTS,
    NUMBER,
    POSITIVE,
    Arithmetic,
    Infer,
    Op,
    Operands,
    Types,
    int_of,
    ints_of,
    number_of,
    one_of,
    optional,
    require,
)
from generators.operator_class import OperatorClass
from generators.relax.ops.operands import FLOATS, NUMERIC, one, owned
from generators.relax.row import row
from generators.shared.sizes import product

KERNELS = {1: (1, 1, 2, 3, 3, 4, 5), 2: (1, 1, 2, 3, 3), 3: (1, 1, 2, 2, 3)}
CHANNELS = (1, 1, 2, 3, 4, 4, 5, 8)
OUT = optional(one_of("float32"))
_CONVOLVED = (DType.FLOAT32, DType.FLOAT64, DType.FLOAT16)

# --- windows


def _windows(sizes: Sequence[int], kernel: Sequence[int], attrs: Attrs) -> list[int]:
    """How often a dilated window fits each padded dimension. With ceil_mode the last one may end behind the padding."""
    nd = len(sizes)
    strides, dilation, padding = (ints_of(attrs, key) for key in ("strides", "dilation", "padding"))
    require(len(strides) == len(dilation) == nd and len(padding) == 2 * nd, f"takes numbers of {nd} dimensions")
    require(min(*strides, *dilation) > 0 and min(padding) >= 0, "strides and dilations are positive")
    found = []
    for axis, size in enumerate(sizes):
        span = size + padding[axis] + padding[nd + axis] - dilation[axis] * (kernel[axis] - 1) - 1
        require(span >= 0, f"a window of {kernel[axis]} is larger than {size}, padded")
        found.append(span // strides[axis] + 1)
    return found


def _steps(source: ChoiceSource, nd: int, percent: int) -> tuple[int, ...]:
    return tuple(source.choice((1, 2, 2, 3)) for _ in range(nd)) if source.chance(percent) else (1,) * nd


def _padding(
    source: ChoiceSource, sizes: Sequence[int], extents: Sequence[int], most: Sequence[int]
) -> tuple[int, ...]:
    """What is added before and after each dimension, so that windows of these extents fit."""
    before, after = [], []
    for size, extent, limit in zip(map(int, sizes), extents, most, strict=True):
        least = max(0, extent - size)
        first, last = (source.choice((0, 0, 1, 1, 2)) for _ in range(2))
        last = first if source.chance(60) else last
        before.append(min(max(first, (least + 1) // 2), limit))
        after.append(min(max(last, least - before[-1]), limit))
    return (*before, *after)


# --- convolutions


def _weighted(nd: int, *, transposed: bool = False) -> Operands:
    def operands(b: Builder) -> tuple[Value, ...]:
        source = b.source
        x = b.tensor(_CONVOLVED, (nd + 2, nd + 2))
        channels, spatial = int(x.type.sizes[1]), x.type.sizes[2:]
        groups = source.choice([g for g in (1, 1, 1, 2, 3, channels) if channels % g == 0])
        kernel = [source.choice([k for k in KERNELS[nd] if k <= size + 2]) for size in spatial]
        room = b.limits.max_numel // max(1, channels * product(kernel))
        out = source.choice([o for o in CHANNELS if o <= max(room, 1)])
        lead = (channels, out) if transposed else (out * groups, channels // groups)
        return x, owned(b, TensorType(x.type.dtype, (*lead, *kernel)))

    return operands


def _convolved(nd: int) -> Infer:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        x, weight = types
        groups = int_of(attrs, "groups")
        require(x.rank == weight.rank == nd + 2 and x.dtype == weight.dtype, f"{weight} is no weight for {x}")
        require(
            x.dtype in _CONVOLVED and x.sizes[1] % groups == 0 and weight.sizes[0] % groups == 0, "groups of channels"
        )
        require(x.sizes[1] == weight.sizes[1] * groups, f"{x} does not fit {weight} in {groups} groups")
        wanted = attrs["out_dtype"]
        found = x.with_shape(x.sizes[0], weight.sizes[0], *_windows(x.sizes[2:], weight.sizes[2:], attrs))
        return found if wanted is None else found.with_dtype(DType(str(wanted)))

    return infer


def _draw_convolution(source: ChoiceSource, types: Types) -> Attrs:
    x, weight = types
    nd, kernel = x.rank - 2, weight.sizes[2:]
    strides, dilation = _steps(source, nd, 50), _steps(source, nd, 30)
    extents = [d * (int(k) - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    wide = x.dtype is DType.FLOAT16 and source.chance(30)
    return {
        "strides": strides,
        "padding": _padding(source, x.sizes[2:], extents, extents),
        "dilation": dilation,
        "groups": int(x.sizes[1] // weight.sizes[1]),
        "out_dtype": "float32" if wide else None,
    }


def _convolution(nd: int) -> Op:
    return row(
        f"nn.conv{nd}d",
        _weighted(nd),
        _convolved(nd),
        _draw_convolution,
        {"strides": INTS, "padding": INTS, "dilation": INTS, "groups": POSITIVE, "out_dtype": OUT},
        arity=2,
        terms=lambda types, attrs: max(1, product(types[1].sizes[1:])),
        arithmetic=Arithmetic.SUM_IN_ANY,
        classes=(OperatorClass.CONVOLUTION_2D,) if nd == 2 else (),
    )


def _transposed(nd: int) -> Infer:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        x, weight = types
        groups = int_of(attrs, "groups")
        require(x.rank == weight.rank == nd + 2 and x.dtype == weight.dtype, f"{weight} is no weight for {x}")
        require(
            x.dtype in _CONVOLVED and x.sizes[1] == weight.sizes[0] and x.sizes[1] % groups == 0, "groups of channels"
        )
        strides, dilation, padding, extra = (
            ints_of(attrs, key) for key in ("strides", "dilation", "padding", "output_padding")
        )
        dimensions = len(strides) == len(dilation) == len(extra) == nd and len(padding) == 2 * nd
        require(dimensions, f"takes numbers of {nd} dimensions")
        require(min(*strides, *dilation) > 0 and min(padding) >= 0, "strides and dilations are positive")
        sizes = []
        for axis, (size, length) in enumerate(zip(x.sizes[2:], weight.sizes[2:], strict=True)):
            require(0 <= extra[axis] < strides[axis], "output_padding is below the stride")
            whole = strides[axis] * (size - 1) + dilation[axis] * (length - 1) + 1 + extra[axis]
            left = whole - padding[axis] - padding[nd + axis]
            require(left > 0, "padding leaves nothing")
            sizes.append(left)
        return x.with_shape(x.sizes[0], weight.sizes[1] * groups, *sizes)

    return infer


def _draw_transposed(source: ChoiceSource, types: Types) -> Attrs:
    """PyTorch computes the expected values, which has dilations of all, and pads both ends alike."""
    x, _weight = types
    nd = x.rank - 2
    strides = _steps(source, nd, 60)
    sides = tuple(source.choice((0, 0, 1)) for _ in range(nd))
    channels = int(x.sizes[1])
    return {
        "strides": strides,
        "padding": (*sides, *sides),
        "output_padding": tuple(source.integer(0, step - 1) if source.chance(35) else 0 for step in strides),
        "dilation": _steps(source, nd, 20),
        "groups": source.choice([g for g in (1, 1, 2, 3, channels) if channels % g == 0]),
    }


def _transposed_convolution(nd: int) -> Op:
    return row(
        f"nn.conv{nd}d_transpose",
        _weighted(nd, transposed=True),
        _transposed(nd),
        _draw_transposed,
        {"strides": INTS, "padding": INTS, "output_padding": INTS, "dilation": INTS, "groups": POSITIVE},
        arity=2,
        terms=lambda types, attrs: max(1, types[1].sizes[0] // int_of(attrs, "groups") * product(types[1].sizes[2:])),
        arithmetic=Arithmetic.SUM_IN_ANY,
    )


# --- pools


def _pooled(nd: int, *, even: bool) -> Infer:
    """`even`: the padding is that of PyTorch, which computes the expected values: alike at both ends, and at most half
    of the window."""

    def infer(types: Types, attrs: Attrs) -> TensorType:
        x, kernel, padding = types[0], ints_of(attrs, "pool_size"), ints_of(attrs, "padding")
        require(x.rank == nd + 2 and x.dtype in FLOATS, f"takes floats of rank {nd + 2}, not {x}")
        require(
            len(kernel) == nd and min(kernel) > 0 and attrs["ceil_mode"] is False, "takes a window, without ceil_mode"
        )
        require(
            all(2 * side <= kernel[place % nd] for place, side in enumerate(padding)), "pads more than half a window"
        )
        if even:
            least = min(size - length for size, length in zip(x.sizes[2:], kernel, strict=True))
            require(nd < 3 or least >= 0, "a window is larger than a volume")
            require(
                padding[:nd] == padding[nd:] and set(ints_of(attrs, "dilation")) == {1}, "pads unevenly, or dilated"
            )
        return x.with_shape(*x.sizes[:2], *_windows(x.sizes[2:], kernel, attrs))

    return infer


def _draw_pool(source: ChoiceSource, types: Types) -> dict[str, Attr]:
    sizes = types[0].sizes[2:]
    nd = len(sizes)
    kernel = tuple(source.choice([k for k in (1, 2, 2, 3, 3, 4) if k <= size]) for size in sizes)
    sides = tuple(source.integer(0, k // 2) if source.chance(40) else 0 for k in kernel)
    return {
        "pool_size": kernel,
        "strides": _steps(source, nd, 60),
        "padding": (*sides, *sides),
        "dilation": (1,) * nd,
        "ceil_mode": False,
    }


def _draw_max_pool(source: ChoiceSource, types: Types) -> Attrs:
    drawn, sizes = _draw_pool(source, types), types[0].sizes[2:]
    kernel = drawn["pool_size"]
    assert isinstance(kernel, tuple)
    steps = [source.choice((1, 1, 2)) for _ in sizes]
    fits = all(isinstance(k, int) and d * (k - 1) < size for d, k, size in zip(steps, kernel, sizes, strict=True))
    return {**drawn, "dilation": tuple(steps) if fits else drawn["dilation"]}


def _draw_average(source: ChoiceSource, types: Types) -> Attrs:
    return {**_draw_pool(source, types), "count_include_pad": source.chance(50)}


_POOL = {"pool_size": INTS, "strides": INTS, "padding": INTS, "dilation": INTS, "ceil_mode": BOOL}


def _pools(nd: int) -> tuple[Op, ...]:
    images = one(FLOATS, (nd + 2, nd + 2))
    return (
        row(f"nn.max_pool{nd}d", images, _pooled(nd, even=False), _draw_max_pool, _POOL),
        row(
            f"nn.avg_pool{nd}d",
            images,
            _pooled(nd, even=True),
            _draw_average,
            {**_POOL, "count_include_pad": BOOL},
            terms=lambda types, attrs: product(ints_of(attrs, "pool_size")),
            arithmetic=Arithmetic.SUM_IN_ANY,
        ),
        row(
            f"nn.adaptive_avg_pool{nd}d",
            images,
            _adapted(nd),
            _draw_output,
            {"output_size": INTS},
            terms=lambda types, attrs: max(1, product(types[0].sizes[2:])),
            arithmetic=Arithmetic.SUM_IN_ANY,
            plainer=f"nn.avg_pool{nd}d",
        ),
    )


def _adapted(nd: int) -> Infer:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        x, sizes = types[0], ints_of(attrs, "output_size")
        require(x.rank == nd + 2 and x.dtype in FLOATS, f"takes floats of rank {nd + 2}, not {x}")
        require(len(sizes) == nd and min(sizes) > 0, f"takes {nd} sizes")
        return x.with_shape(*x.sizes[:2], *sizes)

    return infer


def _draw_output(source: ChoiceSource, types: Types) -> Attrs:
    return {"output_size": tuple(source.integer(1, min(5, int(size))) for size in types[0].sizes[2:])}


# --- padding


def _padded(types: Types, attrs: Attrs) -> TensorType:
    x, ends = types[0], ints_of(attrs, "pad_width")
    require(
        x.dtype in NUMERIC and len(ends) == 2 * x.rank and min(ends, default=0) >= 0, "takes two numbers for each axis"
    )
    number = number_of(attrs, "pad_value")
    require(x.dtype.is_float or (float(number).is_integer() and number >= 0), f"{x.dtype} cannot hold {number}")
    return x.with_shape(*(size + ends[2 * axis] + ends[2 * axis + 1] for axis, size in enumerate(x.sizes)))


def _draw_padded(source: ChoiceSource, types: Types) -> Attrs:
    x = types[0]
    ends = tuple(source.choice((0, 0, 0, 1, 2)) for _ in range(2 * x.rank))
    return {"pad_width": ends, "pad_mode": "constant", "pad_value": source.choice((0.0, 0.0, 1.0, 2.0))}


_PADDED = {"pad_width": INTS, "pad_mode": one_of("constant"), "pad_value": NUMBER}

OPS = (
    *(_convolution(nd) for nd in (1, 2, 3)),
    *(_transposed_convolution(nd) for nd in (1, 2, 3)),
    *(each for nd in (1, 2, 3) for each in _pools(nd)),
    row("nn.pad", one(NUMERIC, (1, 4)), _padded, _draw_padded, _PADDED),
)
