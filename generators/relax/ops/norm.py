"""Normalisations and softmax."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import POSITIVE as POSITIVE_NUMBERS
from generators.graph import Attr, Attrs, DType, TensorType, Value
from generators.op import (
    BOOL,
    INT,
    INTS,
    NUMBER,
    POSITIVE,
    Arithmetic,
    NumericFacts,
    Types,
    int_of,
    ints_of,
    number_of,
    require,
)
from generators.relax.ops.axes import some_axis
from generators.relax.ops.operands import FLOATS, axes_in, axis_in, one, one_dtype, owned
from generators.relax.row import row
from generators.shared.sizes import product

_FUNCTION: NumericFacts = {"arithmetic": Arithmetic.FUNCTION_IN_ANY}
_NORMALISED = (DType.FLOAT32, DType.FLOAT16)
"""The dtypes that TVM's kernels of normalisations take, as their message says."""
_AFFINE = {"epsilon": NUMBER, "center": BOOL, "scale": BOOL}


def _draw_affine(source: ChoiceSource) -> dict[str, Attr]:
    return {"epsilon": source.choice((1e-5, 1e-3, 0.5)), "center": source.chance(70), "scale": source.chance(70)}


# --- softmax


def _along(types: Types, attrs: Attrs) -> TensorType:
    x = types[0]
    require(x.dtype in FLOATS, f"is not defined for {x.dtype}")
    axis_in(int_of(attrs, "axis"), x.rank)
    return x


def _draw_axis(source: ChoiceSource, types: Types) -> Attrs:
    return {"axis": some_axis(source, types[0].rank)}


def _size_along(types: Types, attrs: Attrs) -> int:
    return max(1, types[0].sizes[axis_in(int_of(attrs, "axis"), types[0].rank)])


# --- dropout


def _dropped(types: Types, attrs: Attrs) -> Types:
    """The original tensor, and the mask of what is kept: all, since nothing trains."""
    require(types[0].dtype in FLOATS and 0 <= number_of(attrs, "rate") < 1, "takes floats, and a rate below 1")
    return types[0], types[0]


# --- over the last axes


def _last_axes(b: Builder) -> tuple[Value, Value, Value]:
    x = b.tensor(_NORMALISED, (1, 4))
    kept = x.type.shape[b.source.integer(max(0, x.type.rank - 2), x.type.rank - 1) :]
    type = TensorType(x.type.dtype, kept)
    return x, owned(b, type), owned(b, type)


def _layer_normal(types: Types, attrs: Attrs) -> TensorType:
    x, *params = types
    one_dtype(types, *_NORMALISED)
    axes = axes_in(ints_of(attrs, "axes"), x.rank)
    sizes = tuple(x.sizes[axis] for axis in axes)
    require(len(axes) > 0 and list(axes) == sorted(axes), f"axes {axes} do not ascend")
    require(all(each.sizes == sizes for each in params), f"parameters are not of {sizes}")
    return x


def _draw_last(source: ChoiceSource, types: Types) -> Attrs:
    return {"axes": _axes_of(types), **_draw_affine(source)}


def _axes_of(types: Types) -> tuple[int, ...]:
    return tuple(range(-types[1].rank, 0))


def _draw_rms(source: ChoiceSource, types: Types) -> Attrs:
    return {"axes": _axes_of(types), "epsilon": source.choice((1e-5, 1e-3, 0.5))}


def _size_of_axes(types: Types, attrs: Attrs) -> int:
    return max(1, product([types[0].sizes[axis] for axis in axes_in(ints_of(attrs, "axes"), types[0].rank)]))


# --- over channels


