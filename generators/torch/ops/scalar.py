"""Operators of a tensor and Python numbers, which may be on either side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import INTEGERS, Attrs, DType, Form, TensorType, Value
from generators.op import (
    SCALAR,
    Arithmetic,
    DrawAttrs,
    Infer,
    Layer,
    NumericFacts,
    Op,
    Operands,
    RowFacts,
    Spelling,
    Template,
    Terms,
    Types,
    number_of,
    one_term,
    require,
    zeros_of,
)
from generators.operator_class import OperatorClass
from generators.shared.sizes import broadcast
from generators.torch.ops.operands import one, partner
from generators.torch.ops.pairs import (
    ROUNDING,
    WHOLE,
    bounded,
    division_terms,
    nonzero,
    require_fits,
    rounding_mode,
    two_terms,
)
from generators.torch.ops.rules import ALL, NUMERIC, Number, floating, promote

ODD = (0.1, -0.3, 1e-3, 3.14159, 100.0)
"""Numbers that are neither integers nor halves: float32 rounds most of them."""


# --- inference


def _promoted(
    result: Callable[[DType], DType], *computed: DType, key: str = "other"
) -> Callable[[Types, Attrs], TensorType]:
    """The number is included in the promotion, and there must be a kernel for the promoted dtype."""

    def infer(types: Types, attrs: Attrs) -> TensorType:
        number = number_of(attrs, key)
        dtype = promote(types, number)
        require(dtype in computed, f"is not defined for {dtype}")
        made = types[0].with_dtype(result(dtype))
        require_fits(number, made.dtype if made.dtype.is_float else dtype)
        return made

    return infer


def _same(dtype: DType) -> DType:
    return dtype


def _subtracted(types: Types, attrs: Attrs) -> TensorType:
    """PyTorch refuses booleans, as the tensor and as the number."""
    require(types[0].dtype is not DType.BOOL and not isinstance(attrs["other"], bool), "is not defined for bool")
    return _promoted(_same, *NUMERIC)(types, attrs)


def _stepped(types: Types, attrs: Attrs) -> TensorType:
    """Division with an integral quotient."""
    result = _promoted(_same, *NUMERIC)(types, attrs)
    require(result.dtype.is_float or attrs["other"] != 0, "integers are not divided by 0")
    return result


def _divided(types: Types, attrs: Attrs) -> TensorType:
    true = attrs["rounding_mode"] is None
    return _promoted(floating, *ALL)(types, attrs) if true else _stepped(types, attrs)


def _power(types: Types, attrs: Attrs) -> TensorType:
    """No bool to the power of a bool: PyTorch's meta kernel gives int64, its other kernels give bool."""
    require(not isinstance(attrs["exponent"], bool), "the exponent must not be a boolean")
    result = _promoted(_same, *ALL, key="exponent")(types, attrs)
    require(result.dtype.is_float or number_of(attrs, "exponent") >= 0, "integers have no negative powers")
    return result


def _where(types: Types, attrs: Attrs) -> TensorType:
    """torch.where of a condition, perhaps a tensor, and numbers."""
    require(types[0].dtype is DType.BOOL, f"the condition must be bool, not {types[0].dtype}")
    numbers = [number_of(attrs, key) for key in ("input", "other") if key in attrs]
    dtype = promote(types[1:], *numbers)
    for number in numbers:
        require_fits(number, dtype)
    return TensorType(dtype, broadcast(*(t.sizes for t in types)))


# --- attributes


def _drawn(source: ChoiceSource, dtype: DType, booleans: bool = True) -> Number:
    """A number, mostly of the same kind as the dtype."""
    kind, whole = source.integer(1, 100), source.integer(-6, 6)
    bools, floats = (30, 55) if dtype is DType.BOOL else (4, 75 if dtype.is_float else 22)
    if booleans and kind <= bools:
        return whole > 0
    if kind <= floats:
        return source.choice(ODD) if source.chance(30) else whole / 2
    return abs(whole) if dtype is DType.UINT8 else whole


