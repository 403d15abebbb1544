"""Functions of one tensor, element by element, and casts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Unpack

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attrs, DType, Form, TensorType, Value
from generators.op import (
    BOOL,
    DTYPE,
    INT,
    NUMBER,
    ZEROS_WHERE_BOOL,
    Arithmetic,
    Infer,
    Layer,
    NumericFacts,
    Op,
    Operands,
    Spelling,
    Types,
    dtype_of,
    int_of,
    number_of,
    one_term,
    optional,
    require,
    zeros_of,
)
from generators.operator_class import OperatorClass
from generators.torch.ops.guard import clamped
from generators.torch.ops.operands import one
from generators.torch.ops.pairs import WHOLE, bounded, nonzero, require_fits
from generators.torch.ops.rules import ALL, NUMERIC, floating, require_dtype, same_type
from generators.undefined import convertible


def _within(low: float, high: float, dtypes: Sequence[DType] = ALL) -> Operands:
    return lambda b: (bounded(b, b.tensor(dtypes), low, high),)


def _nonzero(b: Builder) -> tuple[Value, ...]:
    return (nonzero(b, b.tensor()),)


# --- rows


def unary_forms(name: str, *, inplace: bool = True, alias: str = "", sign: str = "") -> dict[Form, str]:
    """The ways to write a function; `alias` is its other name, `sign` its Python operator."""
    forms = {Form.METHOD: f"{{0}}.{name}()"}
    if inplace:
        forms[Form.INPLACE] = f"{{0}}.{name}_()"
    if alias:
        forms[Form.FUNCTION] = f"torch.{alias}({{0}})"
    if sign:
        forms[Form.OPERATOR] = sign
    return forms


def _exact(name: str, *dtypes: DType, alias: str = "", sign: str = "", plainer: str | None = "tanh") -> Op:
    """The result has the operand's type, and is exact."""
    forms = unary_forms(name, alias=alias, sign=sign)
    return Op(name, one(dtypes), same_type(*dtypes), f"torch.{name}({{0}})", forms=forms, plainer=plainer)


def _test(
    name: str, *, inplace: bool = False, plainer: str | None = "logical_not", **facts: Unpack[NumericFacts]
) -> Op:
    """A test of each element, which gives bool."""
    forms = unary_forms(name, inplace=inplace)
    infer = _as(lambda dtype: DType.BOOL)
    source = f"torch.{name}({{0}})"
    return Op(name, one(ALL), infer, source, forms=forms, plainer=plainer, **facts)


def float_function(
    name: str,
    operands: Operands = one(ALL),
    *,
    scale: float = 0.0,
    alias: str = "",
    plainer: str = "tanh",
    **facts: Unpack[NumericFacts],
) -> Op:
    """Rounded once; integers and booleans give float32."""
    forms = unary_forms(name, alias=alias)
    return Op(
        name,
        operands,
        _as(floating),
        f"torch.{name}({{0}})",
        terms=one_term,
        scale=scale,
        forms=forms,
        plainer=plainer,
        **facts,
    )


def _as(dtype: Callable[[DType], DType], *allowed: DType) -> Infer:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        require_dtype(types, *(allowed or ALL))
        return types[0].with_dtype(dtype(types[0].dtype))

    return infer


# --- round, logit


def _round(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *NUMERIC)
    require(attrs["decimals"] == 0 or types[0].dtype.is_float, "integers are not rounded to decimals")
    return types[0]


def _decimals(source: ChoiceSource, types: Types) -> Attrs:
    return {"decimals": source.choice((0, 0, 1, 2, -1)) if types[0].dtype.is_float else 0}


def _rounded_by(method: str) -> Spelling:
    """For integers PyTorch refuses even `decimals=0`."""

    def source(args: tuple[str, ...], attrs: Attrs) -> str:
        return f"{args[0]}.{method}({f'decimals={decimals}' if (decimals := attrs['decimals']) else ''})"

    return Spelling(source)


def _round_terms(types: Types, attrs: Attrs) -> int:
    """With decimals, a rounded product comes before the step: it may fall on either side of it. Without, the result is
    exact, and a cast to integers gives the same integer everywhere."""
    return 2 if int_of(attrs, "decimals") else 0


def _logit(types: Types, attrs: Attrs) -> TensorType:
    result = types[0].with_dtype(floating(types[0].dtype))
    if attrs["eps"] is not None:
        require_fits(number_of(attrs, "eps"), result.dtype)
    return result


# --- casts


