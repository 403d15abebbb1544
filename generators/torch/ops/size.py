"""Rows that use sizes of their operand as Python numbers: with symbolic dimensions, this is arithmetic on symbols."""

from __future__ import annotations

from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attrs, DType, Form, TensorType
from generators.op import (
    INT,
    INTS,
    NUMBER,
    OPTIONAL_DTYPE,
    SCALAR,
    Arithmetic,
    Infer,
    Op,
    Spelling,
    Template,
    Types,
    int_of,
    ints_of,
    one_term,
    optional,
    require,
)
from generators.shared.numbers import require_fits
from generators.shared.sizes import product
from generators.torch.ops.literals import drawn_number, dtype_of_numbers, dtype_or, dtype_text, filled, maybe_dtype
from generators.torch.ops.move import RANKED, any_dim, some_dims
from generators.torch.ops.operands import one
from generators.torch.ops.rules import (
    DEFAULT_FLOAT,
    NUMERIC,
    axes_of,
    axis_of,
    floating,
    promote,
    require_dtype,
    size_along,
)

# --- shapes


def _keep(types: Types, attrs: Attrs) -> TensorType:
    """The first dimensions stay, and the others become one. With a negative `keep`, the last ones stay."""
    (x,), keep = types, int_of(attrs, "keep")
    require(0 < abs(keep) <= x.rank, f"{keep} is no number of dimensions of {x}")
    kept, rest = (x.sizes[:keep], x.sizes[keep:]) if keep > 0 else (x.sizes[keep:], x.sizes[:keep])
    require(product(kept) > 0, f"-1 is any number in a reshape of {x}")
    return x.with_shape(*kept, product(rest)) if keep > 0 else x.with_shape(product(rest), *kept)


def _keep_attrs(source: ChoiceSource, types: Types) -> Attrs:
    keep = source.integer(1, types[0].rank)
    return {"keep": -keep if source.chance(40) else keep}


def _keep_source(function: str, size: str) -> Template:
    def text(args: tuple[str, ...], attrs: Attrs) -> str:
        keep = int_of(attrs, "keep")
        kept = [size.format(args[0], dim) for dim in (range(keep) if keep > 0 else range(keep, 0))]
        return f"{args[0]}.{function}({', '.join([*kept, '-1'] if keep > 0 else ['-1', *kept])})"

    return text


