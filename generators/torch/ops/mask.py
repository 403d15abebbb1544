"""The elements that a mask selects, and the positions of nonzeros. Their number is unknown, so rows return sums."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, DType, Form, TensorType, Value
from generators.op import INT, SCALAR, ZEROS_WHERE_BOOL, Arithmetic, Op, Types, int_of, require, zeros_of
from generators.shared.numbers import require_fits
from generators.shared.sizes import broadcast, product
from generators.torch.ops.indexing import castable, draw_number
from generators.torch.ops.operands import one, partner
from generators.torch.ops.rules import axis_of, require_dtype, summed


def with_mask(b: Builder) -> tuple[Value, Value]:
    """A value and a mask that broadcasts with it; sometimes the mask is larger."""
    x = b.tensor()
    mask = x.type.with_dtype(DType.BOOL)
    if b.source.chance(10) and x.type.rank < 5:
        mask = mask.with_shape(b.source.integer(1, 3), *x.type.shape)
        return x, b.pick(lambda t: t == mask, lambda: mask)
    return x, partner(b, mask, (DType.BOOL,))


def _masked_fill(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types[1:2], DType.BOOL)
    if attrs:
        require_fits(attrs["value"], types[0].dtype)
    else:
        require(types[2].rank == 0, f"the value must be 0-d, not {types[2]}")
    return types[0].with_shape(*broadcast(types[0].sizes, types[1].sizes))


def _with_0d_value(b: Builder) -> tuple[Value, ...]:
    x, mask = with_mask(b)
    return x, mask, castable(b, b.tensor(ranks=(0, 0)), x.type.dtype, checked=True)


def _masked_select_sum(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types[1:], DType.BOOL)
    broadcast(types[0].sizes, types[1].sizes)
    return TensorType(summed(types[0].dtype), ())


def _joint_numel(types: Types, attrs: Attrs) -> int:
    return max(product(broadcast(*(t.sizes for t in types))), 1)


def _getitem_mask_sum(types: Types, attrs: Attrs) -> TensorType:
    x, mask = types
    require_dtype(types[1:], DType.BOOL)
    require(x.sizes[: mask.rank] == mask.sizes, f"a mask {mask} does not fit {x}")
    return TensorType(summed(x.dtype), x.sizes[mask.rank :])


def _leading_mask(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(ranks=(1, 5))
    mask = TensorType(DType.BOOL, x.type.shape[: b.source.integer(1, x.type.rank)])
    return x, b.pick(lambda t: t == mask, lambda: mask)


def _nonzero_sum(types: Types, attrs: Attrs) -> TensorType:
    return TensorType(DType.INT64, (types[0].rank,))


def _nonzero_axis_sum(types: Types, attrs: Attrs) -> TensorType:
    """PyTorch treats a 0-d tensor as one dimension."""
    axis_of(int_of(attrs, "axis"), types[0].rank)
    return TensorType(DType.INT64, ())


def _axis_attrs(source: ChoiceSource, types: Types) -> Attrs:
    rank = max(types[0].rank, 1)
    return {"axis": source.integer(-rank, rank - 1)}


OPS = (
    Op(
        "masked_fill",
        with_mask,
        _masked_fill,
        "torch.masked_fill({0}, {1}, {value})",
        lambda source, types: {"value": draw_number(source, types[0].dtype)},
        {"value": SCALAR},
        arity=(2, 2),
        forms={Form.METHOD: "{0}.masked_fill({1}, {value})", Form.INPLACE: "{0}.masked_fill_({1}, {value})"},
    ),
    Op(
        "masked_fill_tensor",
        _with_0d_value,
        _masked_fill,
        "torch.masked_fill({0}, {1}, {2})",
        arity=(3, 3),
        forms={Form.METHOD: "{0}.masked_fill({1}, {2})", Form.INPLACE: "{0}.masked_fill_({1}, {2})"},
        zero_sensitivity=ZEROS_WHERE_BOOL,
    ),
    Op(
        "masked_select_sum",
        with_mask,
        _masked_select_sum,
        "torch.masked_select({0}, {1}).sum()",
        arity=(2, 2),
        terms=_joint_numel,
        forms={Form.METHOD: "{0}.masked_select({1}).sum()"},
        arithmetic=Arithmetic.SUM,
    ),
    Op(
        "getitem_mask_sum",
        _leading_mask,
        _getitem_mask_sum,
        "{0}[{1}].sum(0)",
        arity=(2, 2),
        terms=lambda types, attrs: max(types[1].numel, 1),
        arithmetic=Arithmetic.SUM,
    ),
    Op(
        "nonzero_sum",
        one(),
        _nonzero_sum,
        "torch.nonzero({0}).sum(0)",
        forms={Form.METHOD: "{0}.nonzero().sum(0)"},
        zero_sensitivity=zeros_of(0),
    ),
    Op(
        "argwhere_sum",
        one(),
        _nonzero_sum,
        "torch.argwhere({0}).sum(0)",
        forms={Form.METHOD: "{0}.argwhere().sum(0)"},
        zero_sensitivity=zeros_of(0),
    ),
    Op(
        "nonzero_axis_sum",
        one(),
        _nonzero_axis_sum,
        "torch.nonzero({0}, as_tuple=True)[{axis}].sum()",
        _axis_attrs,
        {"axis": INT},
        zero_sensitivity=zeros_of(0),
    ),
    Op(
        "where_axis_sum",
        one(),
        _nonzero_axis_sum,
        "torch.where({0})[{axis}].sum()",
        _axis_attrs,
        {"axis": INT},
        zero_sensitivity=zeros_of(0),
    ),
)