def _castable(low: float, high: float) -> Operands:
    """Floats are clamped first, so that the results are defined (`generators.undefined`)."""

    def operands(b: Builder) -> tuple[Value, ...]:
        value = b.tensor()
        return (clamped(b, value, low, high) if value.type.dtype.is_float else value,)

    return operands


def _cast_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dtypes = [d for d in ALL if d is not DType.UINT8 or not types[0].dtype.is_float]
    return {"dtype": source.choice(dtypes).value, "non_blocking": source.chance(20), "copy": source.chance(30)}


_CASTS = {
    "float32": "float",
    "float64": "double",
    "float16": "half",
    "bfloat16": "bfloat16",
    "int64": "long",
    "int32": "int",
    "int16": "short",
    "int8": "char",
    "uint8": "byte",
    "bool": "bool",
}


def _by_name(args: tuple[str, ...], attrs: Attrs) -> str:
    return f"{args[0]}.{_CASTS[str(attrs['dtype'])]}()"


def _plain_cast(types: Types, attrs: Attrs) -> bool:
    return not attrs["non_blocking"] and not attrs["copy"]


def _value_and_model(b: Builder) -> tuple[Value, ...]:
    value, model = b.tensor(), b.tensor()
    if value.type.dtype.is_float:
        value = clamped(b, value, *convertible(model.type.dtype))
    return value, model


