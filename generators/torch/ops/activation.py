"""Activations: the functions and layers of torch.nn that work on each element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attr, Attrs, DType, Form, TensorType, Value
from generators.op import (
    INT,
    NUMBER,
    Arithmetic,
    AttrKind,
    DrawAttrs,
    Infer,
    Layer,
    Op,
    Spelling,
    Terms,
    Types,
    When,
    always,
    int_of,
    no_attrs,
    number_of,
    one_of,
    one_term,
    require,
)
from generators.torch.ops.elementwise import float_function
from generators.torch.ops.operands import one
from generators.torch.ops.pairs import require_fits
from generators.torch.ops.rules import NUMERIC, axis_of, floating, require_dtype, require_same_dtype, same_type

# --- inference

_FLOAT = same_type(*FLOATS)


def _float_function(types: Types, attrs: Attrs) -> TensorType:
    """PyTorch computes it by arithmetic, which takes integers but not bool."""
    require_dtype(types, *NUMERIC)
    return types[0].with_dtype(floating(types[0].dtype))


def _clipped(types: Types, attrs: Attrs) -> TensorType:
    """For integer tensors, PyTorch would truncate a fractional number."""
    require_dtype(types, *NUMERIC)
    for key in attrs:
        number = number_of(attrs, key)
        require(types[0].dtype.is_float or number == int(number), f"{key} is an integer for {types[0].dtype}")
        require_fits(int(number), types[0].dtype)
    return types[0]


def _hardtanh(types: Types, attrs: Attrs) -> TensorType:
    require(number_of(attrs, "min_val") <= number_of(attrs, "max_val"), "min_val is at most max_val")
    return _clipped(types, attrs)


def _rrelu(types: Types, attrs: Attrs) -> TensorType:
    require(number_of(attrs, "lower") <= number_of(attrs, "upper"), "lower is at most upper")
    return _FLOAT(types, attrs)


def _hardshrink(types: Types, attrs: Attrs) -> TensorType:
    require_fits(number_of(attrs, "lambd"), types[0].dtype)
    return _FLOAT(types, attrs)


def _softshrink(types: Types, attrs: Attrs) -> TensorType:
    require(number_of(attrs, "lambd") >= 0, "lambd is not negative")
    return _hardshrink(types, attrs)


def _celu(types: Types, attrs: Attrs) -> TensorType:
    require(number_of(attrs, "alpha") != 0, "alpha is not 0")
    return _FLOAT(types, attrs)


def _softplus(types: Types, attrs: Attrs) -> TensorType:
    """PyTorch divides by beta."""
    require(number_of(attrs, "beta") != 0, "beta is not 0")
    return _FLOAT(types, attrs)


def _glu(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *FLOATS)
    (x,) = types
    require(x.rank > 0, "takes a rank above 0")
    axis = axis_of(int_of(attrs, "dim"), x.rank)
    sizes = list(x.sizes)
    require(sizes[axis] % 2 == 0, f"size {sizes[axis]} has no two halves")
    sizes[axis] //= 2
    return x.with_shape(*sizes)


def _channels(x: TensorType) -> int:
    return x.sizes[1] if x.rank > 1 else 1


def _prelu(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *FLOATS)
    require_same_dtype(types)
    x, weight = types
    require(weight.rank <= 1, f"the weight has rank 0 or 1, not {weight}")
    require(weight.numel == 1 or (x.rank > 0 and weight.numel == _channels(x)), f"the weight {weight} does not fit {x}")
    return x


# --- operands and attributes


def _with_weight(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS)
    channels = _channels(x.type) if b.source.chance(70) else 1
    if b.source.chance(75):
        return x, b.param(x.type.dtype, channels)
    return x, b.pick(
        lambda t: t == TensorType(x.type.dtype, (channels,)) or t == TensorType(x.type.dtype, ()),
        lambda: TensorType(x.type.dtype, (channels,) if b.source.chance(70) else ()),
    )


def _even(b: Builder) -> tuple[Value, ...] | None:
    def halves(t: TensorType) -> bool:
        return t.dtype in FLOATS and any(size % 2 == 0 for size in t.sizes)

    def doubled() -> TensorType:
        shape = list(b.shape(b.source.integer(1, 4)))
        place = b.source.integer(0, len(shape) - 1)
        shape[place] *= 2
        return TensorType(b.dtype(FLOATS), tuple(shape))

    return (b.pick(halves, doubled),)


def _even_axis(source: ChoiceSource, types: Types) -> Attrs | None:
    rank = types[0].rank
    even = [axis for axis, size in enumerate(types[0].sizes) if size % 2 == 0]
    if not even:
        return None
    axis = source.choice(even)
    return {"dim": axis - rank if axis == rank - 1 and source.chance(60) else axis - rank * source.chance(30)}


def _drawn(**options: Sequence[Attr]) -> DrawAttrs:
    """Draws each attribute independently: the first option (the default) half of the time."""
    return lambda source, types: {
        key: some[0] if source.chance(50) else source.choice(some) for key, some in options.items()
    }


def _limits(source: ChoiceSource, types: Types) -> Attrs:
    dtype = types[0].dtype
    if dtype.is_float:
        low, high = source.choice(((-1.0, 1.0), (-1.0, 1.0), (-2, 3), (-0.5, 0.5), (0.5, 6.0), (0.5, 0.5)))
        return {"min_val": low, "max_val": high}
    return {"min_val": source.integer(0 if dtype is DType.UINT8 else -3, 1), "max_val": source.integer(1, 6)}


def _thresholds(source: ChoiceSource, types: Types) -> Attrs:
    dtype = types[0].dtype
    low, high = max(-4, dtype.range[0]) if dtype.is_integer else -4, 4
    drawn = source.integer(low, high), source.integer(low, high)
    threshold, value = (n / 2 for n in drawn) if dtype.is_float and source.chance(70) else drawn
    return {"threshold": threshold, "value": value}


# --- rows


def _row(
    name: str,
    layer: str,
    attrs: DrawAttrs = no_attrs,
    schema: Mapping[str, AttrKind] = MappingProxyType({}),
    defaults: Attrs = MappingProxyType({}),
    *,
    infer: Infer = _FLOAT,
    dtypes: Sequence[DType] = FLOATS,
    terms: Terms | None = one_term,
    scale: float = 0.0,
    inplace: bool = False,
    forms: Mapping[Form, str] = MappingProxyType({}),
    when: When = always,
    arithmetic: Arithmetic = Arithmetic.FUNCTION,
    plainer: str | None = "tanh",
) -> Op:
    """F.name and its layer; `forms` are the other forms."""
    made = ", ".join(f"{key}={{{key}}}" for key in schema)
    more: dict[Form, str | Spelling | Layer] = {**forms, Form.MODULE: Layer(f"torch.nn.{layer}({made})", when=when)}
    if inplace:
        more[Form.INPLACE] = f"F.{name}({{0}}{{more}}, inplace=True)"
    source = f"F.{name}({{0}}{{more}})"
    return Op(
        name,
        one(dtypes),
        infer,
        source,
        attrs,
        schema,
        defaults,
        terms=terms,
        scale=scale,
        forms=more,
        arithmetic=arithmetic,
        plainer=plainer,
    )


def _of_all(name: str, layer: str, scale: float = 0.0, plainer: str = "tanh") -> Op:
    """torch.name, which also takes integers and bool."""
    op = float_function(name, scale=scale, plainer=plainer)
    return replace(op, forms={**op.forms, Form.FUNCTION: f"F.{name}({{0}})", Form.MODULE: Layer(f"torch.nn.{layer}()")})


OPS = (
    _of_all("sigmoid", "Sigmoid", scale=1.0),
    _of_all("tanh", "Tanh", plainer="relu"),
    Op(
        "relu",
        one(NUMERIC),
        same_type(*NUMERIC),
        "torch.relu({0})",
        forms={
            Form.FUNCTION: "F.relu({0})",
            Form.METHOD: "{0}.relu()",
            Form.INPLACE: "F.relu({0}, inplace=True)",
            Form.MODULE: Layer("torch.nn.ReLU()"),
        },
        plainer="abs",
    ),
    _row("relu6", "ReLU6", infer=same_type(*NUMERIC), dtypes=NUMERIC, terms=None, inplace=True),
    _row(
        "leaky_relu",
        "LeakyReLU",
        _drawn(negative_slope=(0.01, 0.125, 0.2, -0.5, 0, 2.0)),
        {"negative_slope": NUMBER},
        {"negative_slope": 0.01},
        inplace=True,
        arithmetic=Arithmetic.ONE_STEP,
    ),
    _row("elu", "ELU", _drawn(alpha=(1.0, 0.5, 2, -0.5)), {"alpha": NUMBER}, {"alpha": 1.0}, scale=1.0, inplace=True),
    _row(
        "celu",
        "CELU",
        _drawn(alpha=(1.0, 0.5, 2, 0.1)),
        {"alpha": NUMBER},
        {"alpha": 1.0},
        infer=_celu,
        scale=1.0,
        inplace=True,
        forms={Form.FUNCTION: "torch.celu({0}{more})"},
    ),
    _row("selu", "SELU", scale=1.0, inplace=True, forms={Form.FUNCTION: "torch.selu({0})"}),
    _row(
        "gelu",
        "GELU",
        _drawn(approximate=("none", "tanh")),
        {"approximate": one_of("none", "tanh")},
        {"approximate": "none"},
        scale=4.0,  # x times a term that cancels where x is far from zero
    ),
    _row("silu", "SiLU", scale=4.0, inplace=True),
    _row("mish", "Mish", scale=4.0, inplace=True),
    _row(
        "softplus",
        "Softplus",
        _drawn(beta=(1, 0.5, 2.0, 3, -1.5), threshold=(20, 1, 5.0, 0.5, -2)),
        {"beta": NUMBER, "threshold": NUMBER},
        {"beta": 1.0, "threshold": 20.0},
        infer=_softplus,
        scale=1.0,
    ),
    _row("softsign", "Softsign", infer=_float_function, dtypes=NUMERIC),
    _row("tanhshrink", "Tanhshrink", infer=_float_function, dtypes=NUMERIC, scale=1.0),
    _row(
        "softshrink",
        "Softshrink",
        _drawn(lambd=(0.5, 0.0, 1.0, 2, 0.1)),
        {"lambd": NUMBER},
        {"lambd": 0.5},
        infer=_softshrink,
    ),
    _row(
        "hardshrink",
        "Hardshrink",
        _drawn(lambd=(0.5, 0.0, 1.0, 2, -1.0)),
        {"lambd": NUMBER},
        {"lambd": 0.5},
        infer=_hardshrink,
        terms=None,
        forms={Form.FUNCTION: "torch.hardshrink({0}{more})", Form.METHOD: "{0}.hardshrink({lambd})"},
    ),
    _row(
        "hardtanh",
        "Hardtanh",
        _limits,
        {"min_val": NUMBER, "max_val": NUMBER},
        {"min_val": -1.0, "max_val": 1.0},
        infer=_hardtanh,
        dtypes=NUMERIC,
        terms=None,
        inplace=True,
        when=lambda types, attrs: number_of(attrs, "min_val") < number_of(attrs, "max_val"),
    ),
    _row("hardsigmoid", "Hardsigmoid", scale=1.0, inplace=True),
    _row("hardswish", "Hardswish", scale=1.0, inplace=True),
    _row(
        "threshold",
        "Threshold",
        _thresholds,
        {"threshold": NUMBER, "value": NUMBER},
        infer=_clipped,
        dtypes=NUMERIC,
        terms=None,
        inplace=True,
        forms={Form.FUNCTION: "torch.threshold({0}{more})"},
    ),
    _row("logsigmoid", "LogSigmoid", scale=1.0),
    _row(
        "rrelu",
        "RReLU",
        _drawn(lower=(0.125, 0.25, 0, -0.5), upper=(1 / 3, 0.25, 0.5, 1)),
        {"lower": NUMBER, "upper": NUMBER},
        {"lower": 1 / 8, "upper": 1 / 3},
        infer=_rrelu,
        inplace=True,
        forms={Form.FUNCTION: "torch.rrelu({0}{more})"},
        arithmetic=Arithmetic.ONE_STEP,
    ),
    Op(
        "prelu",
        _with_weight,
        _prelu,
        "F.prelu({0}, {1})",
        arity=(2, 2),
        terms=one_term,
        forms={
            Form.FUNCTION: "torch.prelu({0}, {1})",
            Form.METHOD: "{0}.prelu({1})",
            Form.MODULE: Layer(lambda types, attrs: f"torch.nn.PReLU({types[1].numel})", params=("weight",)),
        },
        arithmetic=Arithmetic.ONE_STEP,
    ),
    replace(
        _row("glu", "GLU", _even_axis, {"dim": INT}, {"dim": -1}, infer=_glu, scale=1.0, plainer=None),
        operands=_even,
    ),
)