def _merge(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    axes = axes_of(ints_of(attrs, "dims"), x.rank)
    require(x.rank > 0 and len(axes) > 0, "merges at least one dimension")
    rows = product([x.sizes[axis] for axis in axes])
    require(rows > 0, f"-1 is any number in a reshape of {x}")
    return x.with_shape(rows, product([size for axis, size in enumerate(x.sizes) if axis not in axes]))


def _merge_source(args: tuple[str, ...], attrs: Attrs) -> str:
    rows = " * ".join(f"{args[0]}.size({dim})" for dim in ints_of(attrs, "dims"))
    return f"{args[0]}.reshape({rows}, -1)"


def _heads(types: Types, attrs: Attrs) -> TensorType:
    """The reshape of attention before its transpose: the features are divided among heads."""
    (x,), heads = types, int_of(attrs, "heads")
    require(x.rank > 1 and heads > 0, "heads are a positive number, in a rank above 1")
    first, *middle, last = x.sizes
    require(first * last > 0 and last % heads == 0, f"{heads} heads do not divide {x}")
    return x.with_shape(first, product(middle), heads, last // heads)


def _heads_attrs(source: ChoiceSource, types: Types) -> Attrs:
    last = types[0].sizes[-1]
    return {"heads": source.choice([heads for heads in (1, 2, 3, 4, 8) if last % heads == 0])}


# --- numbers


def times_size(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    require(x.rank > 0, "a 0-d tensor has no sizes")
    return x.with_dtype(promote(types, size_along(x, int_of(attrs, "dim"))))


def _over_size(types: Types, attrs: Attrs) -> TensorType:
    return types[0].with_dtype(floating(times_size(types, attrs).dtype))


def _over_numel(types: Types, attrs: Attrs) -> TensorType:
    return types[0].with_dtype(floating(types[0].dtype))


def arithmetic_with_size(
    name: str, infer: Infer, source: str, arithmetic: Arithmetic = Arithmetic.ONE_STEP, **forms: str
) -> Op:
    return Op(
        name,
        RANKED,
        infer,
        source,
        lambda source, types: {"dim": any_dim(source, types[0].rank)},
        {"dim": INT},
        terms=one_term,
        forms={Form(form): text for form, text in forms.items()},
        arithmetic=arithmetic,
    )


# --- new tensors


def _arange(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    dtype = dtype_or(attrs, DType.INT64)
    require(x.rank > 0, "a 0-d tensor has no sizes")
    require(dtype is not DType.BOOL, "arange is not defined for bool")
    size = x.sizes[axis_of(int_of(attrs, "dim"), x.rank)]
    require(dtype in FLOATS or size <= dtype.range[1], f"{dtype} does not count to {size}")
    return TensorType(dtype, (size,))


def _full(types: Types, attrs: Attrs) -> TensorType:
    """One dimension may occur twice: masks are square."""
    (x,), dims = types, ints_of(attrs, "dims")
    require(x.rank > 0, "a 0-d tensor has no sizes")
    value = attrs["fill_value"]
    return filled(value, [x.sizes[axis_of(dim, x.rank)] for dim in dims], dtype_or(attrs, dtype_of_numbers(value)))


def _full_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dims = some_dims(source, types[0].rank)[:3]
    if source.chance(25):
        dims = (dims[0], dims[0])
    dtype = maybe_dtype(source)
    return {"dims": dims, "fill_value": drawn_number(source, dtype), "dtype": dtype}


def _full_source(args: tuple[str, ...], attrs: Attrs) -> str:
    sizes = "".join(f"{args[0]}.size({dim}), " for dim in ints_of(attrs, "dims"))
    return f"torch.full(({sizes.rstrip()}), {attrs['fill_value']!r}{dtype_text(attrs)})"


def _value_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dtype = maybe_dtype(source)
    return {"value": drawn_number(source, dtype), "dtype": dtype}


def _eye(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    require(x.rank > 0, "a 0-d tensor has no sizes")
    n = x.sizes[axis_of(int_of(attrs, "dim"), x.rank)]
    return filled(1, (n, n if attrs["m"] is None else int_of(attrs, "m")), dtype_or(attrs, DEFAULT_FLOAT))


def _eye_attrs(source: ChoiceSource, types: Types) -> Attrs:
    m = source.integer(0, 6) if source.chance(40) else None
    return {"dim": any_dim(source, types[0].rank), "m": m, "dtype": maybe_dtype(source)}


def _linspace(types: Types, attrs: Attrs) -> TensorType:
    (x,), dtype = types, dtype_or(attrs, DEFAULT_FLOAT)
    require(x.rank > 0, "a 0-d tensor has no sizes")
    require_dtype((x.with_dtype(dtype),), *FLOATS)
    for key in ("start", "end"):
        require_fits(attrs[key], dtype)
    return TensorType(dtype, (x.sizes[axis_of(int_of(attrs, "dim"), x.rank)],))


def _linspace_attrs(source: ChoiceSource, types: Types) -> Attrs:
    start, end = (source.choice((source.integer(-8, 8), source.integer(-16, 16) / 2)) for _ in range(2))
    return {"start": start, "end": end, "dim": any_dim(source, types[0].rank), "dtype": maybe_dtype(source, FLOATS)}


OPS = (
    Op(
        "reshape_keep",
        RANKED,
        _keep,
        _keep_source("reshape", "{}.size({})"),
        _keep_attrs,
        {"keep": INT},
        forms={Form.METHOD: Spelling(_keep_source("contiguous().view", "{}.shape[{}]"))},
        view=True,
    ),
    Op(
        "reshape_merge",
        RANKED,
        _merge,
        _merge_source,
        lambda source, types: {"dims": some_dims(source, types[0].rank)},
        {"dims": INTS},
        view=True,
    ),
    Op(
        "reshape_heads",
        one(ranks=(2, 4)),
        _heads,
        "{0}.reshape({0}.size(0), -1, {heads}, {0}.size(-1) // {heads})",
        _heads_attrs,
        {"heads": INT},
        view=True,
    ),
    arithmetic_with_size(
        "times_size",
        times_size,
        "{0} * {0}.size({dim})",
        method="{0}.mul({0}.shape[{dim}])",
        operator="{0}.shape[{dim}] * {0}",
    ),
    arithmetic_with_size("over_size", _over_size, "{0} / {0}.size({dim})", method="{0}.div({0}.shape[{dim}])"),
    arithmetic_with_size(
        "over_root_size",
        _over_size,
        "{0} / {0}.size({dim}) ** 0.5",
        Arithmetic.FUNCTION,
        method="{0}.div({0}.shape[{dim}] ** 0.5)",
    ),
    Op(
        "over_numel",
        one(),
        _over_numel,
        "{0} / {0}.numel()",
        terms=one_term,
        forms={Form.METHOD: "{0}.div({0}.numel())"},
        arithmetic=Arithmetic.ONE_STEP,
    ),
    Op(
        "arange_size",
        RANKED,
        _arange,
        "torch.arange({0}.size({dim}){more})",
        lambda source, types: {"dim": any_dim(source, types[0].rank), "dtype": maybe_dtype(source, NUMERIC)},
        {"dim": INT, "dtype": OPTIONAL_DTYPE},
        {"dtype": None},
        terms=one_term,
    ),
    Op(
        "ones_shape",
        one(),
        lambda types, attrs: types[0].with_dtype(dtype_or(attrs, DEFAULT_FLOAT)),
        "torch.ones({0}.shape{more})",
        lambda source, types: {"dtype": maybe_dtype(source)},
        {"dtype": OPTIONAL_DTYPE},
        {"dtype": None},
    ),
    Op(
        "empty_shape",
        one(),
        lambda types, attrs: filled(attrs["value"], types[0].sizes, dtype_or(attrs, DEFAULT_FLOAT)),
        "torch.empty({0}.shape{more}).fill_({value})",
        _value_attrs,
        {"value": SCALAR, "dtype": OPTIONAL_DTYPE},
        {"dtype": None},
        terms=one_term,
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
    ),
    Op(
        "eye_size",
        RANKED,
        _eye,
        "torch.eye({0}.shape[{dim}]{more})",
        _eye_attrs,
        {"dim": INT, "m": optional(INT), "dtype": OPTIONAL_DTYPE},
        {"m": None, "dtype": None},
    ),
    Op(
        "linspace_size",
        RANKED,
        _linspace,
        "torch.linspace({start}, {end}, {0}.shape[{dim}]{more})",
        _linspace_attrs,
        {"start": NUMBER, "end": NUMBER, "dim": INT, "dtype": OPTIONAL_DTYPE},
        {"dtype": None},
        terms=one_term,
        scale=8.0,
    ),
    Op(
        "full_size",
        RANKED,
        _full,
        _full_source,
        _full_attrs,
        {"dims": INTS, "fill_value": SCALAR, "dtype": OPTIONAL_DTYPE},
        {"dtype": None},
        terms=one_term,
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
    ),
)
