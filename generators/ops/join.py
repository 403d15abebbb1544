"""Joining tensors, and taking them apart."""

from __future__ import annotations

from collections.abc import Callable

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, Form, TensorType, Value
from generators.ops.base import INT, SIZES, DrawAttrs, Infer, Kind, Op, Types, int_of, ints_of, one_of, require
from generators.ops.move import INT_OR_INTS, RANKED, any_dim
from generators.ops.operands import broadcasting, one
from generators.ops.part import replaced, slice_size
from generators.ops.rules import ALL, axis_of, broadcast, promote, require_same_dtype
from generators.ops.shape import at_least

MOST_PIECES = 8
"""That are drawn."""

MOST_RESULTS = 1 << 16
"""That a file can ask for: an empty tensor may have a dimension of billions."""

# --- cat and its relatives


def _cat_along(types: Types, dim: int) -> TensorType:
    """Vectors without elements fit everywhere: PyTorch's legacy. Their dtype counts, though."""
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
    """Of any dtypes, and of any sizes along one dimension."""
    first = b.tensor(ranks=(1, 5))
    axis = b.source.integer(0, first.type.rank - 1)
    others = [_beside(b, first.type, axis) for _ in range(b.source.choice((0, 1, 1, 1, 2, 2, 3)))]
    if b.source.chance(4):
        others.append(b.fresh_input(TensorType(b.dtype(ALL), (0,))))
    return tuple(b.source.shuffled((first, *others)))


def _any_dtype(b: Builder, type: TensorType) -> TensorType:
    return type if b.source.chance(60) else type.with_dtype(b.source.choice(ALL))


def _beside(b: Builder, type: TensorType, axis: int) -> Value:
    """A value whose shape differs from the type's along this axis at most."""

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
    """Tensors of low rank get dimensions first; then all are joined along the dimension that `dim` gives for a rank."""

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


# --- split and its relatives


def _pieces(x: TensorType, axis: int, sizes: list[int]) -> Types:
    return tuple(replaced(x, axis, size) for size in sizes)


def _axis(x: TensorType, attrs: Attrs) -> int:
    require(x.rank > 0, "takes a rank above 0")
    return axis_of(int_of(attrs, "dim"), x.rank)


def _split(types: Types, attrs: Attrs) -> Types:
    (x,), sizes = types, ints_of(attrs, "sizes")
    axis = _axis(x, attrs)
    require(len(sizes) > 0 and min(sizes) >= 0, "split takes sizes, none of them negative")
    require(sum(sizes) == x.sizes[axis], f"split sizes {sizes} do not add up to {x.sizes[axis]}")
    return _pieces(x, axis, list(sizes))


def _split_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dim = any_dim(source, types[0].rank)
    size = int(types[0].sizes[dim])
    cuts = sorted(source.integer(0, size) for _ in range(source.integer(0, 3)))
    return {"sizes": tuple(b - a for a, b in zip([0, *cuts], [*cuts, size], strict=True)), "dim": dim}


