"""Operators of two tensors that broadcast: arithmetic, comparisons, bits, selections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import FLOATS, INTEGERS, Attrs, DType, Form, TensorType, Value
from generators.op import (
    BOOL,
    NUMBER,
    SCALAR,
    ZEROS_OF_BASE,
    ZEROS_WHERE_BOOL,
    Arithmetic,
    Infer,
    NumericFacts,
    Op,
    Operands,
    RowFacts,
    Spelling,
    Types,
    number_of,
    one_term,
    require,
    zeros_of,
)
from generators.operator_class import OperatorClass
from generators.torch.ops.guard import clamped
from generators.torch.ops.pairs import (
    ANY_DTYPE,
    ANY_PAIR,
    FLOAT_OF_ALL,
    NUMBERS_ONLY,
    ROUNDING,
    WHOLE,
    YES_OR_NO,
    alike,
    bounded,
    division_terms,
    factor,
    nonzero,
    pair,
    promoted,
    require_fits,
    rounding_mode,
    two_terms,
)
from generators.torch.ops.rules import ALL, NUMERIC, promote, require_same_dtype
from generators.zero_sensitivity import zeros_agree

# --- inference


def _added(types: Types, attrs: Attrs) -> TensorType:
    result, alpha = ANY_DTYPE(types, attrs), number_of(attrs, "alpha")
    require(result.dtype is DType.BOOL or not isinstance(alpha, bool), "alpha is a boolean for boolean results only")
    require(result.dtype.is_float or not isinstance(alpha, float), f"alpha is an integer for {result.dtype}")
    require_fits(alpha, result.dtype)
    return result


def _subtracted(types: Types, attrs: Attrs) -> TensorType:
    require(all(t.dtype is not DType.BOOL for t in types), "is not defined for bool")
    return _added(types, attrs)


def _divided(types: Types, attrs: Attrs) -> TensorType:
    return (FLOAT_OF_ALL if attrs["rounding_mode"] is None else NUMBERS_ONLY)(types, attrs)


def _heaviside(types: Types, attrs: Attrs) -> TensorType:
    require_same_dtype(types)
    return ANY_DTYPE(types, attrs)


def _isclose(types: Types, attrs: Attrs) -> TensorType:
    require_same_dtype(types)
    require(number_of(attrs, "rtol") >= 0 and number_of(attrs, "atol") >= 0, "tolerances are not negative")
    return YES_OR_NO(types, attrs)


def _ldexp(types: Types, attrs: Attrs) -> TensorType:
    without_kernel = types[0].dtype.is_float and types[1].dtype is DType.BOOL
    require(not without_kernel, "a float times 2 to the power of a bool is not defined")
    return FLOAT_OF_ALL(types, attrs)


# --- operands


def _quotient(b: Builder) -> tuple[Value, ...]:
    first, second = ANY_PAIR(b)
    return first, nonzero(b, second, first)


def _second_within(low: float, high: float, dtypes: Sequence[DType] = ALL) -> Operands:
    def operands(b: Builder) -> tuple[Value, ...]:
        first, second = pair(dtypes)(b)
        return first, bounded(b, second, low, high)

    return operands


def _both_within(low: float, high: float, dtypes: Sequence[DType]) -> Operands:
    def operands(b: Builder) -> tuple[Value, ...]:
        first, second = pair(dtypes)(b)
        return bounded(b, first, low, high), bounded(b, second, low, high)

    return operands


def _sides(b: Builder) -> tuple[Value, ...]:
    """Computed floats are kept away from zero, because the sign of a zero decides about the angle."""
    away = (0.5, 8.0) if b.source.chance(50) else (-8.0, -0.5)
    return tuple(value if zeros_agree(b, value) else clamped(b, value, *away) for value in ANY_PAIR(b))


def _power(b: Builder) -> tuple[Value, ...]:
    """Fractional exponents get a positive base. Integer exponents are not negative: integers would become 0."""
    base, exponent = ANY_PAIR(b)
    if exponent.type.dtype.is_float:
        return bounded(b, base, 0.25, 4.0), bounded(b, exponent, -3.0, 3.0)
    return bounded(b, base, -10.0, 10.0) if base.type.dtype.is_float else base, bounded(b, exponent, 0, 3)


# --- attributes and terms


def _alpha(source: ChoiceSource, types: Types) -> Attrs:
    return {"alpha": factor(source, promote(types))}


def _alpha_terms(types: Types, attrs: Attrs) -> int:
    return 1 if attrs["alpha"] in (1, -1) else 2


def _tolerances(source: ChoiceSource, types: Types) -> Attrs:
    return {
        "rtol": source.choice((1e-5, 1e-5, 0.125, 0.5, 0.0)),
        "atol": source.choice((1e-8, 1e-8, 0.5, 1.0, 0.0)),
        "equal_nan": source.chance(40),
    }


# --- row makers


def _row(
    name: str,
    infer: Infer,
    operands: Operands = ANY_PAIR,
    *,
    sign: str = "",
    alias: str = "",
    inplace: str = "{0}.{name}_({1})",
    **facts: Unpack[RowFacts],
) -> Op:
    """`sign` is the Python operator, `alias` another name of the function."""
    forms = {Form.METHOD: f"{{0}}.{name}({{1}})"}
    if sign:
        forms[Form.OPERATOR] = f"{{0}} {sign} {{1}}"
    if alias:
        forms[Form.FUNCTION] = f"torch.{alias}({{0}}, {{1}})"
    if inplace:
        forms[Form.INPLACE] = inplace.replace("{name}", name).replace("{sign}", sign)
    all_facts: RowFacts = {"arity": (2, 2), "terms": one_term, "plainer": "sub", **facts}
    return Op(name, operands, infer, f"torch.{name}({{0}}, {{1}})", forms=forms, **all_facts)


_ASSIGNED = "{out} = {0}\n{out} {sign}= {1}"


def _assigned(name: str, sign: str, key: str, default: object) -> Spelling:
    """In place: `x += y`, which cannot express the attribute, or x.add_(y, alpha=2)."""

    def source(args: tuple[str, ...], attrs: Attrs) -> str:
        if attrs[key] == default:
            return _ASSIGNED.replace("{sign}", sign).replace("{0}", args[0]).replace("{1}", args[1])
        return f"{args[0]}.{name}_({args[1]}, {key}={attrs[key]!r})"

    return Spelling(source)


def _sum(name: str, infer: Infer, sign: str, alias: str, plainer: str | None = None) -> Op:
    return Op(
        name,
        ANY_PAIR if name == "add" else pair(NUMERIC),
        infer,
        f"torch.{name}({{0}}, {{1}}{{more}})",
        _alpha,
        {"alpha": SCALAR},
        {"alpha": 1},
        arity=(2, 2),
        terms=_alpha_terms,
        forms={
            Form.METHOD: f"{{0}}.{name}({{1}}{{more}})",
            Form.OPERATOR: f"{{0}} {sign} {{1}}",
            Form.INPLACE: _assigned(name, sign, "alpha", 1),
            **({Form.FUNCTION: f"torch.{alias}({{0}}, {{1}}{{more}})"} if alias else {}),
        },
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
        plainer=plainer,
    )


def _selection(name: str, source: str, method: str) -> Op:
    return Op(name, ANY_PAIR, ANY_DTYPE, source, arity=(2, 2), forms={Form.METHOD: method}, plainer="sub")


def _question(name: str, sign: str = "", alias: str = "", *, plainer: str | None, **facts: Unpack[NumericFacts]) -> Op:
    """A comparison or a logical operator: takes all dtypes and gives bool."""
    return _row(name, YES_OR_NO, terms=None, sign=sign, alias=alias, plainer=plainer, **facts)


def _bitwise(name: str, sign: str, inplace: str = _ASSIGNED, plainer: str | None = "bitwise_and") -> Op:
    return _row(name, promoted(*WHOLE), pair(WHOLE), terms=None, sign=sign, inplace=inplace, plainer=plainer)


def _shift(name: str, sign: str) -> Op:
    """Shifts by less than the number of bits of the narrowest dtype, which are defined (`generators.undefined`)."""
    operands = _second_within(0, 7, INTEGERS)
    return _row(name, promoted(*INTEGERS), operands, terms=None, sign=sign, inplace=_ASSIGNED, plainer="bitwise_and")


_FLOAT_PAIR = pair(FLOATS, others=ALL)

OPS = (
    # arithmetic
    _sum("add", _added, "+", "").of_class(OperatorClass.ADDITION),
    _sum("sub", _subtracted, "-", "subtract", plainer="mul"),
    Op(
        "rsub",
        pair(NUMERIC),
        _subtracted,
        "torch.rsub({0}, {1}{more})",
        _alpha,
        {"alpha": SCALAR},
        {"alpha": 1},
        arity=(2, 2),
        terms=_alpha_terms,
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
        plainer="sub",
    ),
    _row(
        "mul",
        ANY_DTYPE,
        sign="*",
        alias="multiply",
        inplace=_ASSIGNED,
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
        plainer="add",
    ).of_class(OperatorClass.PRODUCT),
    Op(
        "div",
        _quotient,
        _divided,
        "torch.div({0}, {1}{more})",
        rounding_mode,
        {"rounding_mode": ROUNDING},
        {"rounding_mode": None},
        arity=(2, 2),
        terms=division_terms,
        forms={
            Form.FUNCTION: "torch.true_divide({0}, {1})",
            Form.METHOD: "{0}.div({1}{more})",
            Form.OPERATOR: "{0} / {1}",
            Form.INPLACE: _assigned("div", "/", "rounding_mode", None),
        },
        arithmetic=Arithmetic.ONE_STEP,
        zero_sensitivity=zeros_of(1),
        plainer="sub",
    ),
    _row(
        "floor_divide",
        NUMBERS_ONLY,
        _quotient,
        terms=two_terms,
        sign="//",
        inplace=_ASSIGNED,
        zero_sensitivity=zeros_of(1),
    ),
    _row("remainder", NUMBERS_ONLY, _quotient, terms=two_terms, sign="%", inplace=_ASSIGNED),
    _row("fmod", NUMBERS_ONLY, _quotient, terms=two_terms),
    _row("pow", NUMBERS_ONLY, _power, sign="**", inplace=_ASSIGNED, zero_sensitivity=ZEROS_OF_BASE),
    _row("float_power", promoted(*ALL, result=lambda dtype: DType.FLOAT64), _power, zero_sensitivity=ZEROS_OF_BASE),
    # functions
    _row("atan2", FLOAT_OF_ALL, _sides, alias="arctan2", zero_sensitivity=zeros_of(0, 1)),
    _row("hypot", promoted(*FLOATS), _FLOAT_PAIR),
    _row("logaddexp", promoted(*FLOATS), _FLOAT_PAIR, scale=1.0, inplace=""),
    _row("logaddexp2", promoted(*FLOATS), _FLOAT_PAIR, scale=1.0, inplace=""),
    _row("xlogy", FLOAT_OF_ALL, _second_within(0.125, 1e6), alias="special.xlogy"),
    _row("ldexp", _ldexp, _second_within(-6.0, 6.0), arithmetic=Arithmetic.EXACT_WHERE_HELD),
    _row("copysign", FLOAT_OF_ALL, terms=None, zero_sensitivity=zeros_of(1)),
    _row("heaviside", _heaviside, lambda b: alike(b, 2), terms=None),
    _row("gcd", promoted(*INTEGERS), _both_within(-100, 100, INTEGERS), terms=None),
    _row("lcm", promoted(*INTEGERS), _both_within(-11, 11, INTEGERS), terms=None),
    # selections
    _selection("maximum", "torch.maximum({0}, {1})", "{0}.maximum({1})"),
    _selection("minimum", "torch.minimum({0}, {1})", "{0}.minimum({1})"),
    _selection("max_other", "torch.max({0}, {1})", "{0}.max({1})"),
    _selection("min_other", "torch.min({0}, {1})", "{0}.min({1})"),
    _selection("fmax", "torch.fmax({0}, {1})", "{0}.fmax({1})"),
    _selection("fmin", "torch.fmin({0}, {1})", "{0}.fmin({1})"),
    _row("clamp_min", ANY_DTYPE, terms=None),
    _row("clamp_max", ANY_DTYPE, terms=None),
    # comparisons and logic
    _question("eq", "==", plainer=None),
    _question("ne", "!=", "not_equal", plainer="lt"),
    _question("lt", "<", "less", plainer="eq"),
    _question("le", "<=", "less_equal", plainer="lt"),
    _question("gt", ">", "greater", plainer="lt"),
    _question("ge", ">=", "greater_equal", plainer="lt"),
    _question("logical_and", zero_sensitivity=ZEROS_WHERE_BOOL, plainer=None),
    _question("logical_or", zero_sensitivity=ZEROS_WHERE_BOOL, plainer="logical_and"),
    _question("logical_xor", zero_sensitivity=ZEROS_WHERE_BOOL, plainer="logical_and"),
    Op(
        "isclose",
        lambda b: alike(b, 2),
        _isclose,
        "torch.isclose({0}, {1}{more})",
        _tolerances,
        {"rtol": NUMBER, "atol": NUMBER, "equal_nan": BOOL},
        {"rtol": 1e-5, "atol": 1e-8, "equal_nan": False},
        arity=(2, 2),
        terms=two_terms,
        forms={Form.METHOD: "{0}.isclose({1}{more})"},
        plainer="lt",
    ),
    # bits
    _bitwise("bitwise_and", "&", plainer=None),
    _bitwise("bitwise_or", "|", "{0}.bitwise_or_({1})"),
    _bitwise("bitwise_xor", "^"),
    _shift("bitwise_left_shift", "<<"),
    _shift("bitwise_right_shift", ">>"),
)