def number(key: str = "other", booleans: bool = True) -> DrawAttrs:
    return lambda source, types: {key: _drawn(source, types[-1].dtype, booleans)}


def _divisor(source: ChoiceSource, types: Types) -> Attrs:
    """Not 0, and for integers not -1: the smallest integer divided by -1 is out of range."""
    drawn = _drawn(source, types[0].dtype)
    refused = drawn == 0 or (drawn == -1 and not types[0].dtype.is_float)
    return {"other": 3 if refused else drawn}


def _rounded_divisor(source: ChoiceSource, types: Types) -> Attrs:
    return {**_divisor(source, types), **rounding_mode(source, types)}


def _bits(source: ChoiceSource, types: Types) -> Attrs:
    dtype = types[0].dtype
    low, high = max(-9, dtype.range[0]), min(127, dtype.range[1])
    boolean = source.chance(60 if dtype is DType.BOOL else 10)
    return {"other": source.chance(50) if boolean else source.integer(low, high)}


def _distance(source: ChoiceSource, types: Types) -> Attrs:
    return {"other": source.integer(0, types[0].dtype.bits - 1)}


def _whole_exponent(source: ChoiceSource, types: Types) -> Attrs:
    return {"exponent": source.choice((2, 2, 3, 0, 1, 4, 2.0, 3.0, 0.0, True))}


def _any_exponent(source: ChoiceSource, types: Types) -> Attrs:
    return {"exponent": source.choice((0.5, 0.5, -0.5, 1.5, -1.0, -2.0, 2.5, 0.1, 0, 2))}


def _base(source: ChoiceSource, types: Types) -> Attrs:
    negative = () if types[0].dtype.is_float or types[0].dtype is DType.UINT8 else (-2, -0.5)
    return {"base": source.choice((2, 3, 2.0, 0.5, 1.5, 10, 1, *negative))}


def _two_numbers(source: ChoiceSource, types: Types) -> Attrs:
    of = source.choice((DType.FLOAT32, DType.INT64, DType.BOOL))
    return {"input": _drawn(source, of), "other": _drawn(source, of)}


# --- operands


def _within(low: float, high: float) -> Operands:
    return lambda b: (bounded(b, b.tensor(), low, high),)


def _nonzero(b: Builder) -> tuple[Value, ...]:
    return (nonzero(b, b.tensor()),)


def _exponents(b: Builder) -> tuple[Value, ...]:
    value = b.tensor()
    return (bounded(b, value, -4.0 if value.type.dtype.is_float else 0, 4.0),)


def _condition_and_tensor(b: Builder) -> tuple[Value, ...]:
    condition = b.tensor((DType.BOOL,))
    return condition, partner(b, condition.type, (b.dtype(ALL),))


def _condition(b: Builder) -> tuple[Value, ...]:
    return (b.tensor((DType.BOOL,)),)


# --- rows


def _changed(name: str, sign: str, key: str) -> Spelling:
    """The call in place: the method if the integral part of the number is odd, else the operator."""

    def source(args: tuple[str, ...], attrs: Attrs) -> str:
        number = attrs[key]
        if int(number_of(attrs, key)) % 2:
            return f"{args[0]}.{name}_({number!r})"
        return f"{{out}} = {args[0]}\n{{out}} {sign}= {number!r}"

    return Spelling(source)


