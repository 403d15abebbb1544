"""Operators that move elements and compute nothing: every one is exact."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, TensorType, Value
from generators.ops.base import INT, INTS, SIZES, Kind, Op, Types, int_of, ints_of, optional, require
from generators.ops.operands import alike, one, product
from generators.ops.rules import axes_of, axis_of, promote

DIM_OR_DIMS = Kind("null, an integer or a list of integers", lambda v: v is None or INT.accepts(v) or INTS.accepts(v))


def any_dim(source: ChoiceSource, rank: int) -> int:
    """A dimension number, negative as often as not."""
    return source.integer(-rank, rank - 1)


# --- squeeze, unsqueeze, flatten


def _squeeze(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    dim = attrs["dim"]
    axes: tuple[int, ...] = tuple(range(x.rank))
    if dim is not None:
        axes = axes_of(ints_of(attrs, "dim") if isinstance(dim, tuple) else (int_of(attrs, "dim"),), x.rank)
    return x.with_shape(*(size for axis, size in enumerate(x.sizes) if size != 1 or axis not in axes))


def _squeeze_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    rank = types[0].rank
    form = source.choice(("all", "one", "several"))
    if form == "all" or rank == 0:
        return {"dim": None}
    if form == "one":
        return {"dim": any_dim(source, rank)}
    axes = source.shuffled(range(rank))[: source.integer(1, rank)]
    return {"dim": tuple(axis - rank if source.chance(30) else axis for axis in axes)}


def _squeeze_source(args: tuple[str, ...], attrs: Attrs) -> str:
    return f"{args[0]}.squeeze()" if attrs["dim"] is None else f"{args[0]}.squeeze({attrs['dim']!r})"


def _unsqueeze(types: Types, attrs: Attrs) -> TensorType:
    shape = list(types[0].sizes)
    shape.insert(axis_of(int_of(attrs, "dim"), len(shape) + 1), 1)
    return types[0].with_shape(*shape)


def _flatten(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    start, end = axis_of(int_of(attrs, "start_dim"), x.rank), axis_of(int_of(attrs, "end_dim"), x.rank)
    require(start <= end, "flatten: start_dim must not come after end_dim")
    if x.rank == 0:
        return x.with_shape(1)
    return x.with_shape(*x.sizes[:start], product(x.sizes[start : end + 1]), *x.sizes[end + 1 :])


def _flatten_attrs(source: ChoiceSource, types: Types) -> Attrs:
    start, end = sorted(source.integer(0, types[0].rank - 1) for _ in range(2))
    return {"start_dim": start, "end_dim": end - types[0].rank if source.chance(50) else end}


# --- reshape, expand, permute


def _reshape(types: Types, attrs: Attrs) -> TensorType:
    (x,), shape = types, ints_of(attrs, "shape")
    if -1 in shape:
        require(shape.count(-1) == 1, "only one dimension can be inferred")
        rest = product([size for size in shape if size != -1])
        require(rest > 0 and x.numel % rest == 0, f"{x} cannot be reshaped to {shape}")
        shape = tuple(x.numel // rest if size == -1 else size for size in shape)
    require(product(shape) == x.numel, f"{x} cannot be reshaped to {shape}")
    return x.with_shape(*shape)


def _reshape_attrs(source: ChoiceSource, types: Types) -> Attrs:
    """Merge or split dimensions at random: distribute the prime factors of the element count."""
    shape = [1] * source.integer(1, 4)
    rest, factor = types[0].numel, 2
    while rest > 1:
        if rest % factor == 0:
            shape[source.integer(0, len(shape) - 1)] *= factor
            rest //= factor
        else:
            factor += 1
    if source.chance(30) and types[0].numel:
        shape[source.integer(0, len(shape) - 1)] = -1
    return {"shape": tuple(shape)}


def _expand(types: Types, attrs: Attrs) -> TensorType:
    (x,), shape = types, ints_of(attrs, "shape")
    require(len(shape) >= x.rank, f"{x} cannot be expanded to rank {len(shape)}")
    lead = len(shape) - x.rank
    require(-1 not in shape[:lead], "-1 in expand needs an existing dimension")
    out = list(shape[:lead])
    for old, new in zip(x.sizes, shape[lead:], strict=True):
        require(new in (-1, old) or old == 1, f"{x} cannot be expanded to {shape}")
        out.append(old if new == -1 else new)
    return x.with_shape(*out)


def _expand_attrs(source: ChoiceSource, types: Types) -> Attrs:
    lead = [source.integer(1, 3) for _ in range(source.integer(0, 2))]
    own = [source.integer(1, 4) if d == 1 else source.choice((d, -1)) for d in types[0].sizes]
    return {"shape": (*lead, *own)}


def _permute(types: Types, attrs: Attrs) -> TensorType:
    (x,), dims = types, ints_of(attrs, "dims")
    require(len(dims) == x.rank, f"permute of {x} takes {x.rank} dims, not {len(dims)}")
    return x.with_shape(*(x.sizes[axis] for axis in axes_of(dims, x.rank)))


def _transpose(types: Types, attrs: Attrs) -> TensorType:
    shape = list(types[0].sizes)
    a, b = (axis_of(int_of(attrs, key), len(shape)) for key in ("dim0", "dim1"))
    if shape:
        shape[a], shape[b] = shape[b], shape[a]
    return types[0].with_shape(*shape)


# --- cat, stack, slice, select, split, flip, tile


def _cat(types: Types, attrs: Attrs) -> TensorType:
    first = types[0]
    require(all(t.rank == first.rank > 0 for t in types), "cat takes tensors of one rank above 0")
    axis = axis_of(int_of(attrs, "dim"), first.rank)
    for other in types:
        for i in range(first.rank):
            require(i == axis or other.sizes[i] == first.sizes[i], f"cat of {first} and {other} along {axis}")
    shape = list(first.sizes)
    shape[axis] = sum(t.sizes[axis] for t in types)
    return TensorType(promote(types), tuple(shape))


def _cat_operands(b: Builder) -> tuple[Value, ...]:
    first = b.tensor(ranks=(1, 5))
    axis = b.source.integer(0, first.type.rank - 1)

    def fits(t: TensorType) -> bool:
        return t.rank == first.type.rank and all(
            i == axis or size == first.type.sizes[i] for i, size in enumerate(t.sizes)
        )

    return (first, *(b.pick(fits, lambda: first.type) for _ in range(b.source.integer(0, 2))))


def _cat_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    rank = types[0].rank
    differ = {i for t in types for i in range(rank) if t.sizes[i] != types[0].sizes[i]}
    if len(differ) > 1:
        return None
    axis = differ.pop() if differ else source.integer(0, rank - 1)
    return {"dim": axis - rank if source.chance(30) else axis}


def _stack(types: Types, attrs: Attrs) -> TensorType:
    require(all(t == types[0] for t in types), "stack takes tensors of one type")
    shape = list(types[0].sizes)
    shape.insert(axis_of(int_of(attrs, "dim"), len(shape) + 1), len(types))
    return types[0].with_shape(*shape)


def _slice(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    axis, step = axis_of(int_of(attrs, "dim"), x.rank), int_of(attrs, "step")
    require(x.rank > 0 and step > 0, "a slice takes a positive step and a rank above 0")
    bounds = (attrs["start"], attrs["end"])
    start, end = (bound if isinstance(bound, int) else None for bound in bounds)
    shape = list(x.sizes)
    shape[axis] = len(range(shape[axis])[start:end:step])
    require(shape[axis] > 0, "a slice must not be empty")
    return x.with_shape(*shape)


def _slice_attrs(source: ChoiceSource, types: Types) -> Attrs:
    (x,) = types
    dim = any_dim(source, x.rank)
    size = x.sizes[dim]
    start = source.integer(0, size - 1)
    end = source.integer(start + 1, size)
    return {
        "dim": dim,
        "start": None if start == 0 else source.choice((start, start - size)),
        "end": source.choice((None, size + 5)) if end == size else source.choice((end, end - size)),
        "step": source.choice((1, 1, 2, 3)),
    }


def _slice_source(args: tuple[str, ...], attrs: Attrs) -> str:
    dim, step = int_of(attrs, "dim"), int_of(attrs, "step")
    start, end = ("" if attrs[key] is None else repr(attrs[key]) for key in ("start", "end"))
    span = f"{start}:{end}" + (f":{step}" if step != 1 else "")
    return f"{args[0]}[{':, ' * dim}{span}]" if dim >= 0 else f"{args[0]}[..., {span}{', :' * (-dim - 1)}]"


def _select(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    require(x.rank > 0, "select takes a rank above 0")
    axis = axis_of(int_of(attrs, "dim"), x.rank)
    index, size = int_of(attrs, "index"), x.sizes[axis]
    require(-size <= index < size, f"index {index} is out of range for size {size}")
    return x.with_shape(*x.sizes[:axis], *x.sizes[axis + 1 :])


def _select_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dim = any_dim(source, types[0].rank)
    return {"dim": dim, "index": any_dim(source, types[0].sizes[dim])}


def _split(types: Types, attrs: Attrs) -> Types:
    (x,), sizes = types, ints_of(attrs, "sizes")
    axis = axis_of(int_of(attrs, "dim"), x.rank)
    require(x.rank > 0 and len(sizes) > 0 and min(sizes) >= 0, "split takes sizes >= 0 and a rank above 0")
    require(sum(sizes) == x.sizes[axis], f"split sizes {sizes} do not add up to {x.sizes[axis]}")
    return tuple(x.with_shape(*x.sizes[:axis], size, *x.sizes[axis + 1 :]) for size in sizes)


def _split_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    dim = any_dim(source, types[0].rank)
    size = types[0].sizes[dim]
    if size < 2:
        return None
    cut = source.integer(1, size - 1)
    return {"sizes": (cut, size - cut), "dim": dim}


def _flip_attrs(source: ChoiceSource, types: Types) -> Attrs:
    rank = types[0].rank
    return {"dims": tuple(source.shuffled(range(-rank, 0))[: source.integer(1, rank)])}


def _flip(types: Types, attrs: Attrs) -> TensorType:
    axes_of(ints_of(attrs, "dims"), types[0].rank)
    return types[0]


def _repeat(types: Types, attrs: Attrs) -> TensorType:
    (x,), repeats = types, ints_of(attrs, "repeats")
    require(len(repeats) >= x.rank and all(r > 0 for r in repeats), f"repeat of {x} takes {x.rank} or more counts")
    padded = (1,) * (len(repeats) - x.rank) + x.sizes
    return x.with_shape(*(r * size for r, size in zip(repeats, padded, strict=True)))


def _repeat_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {"repeats": tuple(source.integer(1, 3) for _ in range(types[0].rank + source.integer(0, 1)))}


RANKED = one(ranks=(1, 5))

OPS = (
    Op("squeeze", one(), _squeeze, _squeeze_source, _squeeze_attrs, {"dim": DIM_OR_DIMS}),
    Op(
        "unsqueeze",
        one(ranks=(0, 4)),
        _unsqueeze,
        "{0}.unsqueeze({dim})",
        lambda source, types: {"dim": any_dim(source, types[0].rank + 1)},
        {"dim": INT},
    ),
    Op(
        "flatten",
        RANKED,
        _flatten,
        "torch.flatten({0}, start_dim={start_dim}, end_dim={end_dim})",
        _flatten_attrs,
        {"start_dim": INT, "end_dim": INT},
    ),
    Op("reshape", one(), _reshape, "{0}.reshape({shape})", _reshape_attrs, {"shape": SIZES}),
    Op("expand", one(ranks=(0, 3)), _expand, "{0}.expand({shape})", _expand_attrs, {"shape": SIZES}),
    Op(
        "permute",
        RANKED,
        _permute,
        "{0}.permute({dims})",
        lambda source, types: {"dims": tuple(source.shuffled(range(types[0].rank)))},
        {"dims": INTS},
    ),
    Op(
        "transpose",
        RANKED,
        _transpose,
        "{0}.transpose({dim0}, {dim1})",
        lambda source, types: {key: any_dim(source, types[0].rank) for key in ("dim0", "dim1")},
        {"dim0": INT, "dim1": INT},
    ),
    Op("cat", _cat_operands, _cat, "torch.cat(({args},), dim={dim})", _cat_attrs, {"dim": INT}, arity=(1, 8)),
    Op(
        "stack",
        alike(1, 3, (0, 4)),
        _stack,
        "torch.stack(({args},), dim={dim})",
        lambda source, types: {"dim": any_dim(source, types[0].rank + 1)},
        {"dim": INT},
        arity=(1, 8),
    ),
    Op(
        "slice",
        RANKED,
        _slice,
        _slice_source,
        _slice_attrs,
        {"dim": INT, "start": optional(INT), "end": optional(INT), "step": INT},
    ),
    Op("select", RANKED, _select, "{0}.select({dim}, {index})", _select_attrs, {"dim": INT, "index": INT}),
    Op("split", RANKED, _split, "torch.split({0}, {sizes}, dim={dim})", _split_attrs, {"sizes": SIZES, "dim": INT}),
    Op("flip", RANKED, _flip, "torch.flip({0}, {dims})", _flip_attrs, {"dims": INTS}),
    Op("repeat", one(ranks=(0, 4)), _repeat, "{0}.repeat({repeats})", _repeat_attrs, {"repeats": INTS}),
)