def _by_size(x: TensorType, axis: int, each: int) -> Types:
    """Pieces of `each` > 0 elements; the last one may be smaller."""
    size = x.sizes[axis]
    count = max(-(-int(size) // each), 1)
    require(count <= MOST_RESULTS, f"{count} pieces are too many")
    return _pieces(x, axis, [each] * (count - 1) + [size - each * (count - 1)])


def _split_size(types: Types, attrs: Attrs) -> Types:
    (x,), each = types, int_of(attrs, "split_size_or_sections")
    axis = _axis(x, attrs)
    require(each > 0 or each == x.sizes[axis] == 0, f"{x.sizes[axis]} cannot be split by {each}")
    return _by_size(x, axis, each or 1)


def _split_size_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dim = any_dim(source, types[0].rank)
    size = types[0].sizes[dim]
    return {"split_size_or_sections": source.integer(-(-int(size) // MOST_PIECES) or 1, size + 1), "dim": dim}


def _chunk(types: Types, attrs: Attrs) -> Types:
    """Fewer than asked for, where the size does not suffice; but of an empty dimension, as many."""
    (x,), chunks = types, int_of(attrs, "chunks")
    axis = _axis(x, attrs)
    require(0 < chunks <= MOST_RESULTS, f"chunks must be a positive number, not {chunks}")
    size = x.sizes[axis]
    return _by_size(x, axis, (size + chunks - 1) // chunks) if size else _pieces(x, axis, [0] * chunks)


def _chunk_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {"chunks": source.integer(1, MOST_PIECES), "dim": any_dim(source, types[0].rank)}


def _unbind(types: Types, attrs: Attrs) -> Types:
    """Where PyTorch gives no results at all, this is no call for a graph."""
    (x,) = types
    axis = _axis(x, attrs)
    require(0 < x.sizes[axis] <= MOST_RESULTS, f"unbind of {x.sizes[axis]} elements")
    return (x.with_shape(*x.sizes[:axis], *x.sizes[axis + 1 :]),) * int(x.sizes[axis])


def _unbind_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    (x,) = types
    fitting = [dim for dim in range(-x.rank, x.rank) if 0 < x.sizes[dim] <= MOST_PIECES]
    return {"dim": source.choice(fitting)} if fitting else None


def _tensor_split(types: Types, attrs: Attrs) -> Types:
    """Into sections whose sizes differ by at most one, or before each index as slices are."""
    (x,) = types
    axis = _axis(x, attrs)
    size = x.sizes[axis]
    if isinstance(attrs["indices_or_sections"], tuple):
        cuts = ints_of(attrs, "indices_or_sections")
        return _pieces(x, axis, [slice_size(size, a, b) for a, b in zip((None, *cuts), (*cuts, None), strict=True)])
    sections = int_of(attrs, "indices_or_sections")
    require(0 < sections <= MOST_RESULTS, f"sections must be a positive number, not {sections}")
    return _pieces(x, axis, [(size - i + sections - 1) // sections for i in range(sections)])


def _cuts(source: ChoiceSource, size: int) -> tuple[int, ...]:
    """Ascending mostly; some are counted from the end, or past it."""
    cuts = [source.integer(0, size) for _ in range(source.integer(0, 3))]
    cuts = sorted(cuts) if source.chance(80) else cuts
    return tuple(cut - size if source.chance(25) else cut + size if source.chance(5) else cut for cut in cuts)


def _tensor_split_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dim = any_dim(source, types[0].rank)
    size = types[0].sizes[dim]
    return {"indices_or_sections": source.integer(1, 5) if source.chance(50) else _cuts(source, size), "dim": dim}


def _numpy_split(name: str, rank: int, axis: Callable[[int], int]) -> Op:
    """Sections of one size, or indices."""

    def infer(types: Types, attrs: Attrs) -> Types:
        (x,), sections = types, attrs["indices_or_sections"]
        require(x.rank >= rank, f"{name} takes rank {rank} or more, not {x}")
        size = x.sizes[axis(x.rank)]
        if isinstance(sections, int):
            require(sections > 0 and size % sections == 0, f"{sections} sections do not divide {size}")
        return _tensor_split(types, {**attrs, "dim": axis(x.rank)})

    def draw(source: ChoiceSource, types: Types) -> Attrs:
        size = types[0].sizes[axis(types[0].rank)]
        divisors = [n for n in range(1, MOST_PIECES + 1) if size % n == 0]
        return {"indices_or_sections": source.choice(divisors) if source.chance(50) else _cuts(source, size)}

    return Op(
        name,
        one(ranks=(rank, 5)),
        infer,
        f"torch.{name}({{0}}, {{indices_or_sections}})",
        draw,
        {"indices_or_sections": INT_OR_INTS},
        forms={Form.METHOD: f"{{0}}.{name}({{indices_or_sections}})"},
        view=True,
        lists=True,
    )


# --- grids


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


def _divider(name: str, call: str, infer: Infer, key: str, kind: Kind, attrs: DrawAttrs, other: str = "") -> Op:
    """`call` is what PyTorch calls it, and `other` what else."""
    forms = {Form.METHOD: f"{{0}}.{call}({{{key}}}, {{dim}})"}
    if other:
        forms[Form.FUNCTION] = f"torch.{other}({{0}}, {{{key}}}{{more}})"
    return Op(
        name,
        RANKED,
        infer,
        f"torch.{call}({{0}}, {{{key}}}{{more}})",
        attrs,
        {key: kind, "dim": INT},
        {"dim": 0},
        forms=forms,
        view=True,
        lists=True,
    )


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
    _divider("split", "split", _split, "sizes", SIZES, _split_attrs, other="split_with_sizes"),
    _divider("split_size", "split", _split_size, "split_size_or_sections", INT, _split_size_attrs),
    _divider("chunk", "chunk", _chunk, "chunks", INT, _chunk_attrs),
    _divider("tensor_split", "tensor_split", _tensor_split, "indices_or_sections", INT_OR_INTS, _tensor_split_attrs),
    Op(
        "unbind",
        RANKED,
        _unbind,
        "torch.unbind({0}{more})",
        _unbind_attrs,
        {"dim": INT},
        {"dim": 0},
        forms={Form.METHOD: "{0}.unbind({dim})"},
        view=True,
        lists=True,
    ),
    _numpy_split("hsplit", 1, lambda rank: 0 if rank == 1 else 1),
    _numpy_split("vsplit", 2, lambda rank: 0),
    _numpy_split("dsplit", 3, lambda rank: 2),
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