def _row(
    name: str,
    sign: str,
    infer: Infer,
    attrs: DrawAttrs = number(),
    operands: Operands = one(),
    reverse: str = "",
    key: str = "other",
    suffix: str = "scalar",
    **facts: Unpack[RowFacts],
) -> Op:
    """The row of `{0} sign number`. `reverse` is the equivalent sign for the number as the first operand."""
    forms: dict[Form, str | Spelling | Layer] = {
        Form.FUNCTION: f"torch.{name}({{0}}, {{{key}}})",
        Form.METHOD: f"{{0}}.{name}({{{key}}})",
        Form.INPLACE: _changed(name, sign, key),
    }
    if reverse:
        forms[Form.OPERATOR] = f"{{{key}}} {reverse} {{0}}"
    source = f"{{0}} {sign} {{{key}}}"
    all_facts: RowFacts = {"terms": one_term, **facts}
    return Op(f"{name}_{suffix}", operands, infer, source, attrs, {key: SCALAR}, forms=forms, **all_facts)


def _comparison(name: str, sign: str, reverse: str, plainer: str | None = "lt_scalar") -> Op:
    return Op(
        f"{name}_scalar",
        one(),
        _promoted(lambda dtype: DType.BOOL, *ALL),
        f"{{0}} {sign} {{other}}",
        number(),
        {"other": SCALAR},
        forms={
            Form.FUNCTION: f"torch.{name}({{0}}, {{other}})",
            Form.METHOD: f"{{0}}.{name}({{other}})",
            Form.OPERATOR: f"{{other}} {reverse} {{0}}",
        },
        plainer=plainer,
    )


def _number_first(
    name: str,
    source: str,
    infer: Infer,
    operands: Operands,
    terms: Terms = one_term,
    function: str = "",
    **facts: Unpack[NumericFacts],
) -> Op:
    forms = {Form.FUNCTION: function} if function else {}
    attrs = number(booleans=infer is not _subtracted)
    return Op(
        name,
        operands,
        infer,
        source,
        attrs,
        {"other": SCALAR},
        terms=terms,
        forms=forms,
        plainer="mul_scalar",
        **facts,
    )


def _called(
    name: str,
    infer: Infer,
    attrs: DrawAttrs,
    key: str = "other",
    terms: Terms | None = one_term,
    plainer: str | None = None,
) -> Op:
    """A function and method without a Python operator."""
    return Op(
        f"{name}_scalar",
        one(),
        infer,
        f"torch.{name}({{0}}, {{{key}}})",
        attrs,
        {key: SCALAR},
        terms=terms,
        forms={Form.METHOD: f"{{0}}.{name}({{{key}}})", Form.INPLACE: f"{{0}}.{name}_({{{key}}})"},
        plainer=plainer,
    )


def _where_row(name: str, operands: Operands, source: Template, *keys: str, method: str = "") -> Op:
    count = 3 - len(keys)
    attrs = number(keys[0]) if len(keys) == 1 else _two_numbers
    forms = {Form.METHOD: method} if method else {}
    return Op(name, operands, _where, source, attrs, dict.fromkeys(keys, SCALAR), arity=(count, count), forms=forms)


_SHIFTED = _promoted(_same, *INTEGERS)

