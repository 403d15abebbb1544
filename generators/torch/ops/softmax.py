"""Softmax and other normalisations without parameters."""

from __future__ import annotations

from collections.abc import Callable
from math import isinf

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attr, Attrs, DType, Form, TensorType, Value
from generators.op import (
    INT,
    INTS,
    NUMBER,
    OPTIONAL_DTYPE,
    AttrKind,
    Layer,
    Op,
    Types,
    int_of,
    ints_of,
    number_of,
    require,
)
from generators.shared.numbers import require_fits
from generators.shared.sizes import product
from generators.torch.ops.keywords import order_of
from generators.torch.ops.magnitude import ORDER
from generators.torch.ops.operands import one
from generators.torch.ops.rules import ALL, NUMERIC, SINGLE_AND_DOUBLE, axes_of, axis_of, require_dtype, size_along


def _local_response_norm(types: Types, attrs: Attrs) -> TensorType:
    """For rank 5 and more, a `view` inside PyTorch refuses tensors that are not contiguous."""
    (x,) = types
    require(x.rank in (3, 4), f"local_response_norm takes rank 3 or 4, not {x}")
    require_dtype(types, *(FLOATS if x.rank == 3 else SINGLE_AND_DOUBLE), DType.INT64)
    require(int_of(attrs, "size") > 0, "local_response_norm takes a size above 0")
    return x if x.dtype.is_float or not x.numel else x.with_dtype(DType.FLOAT32)


def _local_response_norm_operands(b: Builder) -> tuple[Value, ...]:
    if b.source.chance(50):
        return (b.tensor((*FLOATS, DType.INT64), ranks=(3, 3)),)
    return (b.tensor((*SINGLE_AND_DOUBLE, DType.INT64), ranks=(4, 4)),)


def _local_response_norm_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {
        "size": source.integer(1, min(types[0].sizes[1], 6) + 1),
        "alpha": source.choice((1e-4, 1e-4, 0.5, 1.0, 2)),
        "beta": source.choice((0.75, 0.75, 0.5, 1.0, 2)),
        "k": source.choice((1.0, 1.0, 0.5, 2)),
    }


_ORDERS: tuple[Attr, ...] = (2.0, 2.0, 2.0, 2.0, 1, 3.0, 0.5, 0, "inf")


def _normalize(types: Types, attrs: Attrs) -> TensorType:
    """For zeros, an eps that float16 rounds to 0 would give 0/0."""
    (x,) = types
    require_dtype(types, *FLOATS)
    length, infinite = product(_normalized(types, attrs)), isinf(order_of(attrs))
    require(length > 0 or not infinite, f"there is no largest element in {x}")
    least = 2**-14 if x.dtype is DType.FLOAT16 else 0
    require(number_of(attrs, "eps") >= least, f"eps must not be below {least}")
    require_fits(attrs["eps"], x.dtype)
    return x


def _normalized(types: Types, attrs: Attrs) -> list[int]:
    """The sizes of the axes that one norm goes over."""
    (x,), dim = types, attrs["dim"]
    axes = axes_of(ints_of(attrs, "dim") if isinstance(dim, tuple) else (int_of(attrs, "dim"),), x.rank)
    return [x.sizes[axis] for axis in axes or range(x.rank)] if x.rank else []


def _normalize_attrs(source: ChoiceSource, types: Types) -> Attrs:
    rank = types[0].rank
    bound = max(rank, 1)
    axes = [axis - bound if source.chance(40) else axis for axis in source.some(range(rank), 1, 3)] if rank else []
    half = types[0].dtype is DType.FLOAT16
    return {
        "p": source.choice(_ORDERS),
        "dim": tuple(axes) if len(axes) > 1 or source.chance(15) else axes[0] if axes else source.integer(-1, 0),
        "eps": source.choice((1e-3, 1e-3, 0.5) if half else (1e-12, 1e-12, 1e-3, 0.5)),
    }


def _softmax(*dtypes: DType) -> Callable[[Types, Attrs], TensorType]:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        require_dtype(types, *dtypes)
        (x,) = types
        axis_of(int_of(attrs, "dim"), x.rank)
        result = x.dtype if attrs["dtype"] is None else DType(str(attrs["dtype"]))
        require(result.is_float, f"is not defined for {result}")
        return x.with_dtype(result)

    return infer


def _softmax_attrs(source: ChoiceSource, types: Types) -> Attrs:
    (x,) = types
    bound = max(x.rank, 1)
    cast = not x.dtype.is_float or source.chance(20)
    return {"dim": source.integer(-bound, bound - 1), "dtype": source.choice(FLOATS).value if cast else None}


def _softmax_operands(dtypes: tuple[DType, ...]) -> Callable[[Builder], tuple[Value, ...]]:
    return lambda b: (b.tensor(FLOATS if b.source.chance(80) else dtypes),)


def _softmax_layer(types: Types, attrs: Attrs) -> str:
    """There is a separate layer for the channels of images."""
    images = types[0].rank in (3, 4) and attrs["dim"] == -3
    return "torch.nn.Softmax2d()" if images else f"torch.nn.Softmax(dim={attrs['dim']!r})"


def _no_dtype(types: Types, attrs: Attrs) -> bool:
    return attrs["dtype"] is None


def _softmax_row(
    name: str, layer: Layer, scale: float = 0.0, dtypes: tuple[DType, ...] = ALL, plainer: str | None = "softmax"
) -> Op:
    function = f"F.{name}({{0}}, dim={{dim}}{{more}})"
    written = {Form.FUNCTION: function, Form.METHOD: f"{{0}}.{name}({{dim}}{{more}})"}
    everywhere = name != "softmin"  # softmin is in torch.nn only
    return Op(
        name,
        _softmax_operands(dtypes),
        _softmax(*dtypes),
        f"torch.{name}({{0}}, dim={{dim}}{{more}})" if everywhere else function,
        _softmax_attrs,
        {"dim": INT, "dtype": OPTIONAL_DTYPE},
        {"dtype": None},
        terms=lambda types, attrs: max(1, size_along(types[0], int_of(attrs, "dim"))),
        scale=scale,
        forms={**(written if everywhere else {}), Form.MODULE: layer},
        plainer=plainer,
    )


OPS = (
    Op(
        "local_response_norm",
        _local_response_norm_operands,
        _local_response_norm,
        "F.local_response_norm({0}, {size}{more})",
        _local_response_norm_attrs,
        {"size": INT, "alpha": NUMBER, "beta": NUMBER, "k": NUMBER},
        {"alpha": 1e-4, "beta": 0.75, "k": 1.0},
        terms=lambda types, attrs: int_of(attrs, "size"),
        forms={Form.MODULE: Layer("torch.nn.LocalResponseNorm({size}{more})")},
        view=True,  # it returns an empty input
    ),
    Op(
        "normalize",
        one(FLOATS),
        _normalize,
        "F.normalize({0}{more})",
        _normalize_attrs,
        {"p": ORDER, "dim": AttrKind("an axis or several", lambda v: INT.accepts(v) or INTS.accepts(v)), "eps": NUMBER},
        {"p": 2.0, "dim": 1, "eps": 1e-12},
        terms=lambda types, attrs: max(1, product(_normalized(types, attrs))),
    ),
    _softmax_row("softmax", Layer(_softmax_layer, when=_no_dtype), plainer=None),
    _softmax_row("log_softmax", Layer("torch.nn.LogSoftmax(dim={dim})"), scale=1.0),
    _softmax_row("softmin", Layer("torch.nn.Softmin(dim={dim})"), dtypes=NUMERIC),
)
