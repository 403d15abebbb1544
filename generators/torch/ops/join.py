"""Joining tensors: along a dimension, along a new one, and by broadcasting."""

from __future__ import annotations

from collections.abc import Callable

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, Form, TensorType, Value
from generators.op import INT, Op, Types, int_of, one_of, require
from generators.shared.sizes import broadcast
from generators.torch.ops.move import any_dim
from generators.torch.ops.operands import broadcasting
from generators.torch.ops.part import replaced
from generators.torch.ops.rules import ALL, axis_of, promote, require_same_dtype
from generators.torch.ops.shape import at_least

# --- cat and its relatives


def _cat_along(types: Types, dim: int) -> TensorType:
    """Vectors without elements always fit, for historical reasons, but their dtype takes part in the promotion."""
    solid = [t for t in types if t.sizes != (0,)]
    first = solid[0] if solid else types[0]
    require(all(t.rank == first.rank > 0 for t in solid), "cat takes tensors of one rank above 0")
    axis = axis_of(dim, first.rank)
    for other in solid:
        for i in range(first.rank):
            require(i == axis or other.sizes[i] == first.sizes[i], f"cat of {first} and {other} along {axis}")
    return TensorType(promote(types), replaced(first, axis, sum(t.sizes[axis] for t in solid)).shape)


def _cat(types: Types, attrs: Attrs) -> TensorType:
    return _cat_along(types, int_of(attrs, "dim"))


def _cat_operands(b: Builder) -> tuple[Value, ...]:
    """Values of any dtypes, with any sizes along one dimension."""
    first = b.tensor(ranks=(1, 5))
    axis = b.source.integer(0, first.type.rank - 1)
    others = [_beside(b, first.type, axis) for _ in range(b.source.choice((0, 1, 1, 1, 2, 2, 3)))]
    if b.source.chance(4):
        others.append(b.fresh_input(TensorType(b.dtype(ALL), (0,))))
    return tuple(b.source.shuffled((first, *others)))


def _any_dtype(b: Builder, type: TensorType) -> TensorType:
    return type if b.source.chance(60) else type.with_dtype(b.source.choice(ALL))


def _beside(b: Builder, type: TensorType, axis: int) -> Value:
    """A value whose shape differs from the type's only along this axis."""

    def fits(t: TensorType) -> bool:
        return t.rank == type.rank and all(i == axis or size == type.sizes[i] for i, size in enumerate(t.sizes))

    def otherwise() -> TensorType:
        return _any_dtype(b, replaced(type, axis, b.source.choice((type.sizes[axis], 1, 2, 3))))

    return b.pick(fits, otherwise)


def _cat_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    solid = [t for t in types if t.sizes != (0,)] or list(types)
    rank = solid[0].rank
    differ = [i for i in range(rank) if any(t.sizes[i] != solid[0].sizes[i] for t in solid)]
    if len(differ) > 1:
        return None
    axis = differ[0] if differ else source.integer(0, rank - 1)
    return {"dim": axis - rank if source.chance(30) else axis}


def _stack(types: Types, attrs: Attrs) -> TensorType:
    shape = types[0].sizes
    require(all(t.sizes == shape for t in types), "stack takes tensors of one shape")
    axis = axis_of(int_of(attrs, "dim"), len(shape) + 1)
    return TensorType(promote(types), (*shape[:axis], len(types), *shape[axis:]))


def _of_one_shape(b: Builder) -> tuple[Value, ...]:
    first = b.tensor(ranks=(0, 4))

    def another() -> Value:
        return b.pick(lambda t: t.sizes == first.type.sizes, lambda: _any_dtype(b, first.type))

    return (first, *(another() for _ in range(b.source.choice((0, 1, 1, 2, 3)))))


def _as_column(x: TensorType) -> TensorType:
    return x.with_shape(*at_least(x, 1).sizes, 1) if x.rank < 2 else x


def _stacker(name: str, grown: Callable[[TensorType], TensorType], dim: Callable[[int], int], other: str = "") -> Op:
    """Tensors of low rank first get more dimensions. Then all are joined along the dimension that `dim` gives."""

    def infer(types: Types, attrs: Attrs) -> TensorType:
        made = tuple(map(grown, types))
        return _cat_along(made, dim(next((t for t in made if t.sizes != (0,)), made[0]).rank))

    def operands(b: Builder) -> tuple[Value, ...]:
        first = b.tensor(ranks=(0, 4))
        made = grown(first.type)
        axis = dim(made.rank)

        def fits(t: TensorType) -> bool:
            there = grown(t)
            return there.rank == made.rank and replaced(there, axis, 0).sizes == replaced(made, axis, 0).sizes

        def otherwise() -> TensorType:
            size = b.source.integer(1, 3)
            return _any_dtype(b, replaced(made, axis, size) if b.source.chance(50) else first.type)

        return (first, *(b.pick(fits, otherwise) for _ in range(b.source.choice((0, 1, 1, 2)))))

    return Op(
        name,
        operands,
        infer,
        f"torch.{name}(({{args}},))",
        arity=(1, 8),
        forms={Form.FUNCTION: f"torch.{other}(({{args}},))"} if other else {},
    )


