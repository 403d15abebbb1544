"""Operators of three tensors that broadcast: products and quotients added, interpolation, selections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attrs, DType, Form, TensorType, Value
from generators.op import NUMBER, Infer, NumericFacts, Op, Operands, Spelling, Types, number_of, require, zeros_of
from generators.shared.sizes import broadcast
from generators.torch.ops.operands import partner
from generators.torch.ops.pairs import (
    ANY_DTYPE,
    ANY_PAIR,
    NUMBERS_ONLY,
    alike,
    another,
    factor,
    nonzero,
    promoted,
    require_fits,
    two_terms,
)
from generators.torch.ops.rules import ALL, NUMERIC, promote, require_same_dtype

# --- inference


def _lerp(types: Types, attrs: Attrs) -> TensorType:
    """A tensor as the weight may have another dtype only if it is 0-d. Then it is included in the promotion."""
    require_same_dtype(types[:2])
    for weight in types[2:]:
        require(not weight.shape or weight.dtype is types[0].dtype, "the weight must be of the operands' dtype")
    return promoted(*FLOATS)(types, attrs)


def _addcmul(types: Types, attrs: Attrs) -> TensorType:
    """For integer results PyTorch truncates a float `value`, but documents that it must be an integer."""
    result, value = NUMBERS_ONLY(types, attrs), number_of(attrs, "value")
    require(result.dtype.is_float or isinstance(value, int), f"value is an integer for {result.dtype}")
    require_fits(value, result.dtype)
    return result


def _addcdiv(types: Types, attrs: Attrs) -> TensorType:
    require(types[1].dtype.is_float or types[2].dtype.is_float, "does not divide integers")
    return _addcmul(types, attrs)


def _where(types: Types, attrs: Attrs) -> TensorType:
    """PyTorch also accepts uint8 as a condition, but warns."""
    require(types[0].dtype is DType.BOOL, f"the condition must be bool, not {types[0].dtype}")
    return TensorType(promote(types[1:]), broadcast(*(t.sizes for t in types)))


def _clamp_tensor(types: Types, attrs: Attrs) -> TensorType:
    return (ANY_DTYPE if len(types) == 2 else NUMBERS_ONLY)(types, attrs)


# --- operands and attributes


def _interpolated(b: Builder) -> tuple[Value, ...]:
    if b.source.chance(80):
        return alike(b, 3, FLOATS)
    return (*alike(b, 2, FLOATS), b.tensor(ALL, ranks=(0, 0)))


def _three(b: Builder, dtypes: Sequence[DType] = NUMERIC) -> tuple[Value, ...]:
    first = b.tensor(dtypes)
    return tuple(b.source.shuffled((first, another(b, first), another(b, first))))


def _three_to_divide(b: Builder) -> tuple[Value, ...]:
    first, second, third = _three(b, FLOATS)
    return first, second, nonzero(b, third)


def _condition_and_branches(b: Builder) -> tuple[Value, ...]:
    condition = b.tensor((DType.BOOL,))
    branch = partner(b, condition.type, (b.dtype(ALL),))
    return condition, *b.source.shuffled((branch, another(b, branch)))


def _value_and_bounds(b: Builder) -> tuple[Value, ...]:
    """A value and one or two bounds. Where min is larger than max, PyTorch returns max."""
    first, second = ANY_PAIR(b)
    return (first, second) if b.source.chance(30) else (first, second, another(b, first))


def _value(source: ChoiceSource, types: Types) -> Attrs:
    """The dtype is never bool, for which these operators are not defined."""
    return {"value": factor(source, promote(types))}


# --- rows


def _method(name: str) -> Spelling:
    """A method with a varying number of operands."""
    return Spelling(lambda args, attrs: f"{args[0]}.{name}({', '.join(args[1:])})")


def _three_row(
    name: str, infer: Infer, operands: Operands, plainer: str | None = None, **facts: Unpack[NumericFacts]
) -> Op:
    return Op(
        name,
        operands,
        infer,
        f"torch.{name}({{0}}, {{1}}, {{2}}{{more}})",
        _value,
        {"value": NUMBER},
        {"value": 1},
        arity=(3, 3),
        terms=two_terms,
        forms={
            Form.METHOD: f"{{0}}.{name}({{1}}, {{2}}{{more}})",
            Form.INPLACE: f"{{0}}.{name}_({{1}}, {{2}}{{more}})",
        },
        plainer=plainer,
        **facts,
    )


OPS = (
    _three_row("addcmul", _addcmul, _three),
    _three_row("addcdiv", _addcdiv, _three_to_divide, zero_sensitivity=zeros_of(2), plainer="addcmul"),
    Op(
        "lerp",
        _interpolated,
        _lerp,
        "torch.lerp({0}, {1}, {2})",
        arity=(3, 3),
        terms=two_terms,
        forms={Form.METHOD: "{0}.lerp({1}, {2})", Form.INPLACE: "{0}.lerp_({1}, {2})"},
        plainer="addcmul",
    ),
    Op(
        "lerp_scalar",
        lambda b: alike(b, 2, FLOATS),
        _lerp,
        "torch.lerp({0}, {1}, {weight})",
        lambda source, types: {"weight": source.choice((0.5, 0.25, 0.9, 0, 1, -0.5, 1.5, 2))},
        {"weight": NUMBER},
        arity=(2, 2),
        terms=two_terms,
        forms={Form.METHOD: "{0}.lerp({1}, {weight})", Form.INPLACE: "{0}.lerp_({1}, {weight})"},
    ),
    Op(
        "clamp_tensor",
        _value_and_bounds,
        _clamp_tensor,
        "torch.clamp({args})",
        arity=(2, 3),
        forms={Form.METHOD: _method("clamp"), Form.INPLACE: _method("clamp_"), Form.FUNCTION: "torch.clip({args})"},
    ),
    Op(
        "where",
        _condition_and_branches,
        _where,
        "torch.where({0}, {1}, {2})",
        arity=(3, 3),
        forms={Form.METHOD: "{1}.where({0}, {2})"},
    ),
)
