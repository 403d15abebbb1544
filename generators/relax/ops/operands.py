"""Functions that choose the operands of a call, and types that many rows share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.builder import Builder
from generators.domain import ANY, Domain
from generators.graph import Attrs, DType, Invalid, Role, TensorType, Value
from generators.op import Operands, Types, require
from generators.shared.draws import thinned
from generators.symbolic import formula

FLOATS = (DType.FLOAT32, DType.FLOAT64, DType.FLOAT16)
INTEGERS = (DType.INT64, DType.INT32, DType.INT8, DType.UINT8)
NUMERIC = (*FLOATS, *INTEGERS)
ALL = (*NUMERIC, DType.BOOL)
INDICES = (DType.INT64, DType.INT32)

EVERY_RANK = (0, 5)
BOUND = 100.0
"""The bound of a guard that has none: half precision holds its square."""


def one(dtypes: Sequence[DType] = ALL, ranks: tuple[int, int] = EVERY_RANK) -> Operands:
    """The only operand."""
    return lambda b: (b.tensor(dtypes, ranks),)


def none(b: Builder) -> tuple[Value, ...]:
    return ()


def inside(
    dtypes: Sequence[DType], low: float, high: float, domain: Domain, ranks: tuple[int, int] = EVERY_RANK
) -> Operands:
    """The only operand, with numbers from `low` to `high`: an input of the domain, or a value after R.clip."""
    return lambda b: (kept(b, b.tensor(dtypes, ranks), low, high, domain),)


def kept(b: Builder, value: Value, low: float, high: float, domain: Domain = ANY) -> Value:
    """The value after R.clip to [low, high]. Sometimes a new input of the domain in its place."""
    if domain != ANY and b.source.chance(40):
        return b.fresh_input(value.type, domain=domain)
    whole = not value.type.dtype.is_float
    bounds: Attrs = {"min": int(low) if whole else low, "max": int(high) if whole else high}
    return b.emit(b.dialect.operator_at("relax.clip", 0), (value,), bounds)[0]


def broadcasting(dtypes: Sequence[DType] = ALL, count: int = 2) -> Operands:
    """Values of one dtype whose shapes broadcast, in any order."""

    def operands(b: Builder) -> tuple[Value, ...]:
        first = b.tensor(dtypes)
        others = [partner(b, first.type) for _ in range(count - 1)]
        return tuple(b.source.shuffled([first, *others])) if b.source.chance(40) else (first, *others)

    return operands


def partner(b: Builder, type: TensorType) -> Value:
    """A value of the same dtype that broadcasts with `type` without growing it: mostly one that is there, else an
    input or a constant."""

    def fits(other: TensorType) -> bool:
        pairs = zip(reversed(other.sizes), reversed(type.sizes), strict=False)
        return other.dtype == type.dtype and other.rank <= type.rank and all(a in (1, c) for a, c in pairs)

    if b.source.chance(25):
        return owned(b, TensorType(type.dtype, thinned(b, type.sizes)))
    return b.pick(fits, lambda: TensorType(type.dtype, thinned(b, type.sizes)))


def owned(b: Builder, type: TensorType, domain: Domain = ANY) -> Value:
    """A tensor of the module: a constant, if no size is open; sometimes an input."""
    if b.source.chance(80) and not type.formal().symbols:
        return b.param(type.dtype, *map(int, type.sizes), domain=domain)
    return b.fresh_input(type, Role.INPUT, domain)


def alike(b: Builder, type: TensorType) -> Value:
    """A value of this type."""
    return b.pick(lambda other: other == type, lambda: type)


# --- types


def only(*dtypes: DType) -> Callable[[Types, Attrs], TensorType]:
    """The result has the type of the first operand, which has one of these dtypes."""

    def infer(types: Types, attrs: Attrs) -> TensorType:
        require(types[0].dtype in dtypes, f"is not defined for {types[0].dtype}")
        return types[0]

    return infer


def to_bool(*dtypes: DType) -> Callable[[Types, Attrs], TensorType]:
    """One operand of these dtypes, and a result of booleans."""
    return lambda types, attrs: only(*dtypes)(types, attrs).with_dtype(DType.BOOL)


def one_dtype(types: Types, *dtypes: DType) -> DType:
    """The dtype that all operands share."""
    found = {type.dtype for type in types}
    require(len(found) == 1, f"operands of several dtypes: {', '.join(map(str, types))}")
    (dtype,) = found
    require(not dtypes or dtype in dtypes, f"is not defined for {dtype}")
    return dtype


def broadcast_formulas(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which all broadcast. TVM cannot compare an open size with another formula: they do not broadcast."""
    rank = max(map(len, shapes))
    out: list[int] = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if formula(size) == formula(1):
                continue
            require(formula(out[axis]) in (formula(1), formula(size)), f"shapes {', '.join(map(str, shapes))}")
            out[axis] = size
    return tuple(out)


def broadcast_of(*dtypes: DType) -> Callable[[Types, Attrs], TensorType]:
    """Operands of one dtype that broadcast; the result has this dtype."""

    def infer(types: Types, attrs: Attrs) -> TensorType:
        return TensorType(one_dtype(types, *dtypes), broadcast_formulas(*(type.sizes for type in types)))

    return infer


def compared(*dtypes: DType) -> Callable[[Types, Attrs], TensorType]:
    """Operands of one dtype that broadcast; the result is of booleans."""
    return lambda types, attrs: broadcast_of(*dtypes)(types, attrs).with_dtype(DType.BOOL)


def axis_in(axis: int, rank: int) -> int:
    """The axis, counted from the start."""
    if not -rank <= axis < rank:
        raise Invalid(f"axis {axis} is out of range for rank {rank}")
    return axis % rank


def axes_in(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """The axes, counted from the start. None is named twice."""
    found = tuple(axis_in(axis, rank) for axis in axes)
    require(len(set(found)) == len(found), f"axes {list(axes)} name one twice")
    return found


def with_size(x: TensorType, axis: int, size: int) -> TensorType:
    """The type with another size along an axis."""
    return x.with_shape(*x.sizes[:axis], size, *x.sizes[axis + 1 :])