OPS = (
    _row("add", "+", _promoted(_same, *ALL), reverse="+", arithmetic=Arithmetic.EXACT_WHERE_HELD).of_class(
        OperatorClass.NUMBER_ADDITION
    ),
    _row(
        "sub",
        "-",
        _subtracted,
        number(booleans=False),
        one(NUMERIC),
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
        plainer="mul_scalar",
    ),
    _row("mul", "*", _promoted(_same, *ALL), reverse="*", arithmetic=Arithmetic.EXACT_WHERE_HELD, plainer="add_scalar"),
    Op(
        "div_scalar",
        one(),
        _divided,
        "torch.div({0}, {other}{more})",
        _rounded_divisor,
        {"other": SCALAR, "rounding_mode": ROUNDING},
        {"rounding_mode": None},
        terms=division_terms,
        forms={
            Form.FUNCTION: "torch.true_divide({0}, {other})",
            Form.METHOD: "{0}.div({other}{more})",
            Form.OPERATOR: "{0} / {other}",
            Form.INPLACE: "{0}.div_({other}{more})",
        },
        arithmetic=Arithmetic.ONE_STEP,
        plainer="mul_scalar",
    ),
    _row("floor_divide", "//", _stepped, _divisor, terms=two_terms, plainer="mul_scalar"),
    _row("remainder", "%", _stepped, _divisor, terms=two_terms, plainer="mul_scalar"),
    _called("fmod", _stepped, _divisor, terms=two_terms, plainer="mul_scalar"),
    # fractional and negative powers of positive numbers only
    _row("pow", "**", _power, _whole_exponent, key="exponent"),
    _row(
        "pow",
        "**",
        _power,
        _any_exponent,
        key="exponent",
        suffix="positive",
        operands=_within(0.25, 4.0),
        zero_sensitivity=zeros_of(0),
    ),
    _called(
        "float_power",
        lambda types, attrs: types[0].with_dtype(DType.FLOAT64),
        _whole_exponent,
        key="exponent",
    ),
    _called("copysign", _promoted(floating, *ALL), number(), terms=None, plainer="mul_scalar"),
    _called("clamp_min", _promoted(_same, *NUMERIC, key="min"), number("min"), "min", terms=None),
    _called("clamp_max", _promoted(_same, *NUMERIC, key="max"), number("max"), "max", terms=None),
    # the number first
    _number_first(
        "rsub_scalar",
        "{other} - {0}",
        _subtracted,
        one(NUMERIC),
        function="torch.rsub({0}, {other})",
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
    ),
    _number_first(
        "rdiv_scalar",
        "{other} / {0}",
        _promoted(floating, *ALL),
        _nonzero,
        arithmetic=Arithmetic.ONE_STEP,
        zero_sensitivity=zeros_of(0),
    ),
    _number_first(
        "rfloor_divide_scalar",
        "{other} // {0}",
        _promoted(_same, *NUMERIC),
        _nonzero,
        two_terms,
        zero_sensitivity=zeros_of(0),
    ),
    _number_first(
        "rremainder_scalar",
        "{other} % {0}",
        _promoted(_same, *NUMERIC),
        _nonzero,
        two_terms,
        function="torch.remainder({other}, {0})",
    ),
    Op(
        "rpow_scalar",
        _exponents,
        _promoted(_same, *NUMERIC, key="base"),
        "({base}) ** {0}",
        _base,
        {"base": SCALAR},
        terms=one_term,
        forms={Form.FUNCTION: "torch.pow({base}, {0})"},
    ),
    # comparisons
    _comparison("eq", "==", "==", plainer=None),
    _comparison("ne", "!=", "!="),
    _comparison("lt", "<", ">", plainer="eq_scalar"),
    _comparison("le", "<=", ">="),
    _comparison("gt", ">", "<"),
    _comparison("ge", ">=", "<="),
    # bits
    _row("bitwise_and", "&", _promoted(_same, *WHOLE), _bits, one(WHOLE), "&", terms=None),
    _row("bitwise_or", "|", _promoted(_same, *WHOLE), _bits, one(WHOLE), "|", terms=None, plainer="bitwise_and_scalar"),
    _row(
        "bitwise_xor", "^", _promoted(_same, *WHOLE), _bits, one(WHOLE), "^", terms=None, plainer="bitwise_and_scalar"
    ),
    _row("bitwise_left_shift", "<<", _SHIFTED, _distance, one(WHOLE), terms=None, plainer="bitwise_and_scalar"),
    _row("bitwise_right_shift", ">>", _SHIFTED, _distance, one(WHOLE), terms=None, plainer="bitwise_and_scalar"),
    # selections
    _where_row(
        "where_scalar",
        _condition_and_tensor,
        "torch.where({0}, {1}, {other})",
        "other",
        method="{1}.where({0}, {other})",
    ),
    _where_row("where_number", _condition_and_tensor, "torch.where({0}, {input}, {1})", "input"),
    _where_row("where_numbers", _condition, "torch.where({0}, {input}, {other})", "input", "other"),
)
