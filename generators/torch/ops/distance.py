"""Distances and similarities of vectors, and torch.nn.Bilinear."""

from __future__ import annotations

from collections.abc import Callable
from math import isinf

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attr, Attrs, DType, Form, TensorType, Value
from generators.op import BOOL, INT, NUMBER, Layer, Op, Types, int_of, number_of, one_of, require
from generators.shared.sizes import broadcast, product
from generators.torch.ops.keywords import order_of
from generators.torch.ops.magnitude import ORDER
from generators.torch.ops.operands import partner
from generators.torch.ops.rules import (
    NUMERIC,
    SINGLE_AND_DOUBLE,
    axis_of,
    floating,
    join,
    promote,
    require_dtype,
    require_same_dtype,
)

_ORDERS: tuple[Attr, ...] = (2.0, 2.0, 2.0, 1, 3.0, "inf")


def order(source: ChoiceSource, dtype: DType) -> Attr:
    """The order of a norm. Small orders give numbers that float16 cannot hold."""
    return source.choice(_ORDERS if dtype is DType.FLOAT16 else (*_ORDERS, 0.5, 0))


def distances(x: TensorType, y: TensorType, attrs: Attrs) -> TensorType:
    """The distance from each vector of `x` to the one of `y`."""
    require_dtype((x, y), *NUMERIC)
    shape = broadcast(x.sizes, y.sizes)
    require(not isinf(order_of(attrs)) or 0 not in shape[-1:], f"there is no largest difference between {x} and {y}")
    return TensorType(floating(promote((x, y))), shape)


def _two(*dtypes: DType) -> Callable[[Builder], tuple[Value, ...]]:
    """Tensors that broadcast: mostly of one float dtype, or the second one of `dtypes`."""

    def operands(b: Builder) -> tuple[Value, ...]:
        x = b.tensor(FLOATS)
        others = dtypes if dtypes and b.source.chance(20) else (x.type.dtype,)
        if b.source.chance(30):
            return x, partner(b, x.type, others)
        wanted = x.type.with_dtype(b.source.choice(others))
        return x, b.pick(lambda t: t == wanted, lambda: wanted)

    return operands


def _pairwise_distance(types: Types, attrs: Attrs) -> TensorType:
    apart = distances(types[0], types[1], attrs)
    return apart.with_shape(*apart.sizes[:-1], *((1,) if attrs["keepdim"] and apart.rank else ()))


def _pairwise_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {
        "p": order(source, promote(types)),
        "eps": source.choice((1e-6, 1e-6, 1e-3, 0.5, 0)),
        "keepdim": source.chance(40),
    }


def _last(types: Types, attrs: Attrs) -> int:
    """The number of differences and 1: a single difference must round its operands too."""
    return 1 + product(broadcast(types[0].sizes, types[1].sizes)[-1:])


def _half(types: Types) -> bool:
    return DType.FLOAT16 in (t.dtype for t in types)


def _cosine_similarity(types: Types, attrs: Attrs) -> TensorType:
    """For zeros, an eps that float16 rounds to 0 would give 0/0."""
    dtype, shape = join(types[0].dtype, types[1].dtype), broadcast(types[0].sizes, types[1].sizes)
    require(dtype.is_float, f"is not defined for {dtype}")
    least = 2**-14 if _half(types) else 0
    require(number_of(attrs, "eps") >= least, f"eps must not be below {least}")
    axis = axis_of(int_of(attrs, "dim"), len(shape))
    return TensorType(dtype, tuple(size for i, size in enumerate(shape) if i != axis))


def _cosine_attrs(source: ChoiceSource, types: Types) -> Attrs:
    bound = max(*(t.rank for t in types), 1)
    return {
        "dim": source.integer(-bound, bound - 1),
        "eps": source.choice((1e-3, 1e-3, 0.5) if _half(types) else (1e-8, 1e-8, 1e-3, 0.5)),
    }


def _cosine_terms(types: Types, attrs: Attrs) -> int:
    shape = broadcast(types[0].sizes, types[1].sizes)
    return max(1, shape[axis_of(int_of(attrs, "dim"), len(shape))]) + 1 if shape else 2


_MODES = one_of("use_mm_for_euclid_dist_if_necessary", "donot_use_mm_for_euclid_dist")
_FEW = 25
"""The most rows for which PyTorch does not compute Euclidean distances by a matrix product, which cancels."""


def _cdist(types: Types, attrs: Attrs) -> TensorType:
    x, y = types
    require_dtype(types, *SINGLE_AND_DOUBLE)
    require_same_dtype(types)
    require(x.rank >= 2 and y.rank >= 2, f"cdist takes matrices, not {x} and {y}")
    require(x.sizes[-1] == y.sizes[-1], f"rows of {x} and {y} differ in length")
    rows = x.sizes[-2], y.sizes[-2]
    few = order_of(attrs) != 2 or attrs["compute_mode"] == "donot_use_mm_for_euclid_dist"
    require(few or max(rows) <= _FEW, f"{rows} are too many rows for {attrs['compute_mode']}")
    return x.with_shape(*broadcast(x.sizes[:-2], y.sizes[:-2]), *rows)