def _block_diag(types: Types, attrs: Attrs) -> TensorType:
    require(all(t.rank <= 2 for t in types), "block_diag takes at most matrices")
    blocks = [at_least(t, 2).sizes for t in types]
    return TensorType(promote(types), (sum(rows for rows, _ in blocks), sum(columns for _, columns in blocks)))


def _meshgrid(types: Types, attrs: Attrs) -> Types:
    require(all(t.rank <= 1 for t in types), "meshgrid takes vectors and 0-d tensors")
    require_same_dtype(types)
    sizes = [at_least(t, 1).sizes[0] for t in types]
    if attrs["indexing"] == "xy":
        sizes[:2] = sizes[1::-1]
    return tuple(t.with_shape(*sizes) for t in types)


def _vectors(b: Builder) -> tuple[Value, ...]:
    first = b.tensor(ranks=(0, 1))

    def otherwise() -> TensorType:
        return first.type.with_shape(*(b.source.integer(1, 6) for _ in range(0 if b.source.chance(15) else 1)))

    def another() -> Value:
        return b.pick(lambda t: t.rank <= 1 and t.dtype == first.type.dtype and t.numel <= 16, otherwise)

    return (first, *(another() for _ in range(b.source.choice((0, 1, 1, 1, 2)))))


def _broadcast_tensors(types: Types, attrs: Attrs) -> Types:
    shape = broadcast(*(t.sizes for t in types))
    return tuple(t.with_shape(*shape) for t in types)


def _broadcastable(b: Builder) -> tuple[Value, ...]:
    return broadcasting(b.source.integer(1, 3))(b) or ()


def _matrices(b: Builder) -> tuple[Value, ...]:
    return tuple(b.tensor(ranks=(0, 2)) for _ in range(b.source.integer(1, 3)))


_JOINED = {"dim": INT}

OPS = (
    Op(
        "cat",
        _cat_operands,
        _cat,
        "torch.cat(({args},){more})",
        _cat_attrs,
        _JOINED,
        {"dim": 0},
        arity=(1, 8),
        forms={Form.FUNCTION: "torch.concat(({args},){more})"},
    ),
    Op(
        "concatenate",
        _cat_operands,
        _cat,
        "torch.concatenate(({args},){more})",
        _cat_attrs,
        _JOINED,
        {"dim": 0},
        arity=(1, 8),
        forms={Form.FUNCTION: "torch.concatenate(({args},), axis={dim})"},
        plainer="cat",
    ),
    Op(
        "stack",
        _of_one_shape,
        _stack,
        "torch.stack(({args},){more})",
        lambda source, types: {"dim": any_dim(source, types[0].rank + 1)},
        _JOINED,
        {"dim": 0},
        arity=(1, 8),
    ),
    _stacker("hstack", lambda x: at_least(x, 1), lambda rank: 0 if rank == 1 else 1),
    _stacker("vstack", lambda x: at_least(x, 2), lambda rank: 0, other="row_stack"),
    _stacker("dstack", lambda x: at_least(x, 3), lambda rank: 2),
    _stacker("column_stack", _as_column, lambda rank: 1),
    Op("block_diag", _matrices, _block_diag, "torch.block_diag({args})", arity=(1, 8)),
    Op(
        "meshgrid",
        _vectors,
        _meshgrid,
        "torch.meshgrid({args}, indexing={indexing})",
        lambda source, types: {"indexing": source.choice(("ij", "xy"))},
        {"indexing": one_of("ij", "xy")},
        {"indexing": "ij"},
        arity=(1, 8),
        forms={Form.FUNCTION: "torch.meshgrid([{args}]{more})"},
        view=True,
        lists=True,
    ),
    Op(
        "broadcast_tensors",
        _broadcastable,
        _broadcast_tensors,
        "torch.broadcast_tensors({args})",
        arity=(1, 8),
        view=True,
        lists=True,
    ),
)
