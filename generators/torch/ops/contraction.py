"""Products of all pairs of elements, along one dimension, or over several dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attrs, DType, Form, TensorType, Value
from generators.op import (
    INT,
    INTS,
    Arithmetic,
    AttrKind,
    Op,
    Operands,
    Types,
    int_of,
    ints_of,
    one_term,
    optional,
    require,
)
from generators.shared.draws import further, width
from generators.shared.sizes import broadcast, meet, product
from generators.torch.ops.einsum import EINSUM
from generators.torch.ops.operands import partner
from generators.torch.ops.rules import ALL, NUMERIC, axes_of, axis_of, join, promote, require_dtype, require_same_dtype


def exactly(b: Builder, type: TensorType) -> Value:
    return further(b, lambda t: t == type, lambda: type)


def alike(b: Builder, type: TensorType, dtypes: Sequence[DType]) -> Value:
    """A value of this shape."""
    return further(
        b,
        lambda t: t.dtype in dtypes and t.shape == type.shape,
        lambda: type if b.source.chance(60) else type.with_dtype(b.dtype(dtypes)),
    )


def dense(text: str) -> str:
    """The tensor with the strides of a new one, also in dimensions of size 1, where `contiguous` changes none."""
    return f"{text}.clone(memory_format=torch.contiguous_format)"


def same_numeric(types: Types) -> Types:
    require_dtype(types, *NUMERIC)
    require_same_dtype(types)
    return types


# --- all pairs


def _inner(types: Types, attrs: Attrs) -> TensorType:
    """With a 0-d operand it is a multiplication, and takes the same dtypes."""
    x, y = types
    if x.rank == 0 or y.rank == 0:
        return TensorType(promote(types), (*x.sizes, *y.sizes))
    same_numeric(types)
    require(x.sizes[-1] == y.sizes[-1], f"inner: the last sizes of {x} and {y} differ")
    return x.with_shape(*x.sizes[:-1], *y.sizes[:-1])


def _inner_operands(b: Builder) -> tuple[Value, ...]:
    first = b.tensor(ranks=(0, 3))
    x = first.type
    if x.rank == 0:
        return first, b.tensor(ranks=(0, 4))
    if x.dtype is DType.BOOL or b.source.chance(10):
        return first, b.tensor(ranks=(0, 0))
    inner = x.sizes[-1]

    def otherwise() -> TensorType:
        rows = (width(b, x.numel // max(1, inner)),) if b.source.chance(70) else ()
        return x.with_shape(*rows, inner)

    return first, further(b, lambda y: y.dtype == x.dtype and 0 < y.rank < 4 and y.sizes[-1] == inner, otherwise)


def _inner_terms(types: Types, attrs: Attrs) -> int:
    return max(1, types[0].sizes[-1]) if types[0].rank and types[1].rank else 1


def _outer(types: Types, attrs: Attrs) -> TensorType:
    x, y = types
    require(x.rank == y.rank == 1, f"outer takes two vectors, not {x} and {y}")
    return TensorType(promote(types), (*x.sizes, *y.sizes))


def _kron(types: Types, attrs: Attrs) -> TensorType:
    """PyTorch cannot view a product that inherits unusual strides of its operands, so both are made dense."""
    x, y = types
    rank = max(x.rank, y.rank)
    left, right = ((1,) * (rank - t.rank) + t.sizes for t in types)
    return TensorType(join(x.dtype, y.dtype), tuple([a * c for a, c in zip(left, right, strict=True)]))


def _pairs(ranks: tuple[int, int]) -> Operands:
    """Two values, with a limited number of pairs of elements."""

    def operands(b: Builder) -> tuple[Value, ...]:
        x = b.tensor(ranks=ranks)
        most = b.limits.max_numel // max(1, x.type.numel)

        def small() -> TensorType:
            shape: tuple[int, ...] = ()
            for _ in range(b.source.integer(*ranks)):
                shape += (width(b, x.type.numel * max(1, product(shape))),)
            return TensorType(b.dtype(ALL), shape)

        return x, further(b, lambda t: ranks[0] <= t.rank <= ranks[1] and t.numel <= most, small)

    return operands


# --- along one dimension


def _cross(types: Types, attrs: Attrs) -> TensorType:
    """Without a dim, torch.cross takes the first dimension of size 3."""
    x, y = same_numeric(types)
    require(x.rank == y.rank, f"cross: {x} and {y} have different ranks")
    require(x.rank > 0, "cross takes ranks above 0")
    if attrs["dim"] is None:
        require(3 in x.sizes, f"cross: {x} has no dimension of size 3")
        axis = x.sizes.index(3)
    else:
        axis = axis_of(int_of(attrs, "dim"), x.rank)
    require(x.sizes[axis] == y.sizes[axis] == 3, f"cross: {x} and {y} must have size 3 in dimension {axis}")
    return x.with_shape(*broadcast(x.sizes, y.sizes))


def _cross_operands(b: Builder) -> tuple[Value, ...]:
    def otherwise() -> TensorType:
        shape = b.shape(b.source.integer(1, 4))
        axis = b.source.integer(0, len(shape) - 1)
        shape = (*shape[:axis], 3, *shape[axis + 1 :])
        return TensorType(b.dtype(NUMERIC), shape)

    x = b.pick(lambda t: t.dtype in NUMERIC and 3 in t.sizes, otherwise)

    def fits(y: TensorType) -> bool:
        pairs = zip(x.type.sizes, y.sizes, strict=False)
        return (
            y.dtype == x.type.dtype and y.rank == x.type.rank and all(c == a or (c == 1 and a != 3) for a, c in pairs)
        )

    thinned = (1 if size != 3 and b.source.chance(25) else size for size in x.type.sizes)
    return x, further(b, fits, lambda: x.type.with_shape(*thinned))


def _cross_row(name: str, call: str, default: int | None, kind: AttrKind) -> Op:
    def attrs(source: ChoiceSource, types: Types) -> Attrs | None:
        x, y = types
        axes = [axis for axis in range(x.rank) if x.sizes[axis] == y.sizes[axis] == 3]
        dims: list[int | None] = [dim for axis in axes for dim in (axis, axis - x.rank)]
        if kind.accepts(None) and axes[:1] == [x.sizes.index(3)]:
            dims.append(None)
        return {"dim": source.choice(dims)} if dims else None

    forms = {Form.METHOD: "{0}.cross({1}{more})"} if default is None else {}
    call = f"{call}({{0}}, {{1}}{{more}})"
    two = lambda types, attrs: 2
    return Op(name, _cross_operands, _cross, call, attrs, {"dim": kind}, {"dim": default}, (2, 2), two, forms=forms)


def _vecdot(types: Types, attrs: Attrs) -> TensorType:
    x, y = types
    require_dtype(types, *FLOATS)
    require_same_dtype(types)
    require(x.rank != 1 or y.rank != 1 or x.sizes == y.sizes, f"vecdot does not broadcast vectors: {x}, {y}")
    shape = broadcast(x.sizes, y.sizes)
    axis = axis_of(int_of(attrs, "dim"), len(shape))
    return x.with_shape(*shape[:axis], *shape[axis + 1 :])


def _vecdot_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS)
    y = partner(b, x.type, (x.type.dtype,))
    return b.source.choice(((x, y), (y, x)))


def _vecdot_dim(source: ChoiceSource, types: Types) -> Attrs:
    rank = max(1, *(t.rank for t in types))
    return {"dim": -1 if source.chance(40) else source.integer(-rank, rank - 1)}


def _vecdot_terms(types: Types, attrs: Attrs) -> int:
    shape = broadcast(types[0].sizes, types[1].sizes)
    return max(1, shape[axis_of(int_of(attrs, "dim"), len(shape))]) if shape else 1


# --- over several dimensions


def _contracted(types: Types, left: tuple[int, ...], right: tuple[int, ...]) -> TensorType:
    """Sizes that are contracted with each other are equal, or one of them is 1."""
    x, y = same_numeric(types)
    for a, c in zip(left, right, strict=True):
        sizes = x.sizes[a], y.sizes[c]
        require(meet(*sizes), f"tensordot: sizes {sizes[0]} and {sizes[1]} do not match")
    kept = [size for axis, size in enumerate(x.sizes) if axis not in left]
    return x.with_shape(*kept, *(size for axis, size in enumerate(y.sizes) if axis not in right))


def _axes(types: Types, attrs: Attrs) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes that are contracted with each other."""
    x, y = types
    if "dims" in attrs:
        count = int_of(attrs, "dims")
        require(0 <= count <= min(x.rank, y.rank), f"tensordot: {x} and {y} have no {count} dimensions to match")
        return tuple(range(x.rank - count, x.rank)), tuple(range(count))
    left, right = ints_of(attrs, "dims_self"), ints_of(attrs, "dims_other")
    require(len(left) == len(right), "tensordot takes as many dimensions of one operand as of the other")
    require(min(x.rank, y.rank) > 0 or not left, f"tensordot: {x} or {y} has no dimensions")
    return axes_of(left, x.rank), axes_of(right, y.rank)