def _cdist_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(SINGLE_AND_DOUBLE, ranks=(2, 4))
    *lead, _, columns = x.type.sizes
    if b.source.chance(20):
        lead = lead[1:]
    fresh = TensorType(x.type.dtype, (*lead, b.source.integer(1, 6), columns))
    return x, b.pick(
        lambda t: (
            t.dtype == fresh.dtype and t.rank == fresh.rank and t.sizes[:-2] == (*lead,) and t.sizes[-1] == columns
        ),
        lambda: fresh,
    )


def _cdist_attrs(source: ChoiceSource, types: Types) -> Attrs:
    few = max(t.sizes[-2] for t in types) <= _FEW and source.chance(60)
    mode = "use_mm_for_euclid_dist_if_necessary" if few else "donot_use_mm_for_euclid_dist"
    return {"p": order(source, types[0].dtype), "compute_mode": mode}


def _bilinear(types: Types, attrs: Attrs) -> TensorType:
    x, y, weight, *bias = types
    require_dtype(types, *NUMERIC)
    require_same_dtype(types)
    require(x.rank == y.rank > 0 and x.sizes[:-1] == y.sizes[:-1], f"{x} and {y} differ in more than features")
    fits = weight.rank == 3 and weight.sizes[1:] == (x.sizes[-1], y.sizes[-1]) and product(weight.sizes[1:]) > 0
    require(fits, f"{weight} does not fit {x} and {y}")
    require(all(t.sizes == weight.sizes[:1] for t in bias), f"the bias must be [{weight.sizes[0]}]")
    return x.with_shape(*x.sizes[:-1], weight.sizes[0])


def _bilinear_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS if b.source.chance(85) else NUMERIC, ranks=(1, 4))
    dtype, (*lead, first) = x.type.dtype, x.type.sizes
    fresh = TensorType(dtype, (*lead, b.source.integer(1, 4)))
    y = b.pick(lambda t: t.dtype == dtype and t.rank == x.type.rank and t.sizes[:-1] == (*lead,), lambda: fresh)
    out = b.source.integer(1, 4)
    bias = (b.param(dtype, out),) if b.source.chance(60) else ()
    return x, y, b.param(dtype, out, first, y.type.sizes[-1]), *bias


def _bilinear_layer(types: Types, attrs: Attrs) -> str:
    out, first, second = types[2].sizes
    return f"torch.nn.Bilinear({first}, {second}, {out}{'' if len(types) > 3 else ', bias=False'})"


OPS = (
    Op(
        "cosine_similarity",
        _two(),  # of two dtypes, PyTorch computes each norm in its own, and the envelope of the result cannot show it
        _cosine_similarity,
        "F.cosine_similarity({0}, {1}{more})",
        _cosine_attrs,
        {"dim": INT, "eps": NUMBER},
        {"dim": 1, "eps": 1e-8},
        arity=(2, 2),
        terms=_cosine_terms,
        forms={
            Form.FUNCTION: "torch.cosine_similarity({0}, {1}{more})",
            Form.MODULE: Layer("torch.nn.CosineSimilarity(dim={dim}{more})", inputs=2, call="{self}({0}, {1})"),
        },
    ),
    Op(
        "pairwise_distance",
        _two(*NUMERIC),
        _pairwise_distance,
        "F.pairwise_distance({0}, {1}{more})",
        _pairwise_attrs,
        {"p": ORDER, "eps": NUMBER, "keepdim": BOOL},
        {"p": 2.0, "eps": 1e-6, "keepdim": False},
        arity=(2, 2),
        terms=_last,
        forms={
            Form.FUNCTION: "torch.pairwise_distance({0}, {1}{more})",
            Form.MODULE: Layer("torch.nn.PairwiseDistance(p={p}{more})", inputs=2, call="{self}({0}, {1})"),
        },
    ),
    Op(
        "cdist",
        _cdist_operands,
        _cdist,
        "torch.cdist({0}, {1}{more})",
        _cdist_attrs,
        {"p": ORDER, "compute_mode": _MODES},
        {"p": 2.0, "compute_mode": "use_mm_for_euclid_dist_if_necessary"},
        arity=(2, 2),
        terms=lambda types, attrs: 1 + types[0].sizes[-1],
    ),
    Op(
        "bilinear",
        _bilinear_operands,
        _bilinear,
        "F.bilinear({args})",
        arity=(3, 4),
        terms=lambda types, attrs: product(types[2].sizes[1:]),
        forms={
            Form.MODULE: Layer(
                _bilinear_layer,
                ("weight", "bias"),
                inputs=2,
                call="{self}({0}, {1})",
                when=lambda types, attrs: types[0].dtype.is_float,
            )
        },
        plainer="matmul",
    ),
)