OPS = (
    # exact
    _exact("abs", *NUMERIC, alias="absolute", sign="abs({0})", plainer="neg"),
    _exact("neg", *NUMERIC, alias="negative", sign="-{0}", plainer=None),
    Op(
        "positive",
        one(NUMERIC),
        same_type(*NUMERIC),
        "torch.positive({0})",
        forms={Form.METHOD: "{0}.positive()", Form.OPERATOR: "+{0}"},
        view=True,
        plainer="tanh",
    ),
    _exact("sign", *ALL),
    _exact("sgn", *ALL),
    _exact("floor", *NUMERIC),
    _exact("ceil", *NUMERIC),
    _exact("trunc", *NUMERIC, alias="fix"),
    _exact("frac", *FLOATS),
    _exact("bitwise_not", *WHOLE, sign="~{0}"),
    _test("isfinite"),
    _test("isinf"),
    _test("isnan"),
    _test("isneginf"),
    _test("isposinf"),
    _test("signbit", zero_sensitivity=zeros_of(0)),
    _test("logical_not", inplace=True, zero_sensitivity=ZEROS_WHERE_BOOL, plainer=None),
    # rounded once, on all numbers
    float_function("sin"),
    float_function("cos"),
    float_function("tan"),
    float_function("asinh", scale=1.0, alias="arcsinh"),
    float_function("atan", alias="arctan"),
    float_function("sinc", scale=1.0, alias="special.sinc"),
    float_function("erf", alias="special.erf"),
    float_function("erfc", scale=1.0, alias="special.erfc"),
    float_function("deg2rad", arithmetic=Arithmetic.ONE_STEP),
    float_function("rad2deg", arithmetic=Arithmetic.ONE_STEP),
    # rounded once, for some numbers only
    float_function("exp", _within(-8.0, 8.0)),
    float_function("exp2", _within(-12.0, 12.0), alias="special.exp2"),
    float_function("expm1", _within(-8.0, 8.0), scale=1.0, alias="special.expm1"),
    float_function("sinh", _within(-8.0, 8.0), scale=1.0),
    float_function("cosh", _within(-8.0, 8.0)),
    float_function("i0", _within(-8.0, 8.0), alias="special.i0"),
    float_function("log", _within(0.125, 1e6)),
    float_function("log2", _within(0.125, 1e6)),
    float_function("log10", _within(0.125, 1e6)),
    float_function("log1p", _within(-0.875, 1e6), scale=1.0, alias="special.log1p"),
    float_function("sqrt", _within(0.0, 1e6), arithmetic=Arithmetic.ONE_STEP).of_class(OperatorClass.SQUARE_ROOT),
    float_function("rsqrt", _within(0.125, 1e6), zero_sensitivity=zeros_of(0)),
    float_function("reciprocal", _nonzero, arithmetic=Arithmetic.ONE_STEP, zero_sensitivity=zeros_of(0)),
    float_function("acos", _within(-1.0, 1.0), scale=1.0, alias="arccos"),
    float_function("asin", _within(-1.0, 1.0), alias="arcsin"),
    float_function("acosh", _within(1.0, 1e6), scale=1.0, alias="arccosh"),
    float_function("atanh", _within(-0.9375, 0.9375), scale=1.0, alias="arctanh"),
    float_function("erfinv", _within(-0.9375, 0.9375), scale=1.0, alias="special.erfinv"),
    float_function("lgamma", _within(0.125, 30.0), scale=1.0, alias="special.gammaln"),
    float_function("digamma", _within(0.125, 100.0), scale=1.0, alias="special.digamma", zero_sensitivity=zeros_of(0)),
    # integers keep their dtype
    Op(
        "square",
        one(ALL),
        _as(lambda dtype: DType.INT64 if dtype is DType.BOOL else dtype),
        "torch.square({0})",
        terms=one_term,
        forms=unary_forms("square"),
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
        plainer="tanh",
        classes=(OperatorClass.SQUARE,),
    ),
    Op(
        "round",
        one(NUMERIC),
        _round,
        "torch.round({0}{more})",
        _decimals,
        {"decimals": INT},
        {"decimals": 0},
        terms=_round_terms,
        forms={
            Form.METHOD: _rounded_by("round"),
            Form.INPLACE: _rounded_by("round_"),
            Form.FUNCTION: Spelling("torch.special.round({0}{more})", lambda types, attrs: types[0].dtype.is_float),
        },
        plainer="tanh",
    ),
    Op(
        "logit",
        _within(1 / 64, 63 / 64, FLOATS),
        _logit,
        "torch.logit({0}{more})",
        lambda source, types: {"eps": source.choice((None, None, 0.25, 0.03125, 1e-6))},
        {"eps": optional(NUMBER)},
        {"eps": None},
        terms=one_term,
        scale=1.0,
        forms={
            Form.METHOD: "{0}.logit({eps})",
            Form.INPLACE: "{0}.logit_({eps})",
            Form.FUNCTION: "torch.special.logit({0}{more})",
        },
        plainer="tanh",
    ),
    # casts
    Op(
        "to",
        _castable(*convertible(DType.INT8)),
        lambda types, attrs: types[0].with_dtype(dtype_of(attrs)),
        "{0}.to({dtype}{more})",
        _cast_attrs,
        {"dtype": DTYPE, "non_blocking": BOOL, "copy": BOOL},
        {"non_blocking": False, "copy": False},
        terms=one_term,
        forms={
            Form.METHOD: Spelling(_by_name, _plain_cast),
            Form.FUNCTION: Spelling("{0}.type({dtype})", _plain_cast),
        },
        view=True,
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
        zero_sensitivity=ZEROS_WHERE_BOOL,
    ),
    Op(
        "to_uint8",
        _castable(0.0, 255.0),
        _as(lambda dtype: DType.UINT8),
        "{0}.to(torch.uint8)",
        forms={Form.METHOD: "{0}.byte()"},
        view=True,
    ),
    Op(
        "to_float",
        one(),
        lambda types, attrs: types[0].with_dtype(dtype_of(attrs)),
        _by_name,
        lambda source, types: {"dtype": source.choice((DType.FLOAT32, DType.FLOAT16, *FLOATS)).value},
        {"dtype": DTYPE},
        terms=one_term,
        view=True,
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
    ),
    Op(
        "type_as",
        _value_and_model,
        lambda types, attrs: types[0].with_dtype(types[1].dtype),
        "{0}.type_as({1})",
        arity=(2, 2),
        terms=one_term,
        forms={Form.METHOD: "{0}.to({1})"},
        view=True,
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
        zero_sensitivity=ZEROS_WHERE_BOOL,
    ),
    # the same numbers again
    Op("clone", one(), same_type(*ALL), "torch.clone({0})", forms={Form.METHOD: "{0}.clone()"}, plainer="tanh"),
    Op("to_cpu", one(), same_type(*ALL), '{0}.to("cpu")', forms={Form.METHOD: "{0}.cpu()"}, view=True),
    Op(
        "if_floating_point",
        one(),
        same_type(*ALL),
        "{0} * torch.is_floating_point({0})",
        forms={Form.METHOD: "{0} * {0}.is_floating_point()"},
    ),
    Op("contiguous", one(), same_type(*ALL), "{0}.contiguous()", view=True, plainer="tanh"),
    Op(
        "detach",
        one(),
        same_type(*ALL),
        "{0}.detach()",
        forms={Form.FUNCTION: "torch.detach({0})"},
        view=True,
        plainer="tanh",
    ),
    Op("identity", one(), same_type(*ALL), "{0}", forms={Form.MODULE: Layer("torch.nn.Identity()")}, view=True),
)