def _tensordot(types: Types, attrs: Attrs) -> TensorType:
    return _contracted(types, *_axes(types, attrs))


def _tensordot_terms(types: Types, attrs: Attrs) -> int:
    x, y = types
    left, right = _axes(types, attrs)
    return max(1, product([max(x.sizes[a], y.sizes[c]) for a, c in zip(left, right, strict=True)]))


def _tensordot_operands(ordered: bool) -> Operands:
    """The second operand shares sizes with the first: the last ones in their order, or any of them."""

    def operands(b: Builder) -> tuple[Value, ...]:
        source, first = b.source, b.tensor(NUMERIC, ranks=(0, 4))
        x = first.type
        count = source.integer(0, x.rank)
        shared = x.sizes[x.rank - count :] if ordered else source.shuffled(x.sizes)[:count]
        rest = x.numel // max(1, product(shared))
        sizes = [1 if source.chance(10) else size for size in shared]
        for _ in range(source.integer(0, 4 - count)):
            sizes.append(width(b, rest))
            rest *= max(1, sizes[-1])
        if not ordered:
            sizes = source.shuffled(sizes)
        return first, exactly(b, x.with_shape(*sizes))

    return operands


def _tensordot_count(source: ChoiceSource, types: Types) -> Attrs:
    x, y = types
    fitting = [0]
    for count in range(1, min(x.rank, y.rank) + 1):
        pairs = zip(x.sizes[x.rank - count :], y.sizes[:count], strict=True)
        fitting += [count] * 2 if all(meet(a, c) for a, c in pairs) else []
    return {"dims": source.choice(fitting)}