def _channels(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(_NORMALISED, (3, 4))
    type = TensorType(x.type.dtype, (x.type.shape[1],))
    return x, owned(b, type), owned(b, type)


def _channel_normal(types: Types, attrs: Attrs) -> TensorType:
    x, *params = types
    one_dtype(types, *_NORMALISED)
    channel, axes = int_of(attrs, "channel_axis"), ints_of(attrs, "axes")
    require(x.rank > 2 and channel == 1 and axes == tuple(range(2, x.rank)), "takes channels at axis 1")
    require(all(each.sizes == x.sizes[1:2] for each in params), "a parameter for each channel")
    return x


def _group_normal(types: Types, attrs: Attrs) -> TensorType:
    x = _channel_normal(types, attrs)
    require(x.sizes[1] % int_of(attrs, "num_groups") == 0, "groups of channels")
    return x


def _draw_channels(source: ChoiceSource, types: Types) -> dict[str, Attr]:
    return {"channel_axis": 1, "axes": tuple(range(2, types[0].rank)), **_draw_affine(source)}


def _draw_groups(source: ChoiceSource, types: Types) -> Attrs:
    channels = int(types[0].sizes[1])
    groups = [count for count in range(1, min(channels, 8) + 1) if channels % count == 0]
    return {"num_groups": source.choice(groups), **_draw_channels(source, types)}


def _pixels(types: Types, attrs: Attrs) -> int:
    return max(1, product(types[0].sizes[1:]))


# --- by running statistics


def _statistics(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS, (2, 4))
    axis = 1 if b.source.chance(70) else b.source.integer(0, x.type.rank - 1)
    type = TensorType(x.type.dtype, (x.type.shape[axis],))
    return x, owned(b, type), owned(b, type), owned(b, type), owned(b, type, POSITIVE_NUMBERS)


def _batch_normal(types: Types, attrs: Attrs) -> tuple[TensorType, ...]:
    x, *params = types
    one_dtype(types, *FLOATS)
    axis = axis_in(int_of(attrs, "axis"), x.rank)
    require(attrs["training"] is False, "takes running statistics")
    require(all(each.sizes == (x.sizes[axis],) for each in params), f"parameters are not of {x.sizes[axis]}")
    return x, params[2], params[3]


def _draw_batch(source: ChoiceSource, types: Types) -> Attrs | None:
    x, scale = types[:2]
    axes = [axis for axis, size in enumerate(x.sizes) if scale.sizes == (size,)]
    if not axes:
        return None
    axis = 1 if 1 in axes else source.choice(axes)
    return {"axis": axis, "momentum": 0.1, "training": False, **_draw_affine(source)}


OPS = (
    *(
        row(
            f"nn.{name}",
            one(FLOATS, (1, 4)),
            _along,
            _draw_axis,
            {"axis": INT},
            terms=_size_along,
            may_be_open=True,
            **_FUNCTION,
        )
        for name in ("softmax", "log_softmax")
    ),
    row(
        "nn.dropout",
        one(FLOATS, (0, 4)),
        _dropped,
        lambda source, types: {"rate": source.choice((0.0, 0.25, 0.5))},
        {"rate": NUMBER},
        moves=True,
    ),
    row(
        "nn.layer_norm",
        _last_axes,
        _layer_normal,
        _draw_last,
        {"axes": INTS, **_AFFINE},
        arity=3,
        terms=_size_of_axes,
        **_FUNCTION,
    ),
    row(
        "nn.rms_norm",
        lambda b: _last_axes(b)[:2],
        _layer_normal,
        _draw_rms,
        {"axes": INTS, "epsilon": NUMBER},
        arity=2,
        terms=_size_of_axes,
        **_FUNCTION,
    ),
    row(
        "nn.group_norm",
        _channels,
        _group_normal,
        _draw_groups,
        {"num_groups": POSITIVE, "channel_axis": INT, "axes": INTS, **_AFFINE},
        arity=3,
        terms=_pixels,
        **_FUNCTION,
    ),
    row(
        "nn.instance_norm",
        _channels,
        _channel_normal,
        _draw_channels,
        {"channel_axis": INT, "axes": INTS, **_AFFINE},
        arity=3,
        terms=_pixels,
        **_FUNCTION,
    ),
    row(
        "nn.batch_norm",
        _statistics,
        _batch_normal,
        _draw_batch,
        {"axis": INT, **_AFFINE, "momentum": NUMBER, "training": BOOL},
        arity=5,
        terms=lambda types, attrs: 1,
    ),
)
