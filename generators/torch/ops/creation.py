"""Tensors filled with one number, constants, one-hot vectors. There are no random or uninitialized results."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import within
from generators.graph import Attr, Attrs, DType, Form, TensorType, Value
from generators.op import (
    INT,
    OPTIONAL_DTYPE,
    SCALAR,
    SIZES,
    ZEROS_WHERE_BOOL,
    Arithmetic,
    AttrKind,
    Op,
    Types,
    int_of,
    ints_of,
    one_term,
    require,
)
from generators.shared.numbers import require_fits
from generators.torch.ops.guard import clamped
from generators.torch.ops.literals import (
    drawn_number,
    drawn_sizes,
    dtype_of_numbers,
    dtype_or,
    filled,
    maybe_dtype,
    nothing,
)
from generators.torch.ops.operands import one
from generators.torch.ops.rules import DEFAULT_FLOAT, require_dtype
from generators.undefined import convertible

DATA = AttrKind(
    "a number, true, false, or a list of those",
    lambda v: all(map(SCALAR.accepts, v)) if isinstance(v, tuple) else SCALAR.accepts(v),
)

# --- one number for all elements


def _filler(
    name: str,
    source: str,
    key: str | None = None,
    value: int = 0,
    default: DType | None = DEFAULT_FLOAT,
    inplace: str | None = None,
    plainer: str | None = None,
) -> Op:
    """A tensor filled with one number: the attribute `key`, or else `value`.

    Where there is an operand, the result has its sizes and dtype, unless an attribute says otherwise. Without an
    operand, the dtype is `default`, or for None that of the number.
    """
    like, sized = "{0}" in source, "{size}" in source

    def infer(types: Types, attrs: Attrs) -> TensorType:
        number = attrs[key] if key else value
        dtype = types[0].dtype if like else default or dtype_of_numbers(number)
        return filled(number, ints_of(attrs, "size") if sized else types[0].sizes, dtype_or(attrs, dtype))

    def draw(source: ChoiceSource, types: Types) -> Attrs:
        dtype = maybe_dtype(source)
        attrs: dict[str, Attr] = {"size": drawn_sizes(source)} if sized else {}
        if key:
            attrs[key] = drawn_number(source, dtype or (types[0].dtype if like else None))
        return {**attrs, "dtype": dtype}

    schema = {**({"size": SIZES} if sized else {}), **({key: SCALAR} if key else {}), "dtype": OPTIONAL_DTYPE}
    return Op(
        name,
        one() if like else nothing,
        infer,
        source,
        draw,
        schema,
        {"dtype": None},
        arity=(1, 1) if like else (0, 0),
        terms=one_term if key else None,
        forms={Form.INPLACE: inplace} if inplace else {},
        arithmetic=Arithmetic.EXACT_WHERE_HELD if key else Arithmetic.FUNCTION,
        plainer=plainer,
    )


def _fill(types: Types, attrs: Attrs) -> TensorType:
    return filled(attrs["value"], types[0].sizes, types[0].dtype)


def _fill_tensor(types: Types, attrs: Attrs) -> TensorType:
    require(types[1].rank == 0, f"fills with a 0-d tensor, not {types[1]}")
    return types[0]


def _filled_and_filling(b: Builder) -> tuple[Value, ...]:
    """For integer tensors, a float is clamped, so that the result is defined (`generators.undefined`)."""
    x, value = b.tensor(), b.tensor(ranks=(0, 0))
    if value.type.dtype.is_float and not x.type.dtype.is_float:
        value = clamped(b, value, *convertible(x.type.dtype))
    return x, value


# --- constants


def _constant(types: Types, attrs: Attrs) -> TensorType:
    data = attrs["data"]
    values = data if isinstance(data, tuple) else (data,)
    dtype = dtype_or(attrs, dtype_of_numbers(*values))
    for value in values:
        require_fits(value, dtype)
    return TensorType(dtype, (len(values),) if isinstance(data, tuple) else ())


def _constant_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dtype = maybe_dtype(source)
    if source.chance(30):
        return {"data": drawn_number(source, dtype), "dtype": dtype}
    values = [drawn_number(source, dtype) for _ in range(source.choice((0, 1, 2, 3, 4, 5, 8)))]
    if source.chance(40):
        values = [int(value) for value in values]
    return {"data": tuple(values), "dtype": dtype}


def _scalar_tensor(types: Types, attrs: Attrs) -> TensorType:
    return filled(attrs["s"], (), dtype_or(attrs, DEFAULT_FLOAT))


def _scalar_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dtype = maybe_dtype(source)
    return {"s": drawn_number(source, dtype), "dtype": dtype}


# --- one-hot

CLASSES = 4


def _classes(b: Builder) -> tuple[Value, ...]:
    """Numbers below CLASSES: a fresh input, or sometimes a computed value."""
    if b.source.chance(30):
        return (clamped(b, b.tensor((DType.INT64,), (0, 4)), 0, CLASSES - 1),)
    type = TensorType(DType.INT64, b.shape(b.source.integer(0, 4)))
    return (b.fresh_input(type, domain=within(0, CLASSES - 1)),)


def _one_hot(types: Types, attrs: Attrs) -> TensorType:
    """With -1 classes, the shape would depend on the numbers."""
    (x,), classes = types, int_of(attrs, "num_classes")
    require_dtype(types, DType.INT64)
    require(classes > 0, "num_classes must be positive")
    return x.with_shape(*x.sizes, classes)


OPS = (
    _filler("full", "torch.full({size}, {fill_value}{more})", "fill_value", default=None),
    _filler("full_like", "torch.full_like({0}, {fill_value}{more})", "fill_value"),
    _filler("new_full", "{0}.new_full({size}, {fill_value}{more})", "fill_value"),
    _filler("zeros", "torch.zeros({size}{more})"),
    _filler("zeros_like", "torch.zeros_like({0}{more})", inplace="{0}.zero_()"),
    _filler("new_zeros", "{0}.new_zeros({size}{more})"),
    _filler("ones", "torch.ones({size}{more})", value=1, plainer="zeros"),
    _filler("ones_like", "torch.ones_like({0}{more})", value=1, plainer="zeros_like"),
    _filler("new_ones", "{0}.new_ones({size}{more})", value=1, plainer="new_zeros"),
    _filler("empty", "torch.empty({size}{more}).fill_({value})", "value", plainer="zeros"),
    _filler("empty_like", "torch.empty_like({0}{more}).fill_({value})", "value", plainer="zeros_like"),
    _filler("new_empty", "{0}.new_empty({size}{more}).fill_({value})", "value", plainer="new_zeros"),
    Op(
        "fill",
        one(),
        _fill,
        "torch.fill({0}, {value})",
        lambda source, types: {"value": drawn_number(source, types[0].dtype)},
        {"value": SCALAR},
        terms=one_term,
        forms={Form.INPLACE: "{0}.fill_({value})"},
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
    ),
    Op(
        "fill_tensor",
        _filled_and_filling,
        _fill_tensor,
        "torch.fill({0}, {1})",
        arity=(2, 2),
        terms=one_term,
        forms={Form.INPLACE: "{0}.fill_({1})"},
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
        zero_sensitivity=ZEROS_WHERE_BOOL,
    ),
    Op(
        "constant",
        nothing,
        _constant,
        "torch.tensor({data}{more})",
        _constant_attrs,
        {"data": DATA, "dtype": OPTIONAL_DTYPE},
        {"dtype": None},
        arity=(0, 0),
        terms=one_term,
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
    ),
    Op(
        "scalar_tensor",
        nothing,
        _scalar_tensor,
        "torch.scalar_tensor({s}{more})",
        _scalar_attrs,
        {"s": SCALAR, "dtype": OPTIONAL_DTYPE},
        {"dtype": None},
        arity=(0, 0),
        terms=one_term,
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
    ),
    Op(
        "one_hot",
        _classes,
        _one_hot,
        "F.one_hot({0}, {num_classes})",
        lambda source, types: {"num_classes": source.integer(CLASSES, 9)},
        {"num_classes": INT},
    ),
)