def _tensordot_lists(source: ChoiceSource, types: Types) -> Attrs:
    x, y = types
    left: list[int] = []
    right: list[int] = []
    for axis in source.some(range(x.rank), 0, 3):
        size = x.sizes[axis]
        fitting = [c for c in range(y.rank) if c not in right and meet(size, y.sizes[c])]
        if fitting:
            left.append(axis)
            right.append(source.choice(fitting))

    def signed(axes: list[int], rank: int) -> tuple[int, ...]:
        return tuple([axis - rank if source.chance(30) else axis for axis in axes])

    return {"dims_self": signed(left, x.rank), "dims_other": signed(right, y.rank)}


OPS = (
    Op(
        "inner",
        _inner_operands,
        _inner,
        "torch.inner({0}, {1})",
        arity=(2, 2),
        terms=_inner_terms,
        forms={Form.METHOD: "{0}.inner({1})"},
        arithmetic=Arithmetic.SUM,
        plainer="matmul",
    ),
    Op(
        "outer",
        _pairs((1, 1)),
        _outer,
        "torch.outer({0}, {1})",
        arity=(2, 2),
        terms=one_term,
        forms={Form.FUNCTION: "torch.ger({0}, {1})", Form.METHOD: "{0}.outer({1})"},
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
    ),
    Op(
        "kron",
        _pairs((0, 4)),
        _kron,
        f"torch.kron({dense('{0}')}, {dense('{1}')})",
        arity=(2, 2),
        terms=one_term,
        forms={Form.METHOD: f"{dense('{0}')}.kron({dense('{1}')})"},
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
    ),
    _cross_row("cross", "torch.cross", None, optional(INT)),
    _cross_row("linalg_cross", "torch.linalg.cross", -1, INT),
    Op(
        "linalg_vecdot",
        _vecdot_operands,
        _vecdot,
        "torch.linalg.vecdot({0}, {1}{more})",
        _vecdot_dim,
        {"dim": INT},
        {"dim": -1},
        arity=(2, 2),
        terms=_vecdot_terms,
        arithmetic=Arithmetic.SUM,
    ),
    Op(
        "tensordot",
        _tensordot_operands(ordered=True),
        _tensordot,
        "torch.tensordot({0}, {1}{more})",
        _tensordot_count,
        {"dims": INT},
        {"dims": 2},
        arity=(2, 2),
        terms=_tensordot_terms,
        arithmetic=Arithmetic.SUM,
    ),
    Op(
        "tensordot_dims",
        _tensordot_operands(ordered=False),
        _tensordot,
        "torch.tensordot({0}, {1}, dims=({dims_self}, {dims_other}))",
        _tensordot_lists,
        {"dims_self": INTS, "dims_other": INTS},
        arity=(2, 2),
        terms=_tensordot_terms,
        arithmetic=Arithmetic.SUM,
    ),
    EINSUM,
)
