"""Running sums and products, differences and integrals along an axis."""

from __future__ import annotations

from collections.abc import Callable

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attr, Attrs, DType, Form, TensorType, Value
from generators.op import (
    INT,
    NUMBER,
    OPTIONAL_DTYPE,
    Arithmetic,
    Infer,
    Op,
    Operands,
    Spelling,
    Types,
    int_of,
    require,
)
from generators.torch.ops.axes import along, draw_axis, terms
from generators.torch.ops.operands import one
from generators.torch.ops.reduction import cast, draw_dtype, factors
from generators.torch.ops.rules import ALL, NUMERIC, floating, promote, require_dtype, summed

# --- running sums and products


def _running(types: Types, attrs: Attrs) -> TensorType:
    """Stricter than PyTorch, which gives bool for an empty operand."""
    (x,) = types
    along(x, attrs["dim"])
    dtype = cast(x, attrs, summed(x.dtype))
    require(dtype is not DType.BOOL, "is not defined for bool")
    return x.with_dtype(dtype)


def _running_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dtype = draw_dtype(source, types)
    return {"dim": draw_axis(source, types), "dtype": None if dtype == DType.BOOL else dtype}


def _running_row(
    name: str, operands: Operands, arithmetic: Arithmetic = Arithmetic.FUNCTION, plainer: str | None = None
) -> Op:
    return Op(
        name,
        operands,
        _running,
        f"torch.{name}({{0}}, dim={{dim}}{{more}})",
        _running_attrs,
        {"dim": INT, "dtype": OPTIONAL_DTYPE},
        {"dtype": None},
        terms=terms,
        forms={Form.METHOD: f"{{0}}.{name}({{dim}}, dtype={{dtype}})", Form.INPLACE: f"{{0}}.{name}_({{dim}})"},
        arithmetic=arithmetic,
        plainer=plainer,
    )


def _logcumsumexp(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *FLOATS)
    along(types[0], attrs["dim"])
    return types[0]


# --- differences


def _beside(x: TensorType, other: TensorType, axis: int) -> bool:
    """Whether the shapes differ only along this axis."""
    sizes = zip(x.sizes, other.sizes, strict=False)
    return other.rank == x.rank and all(mine == theirs or at == axis for at, (mine, theirs) in enumerate(sizes))


def _diff(types: Types, attrs: Attrs) -> TensorType:
    """The second operand is prepended to the first, the third is appended; not for differences of order 0."""
    (x, *others), n = types, int_of(attrs, "n")
    require(x.rank > 0 and n >= 0, f"takes a rank above 0, and differences of an order from 0 on, not {x} and {n}")
    axis = along(x, attrs["dim"])
    for other in others:
        require(_beside(x, other, axis), f"{other} cannot be put before or after {x} along {axis}")
    if n == 0:
        return x
    size = x.sizes[axis] + sum(other.sizes[axis] for other in others)
    return TensorType(promote(types), (*x.sizes[:axis], max(size - n, 0), *x.sizes[axis + 1 :]))


def _diff_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(ranks=(1, 5))
    axis = b.source.integer(0, x.type.rank - 1)

    def neighbour() -> TensorType:
        dtype = x.type.dtype if b.source.chance(60) else b.source.choice(ALL)
        sizes = x.type.sizes
        return TensorType(dtype, (*sizes[:axis], b.source.choice((1, 1, 2, 0)), *sizes[axis + 1 :]))

    more = b.source.choice((0, 0, 0, 1, 2))
    return (x, *(b.pick(lambda t: _beside(x.type, t, axis), neighbour) for _ in range(more)))


def _diff_attrs(source: ChoiceSource, types: Types) -> Attrs:
    x, *others = types
    fitting = [axis for axis in range(x.rank) if all(_beside(x, other, axis) for other in others)]
    axis = source.choice(fitting)
    return {"n": source.choice((1, 1, 1, 1, 0, 2, 2, 3, 9)), "dim": axis - x.rank if source.chance(50) else axis}


def _diff_call(start: str) -> Callable[[tuple[str, ...], Attrs], str]:
    def call(args: tuple[str, ...], attrs: Attrs) -> str:
        x, *others = args
        more = [f"{key}={arg}" for key, arg in zip(("prepend", "append"), others, strict=False)]
        return start.format(x) + ", ".join([f"n={attrs['n']}", f"dim={attrs['dim']}", *more]) + ")"

    return call


def _diff_terms(types: Types, attrs: Attrs) -> int:
    return 1 << min(max(int_of(attrs, "n") - 1, 0), 8)


# --- integrals


def _integral(cumulative: bool) -> Infer:
    """The integral of the first operand, over evenly spaced points or over those of the second operand."""

    def infer(types: Types, attrs: Attrs) -> TensorType:
        y, *points = types
        require(y.rank > 0, "takes a rank above 0")
        axis = along(y, attrs["dim"])
        size = y.sizes[axis]
        for x in points:  # stricter than PyTorch, which broadcasts other shapes in unusual ways
            require(x.shape in (y.shape, (size,)), f"takes one point for each number of {y} along {axis}, not {x}")
        left = (*y.sizes[:axis], *((max(size - 1, 0),) if cumulative else ()), *y.sizes[axis + 1 :])
        if size == 0 and not cumulative:
            return y.with_shape(*left)
        require_dtype(types, *NUMERIC)
        return TensorType(floating(promote(types)), left)

    return infer


def _points(b: Builder) -> tuple[Value, ...]:
    y = b.tensor(NUMERIC, (1, 5))
    shapes = [y.type.shape, (b.source.choice(y.type.sizes),)]

    def otherwise() -> TensorType:
        return TensorType(b.source.choice((y.type.dtype, *NUMERIC)), b.source.choice(shapes))

    return y, b.pick(lambda t: t.dtype in NUMERIC and t.shape in shapes, otherwise)


def _points_attrs(source: ChoiceSource, types: Types) -> Attrs:
    y, x = types
    fitting = [axis for axis, size in enumerate(y.sizes) if x.shape in (y.shape, (size,))]
    axis = source.choice(fitting)
    return {"dim": axis - y.rank if source.chance(50) else axis}


def _spacing_attrs(source: ChoiceSource, types: Types) -> Attrs:
    spacing: Attr = 1 if source.chance(40) else source.choice((2, 0.5, 0.1, -1.5, 0))
    return {"dx": spacing, "dim": -1 if source.chance(40) else draw_axis(source, types)}


def _integrals(name: str, cumulative: bool) -> tuple[Op, Op]:
    """Two rows: with even steps, and with points as an operand. Integers times a step may cancel: hence `scale`."""
    infer = _integral(cumulative)
    even = Op(
        name,
        one(NUMERIC, ranks=(1, 5)),
        infer,
        f"torch.{name}({{0}}{{more}})",
        _spacing_attrs,
        {"dx": NUMBER, "dim": INT},
        {"dx": 1, "dim": -1},
        terms=terms,
        scale=1.0,
    )
    uneven = Op(
        f"{name}_points",
        _points,
        infer,
        f"torch.{name}({{0}}, {{1}}{{more}})",
        _points_attrs,
        {"dim": INT},
        {"dim": -1},
        arity=(2, 2),
        terms=terms,
        scale=1.0,
    )
    return even, uneven


OPS = (
    _running_row("cumsum", one(), arithmetic=Arithmetic.SUM),
    _running_row("cumprod", factors, plainer="cumsum"),
    Op(
        "logcumsumexp",
        one(FLOATS),
        _logcumsumexp,
        "torch.logcumsumexp({0}, dim={dim})",
        lambda source, types: {"dim": draw_axis(source, types)},
        {"dim": INT},
        terms=terms,
        scale=1.0,  # the logarithm of a sum near 1
        forms={Form.METHOD: "{0}.logcumsumexp({dim})"},
        plainer="cumsum",
    ),
    Op(
        "diff",
        _diff_operands,
        _diff,
        _diff_call("torch.diff({0}, "),
        _diff_attrs,
        {"n": INT, "dim": INT},
        {"n": 1, "dim": -1},
        arity=(1, 3),
        terms=_diff_terms,
        forms={Form.METHOD: Spelling(_diff_call("{0}.diff("))},
        arithmetic=Arithmetic.SUM_IN_HALF,
    ),
    *_integrals("trapezoid", cumulative=False),
    *_integrals("cumulative_trapezoid", cumulative=True),
)
