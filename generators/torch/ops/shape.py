"""Operators that change the shape."""

from __future__ import annotations

from collections.abc import Callable

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, Form, TensorType, Value
from generators.op import (
    INT,
    INTS,
    SIZES,
    AttrKind,
    DrawAttrs,
    Infer,
    Layer,
    Op,
    Spelling,
    Types,
    int_of,
    ints_of,
    require,
)
from generators.shared.sizes import product
from generators.symbolic import Size
from generators.torch.ops.move import any_dim, some_dims
from generators.torch.ops.operands import one
from generators.torch.ops.rules import axes_of, axis_of

DIM_OR_DIMS = AttrKind(
    "null, an integer or a list of integers", lambda v: v is None or INT.accepts(v) or INTS.accepts(v)
)

# --- dimensions of size 1, flatten and its reverse


def _squeeze(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    dim = attrs["dim"]
    axes: tuple[int, ...] = tuple(range(x.rank))
    if dim is not None:
        axes = axes_of(ints_of(attrs, "dim") if isinstance(dim, tuple) else (int_of(attrs, "dim"),), x.rank)
    return x.with_shape(*(size for axis, size in enumerate(x.sizes) if size != 1 or axis not in axes))


def _squeeze_attrs(source: ChoiceSource, types: Types) -> Attrs:
    """Often a dimension that is really removed, if there is one."""
    (x,) = types
    ones = [dim for dim in range(-x.rank, x.rank) if x.sizes[dim] == 1]
    match source.choice(("all", "one", "several")):
        case "all":
            return {"dim": None}
        case "one":
            return {"dim": source.choice(ones) if ones and source.chance(60) else any_dim(source, x.rank)}
        case _:
            return {"dim": some_dims(source, x.rank)}


def _squeeze_source(args: tuple[str, ...], attrs: Attrs) -> str:
    return f"{args[0]}.squeeze()" if attrs["dim"] is None else f"{args[0]}.squeeze({attrs['dim']!r})"


def _unsqueeze(types: Types, attrs: Attrs) -> TensorType:
    shape = list(types[0].sizes)
    shape.insert(axis_of(int_of(attrs, "dim"), len(shape) + 1), 1)
    return types[0].with_shape(*shape)


def _indexed_by_none(args: tuple[str, ...], attrs: Attrs) -> str:
    dim = int_of(attrs, "dim")
    return f"{args[0]}[{':, ' * dim}None]" if dim >= 0 else f"{args[0]}[..., None{', :' * (-dim - 1)}]"


def at_least(x: TensorType, rank: int) -> TensorType:
    """torch.atleast_1d, 2d, 3d: a vector becomes a row; a third dimension is added at the end."""
    shape = (1, *x.sizes) if x.rank == 1 < rank else x.sizes
    return x.with_shape(*shape, *(1,) * (rank - len(shape)))


def _atleast(rank: int) -> Op:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        return at_least(types[0], rank)

    return Op(f"atleast_{rank}d", one(ranks=(0, rank + 1)), infer, f"torch.atleast_{rank}d({{0}})", view=True)


def _flatten(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    start, end = axis_of(int_of(attrs, "start_dim"), x.rank), axis_of(int_of(attrs, "end_dim"), x.rank)
    require(start <= end, "flatten: start_dim must not come after end_dim")
    return x.with_shape(*x.sizes[:start], product(x.sizes[start : end + 1]), *x.sizes[end + 1 :])


def _flatten_attrs(source: ChoiceSource, types: Types) -> Attrs:
    rank = max(types[0].rank, 1)
    if source.chance(40):
        return {"start_dim": min(source.integer(0, 1), rank - 1), "end_dim": -1}
    start, end = sorted(source.integer(0, rank - 1) for _ in range(2))
    return {
        "start_dim": start - rank if source.chance(30) else start,
        "end_dim": end - rank if source.chance(50) else end,
    }


def _ravel(types: Types, attrs: Attrs) -> TensorType:
    return types[0].with_shape(product(types[0].sizes))


def _unflatten(types: Types, attrs: Attrs) -> TensorType:
    (x,), sizes = types, ints_of(attrs, "sizes")
    axis = axis_of(int_of(attrs, "dim"), x.rank)
    require(x.rank > 0 and len(sizes) > 0, "unflatten takes sizes, and a rank above 0")
    return x.with_shape(*x.sizes[:axis], *_resolved((x.sizes[axis],), sizes), *x.sizes[axis + 1 :])


def _unflatten_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dim = any_dim(source, types[0].rank)
    return {"dim": dim, "sizes": _regrouped(source, types[0].sizes[dim : dim + 1 or None], source.integer(1, 3))}


# --- reshape and view


def _resolved(sizes: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with -1 replaced, for as many elements as there are in `sizes`."""
    count = product(sizes)
    if -1 in shape:
        require(shape.count(-1) == 1, "only one dimension can be inferred")
        rest = product([size for size in shape if size != -1])
        require(rest > 0 and count % rest == 0, f"{list(sizes)} cannot be reshaped to {shape}")
        shape = tuple(count // rest if size == -1 else size for size in shape)
    require(product(shape) == count, f"{list(sizes)} cannot be reshaped to {shape}")
    return shape


def _reshaped(key: str) -> Infer:
    return lambda types, attrs: types[0].with_shape(*_resolved(types[0].sizes, ints_of(attrs, key)))


def _factored(source: ChoiceSource, count: int, parts: int) -> list[int]:
    """Return the sizes of `parts` > 0 dimensions for `count` elements. Each prime factor is assigned to one of them."""
    if count == 0:
        shape = [source.integer(0, 3) for _ in range(parts)]
        shape[source.integer(0, parts - 1)] = 0
        return shape
    shape, rest, factor = [1] * parts, int(count), 2
    while rest > 1:
        if factor * factor > rest:
            factor = rest
        if rest % factor == 0:
            shape[source.integer(0, parts - 1)] *= factor
            rest //= factor
        else:
            factor += 1
    return shape


def _regrouped(source: ChoiceSource, sizes: tuple[int, ...], parts: int) -> tuple[int, ...]:
    """Return another shape for as many elements. It sometimes has a -1, and always if a size is symbolic."""
    symbolic = any(isinstance(size, Size) for size in sizes)
    shape = _factored(source, product([size for size in sizes if not isinstance(size, Size)]), parts)
    if symbolic or source.chance(30):
        hole = shape.index(0) if 0 in shape else source.integer(0, parts - 1)
        shape[hole] = -1
    return tuple(shape)


def _new_shape(key: str) -> DrawAttrs:
    def attrs(source: ChoiceSource, types: Types) -> Attrs:
        if types[0].numel == 1 and source.chance(30):
            return {key: ()}
        return {key: _regrouped(source, types[0].sizes, source.integer(1, 4))}

    return attrs


def _as_other(types: Types, attrs: Attrs) -> TensorType:
    return types[0].with_shape(*_resolved(types[0].sizes, types[1].sizes))


def _same_count(b: Builder) -> tuple[Value, ...]:
    """A value, and another one of any dtype with as many elements."""
    x = b.tensor()

    def other() -> TensorType:
        shape = b.source.shuffled(x.type.sizes)
        if not any(isinstance(size, Size) for size in shape):
            shape = _factored(b.source, x.type.numel, b.source.integer(1, 4))
        return TensorType(b.dtype((x.type.dtype,)), tuple(shape))

    return x, b.pick(lambda t: t.numel == x.type.numel, other)


# --- expand


def _expand(key: str) -> Callable[[Types, Attrs], TensorType]:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        (x,), shape = types, ints_of(attrs, key)
        require(len(shape) >= x.rank, f"{x} cannot be expanded to rank {len(shape)}")
        lead = len(shape) - x.rank
        require(-1 not in shape[:lead], "-1 in expand needs an existing dimension")
        out = list(shape[:lead])
        for old, new in zip(x.sizes, shape[lead:], strict=True):
            require(new in (-1, old) or old == 1, f"{x} cannot be expanded to {shape}")
            out.append(old if new == -1 else new)
        return x.with_shape(*out)

    return infer


def _expanded_shape(key: str) -> DrawAttrs:
    def attrs(source: ChoiceSource, types: Types) -> Attrs:
        lead = [source.integer(1, 3) for _ in range(source.integer(0, 2))]
        own = [
            source.choice((0, 1, 2, 2, 3, 4, -1)) if size == 1 else -1 if source.chance(50) else size
            for size in types[0].sizes
        ]
        return {key: (*lead, *own)}

    return attrs


def _expand_as(types: Types, attrs: Attrs) -> TensorType:
    return _expand("size")(types[:1], {"size": types[1].sizes})


def _wider(b: Builder) -> tuple[Value, ...]:
    """A value, and one of any dtype to whose shape it expands."""
    x = b.tensor(ranks=(0, 4))

    def fits(t: TensorType) -> bool:
        own = t.sizes[t.rank - x.type.rank :]
        return t.rank >= x.type.rank and all(
            mine in (1, theirs) for mine, theirs in zip(x.type.sizes, own, strict=True)
        )

    def otherwise() -> TensorType:
        own = [b.source.integer(1, 4) if size == 1 else size for size in x.type.sizes]
        return TensorType(b.dtype((x.type.dtype,)), (*(2,) * b.source.integer(0, 2), *own))

    return x, b.pick(fits, otherwise)


OPS = (
    Op(
        "squeeze",
        one(),
        _squeeze,
        _squeeze_source,
        _squeeze_attrs,
        {"dim": DIM_OR_DIMS},
        {"dim": None},
        forms={Form.FUNCTION: "torch.squeeze({0}{more})"},
        view=True,
    ),
    Op(
        "unsqueeze",
        one(ranks=(0, 4)),
        _unsqueeze,
        "{0}.unsqueeze({dim})",
        lambda source, types: {"dim": any_dim(source, types[0].rank + 1)},
        {"dim": INT},
        forms={Form.FUNCTION: "torch.unsqueeze({0}, {dim})", Form.OPERATOR: Spelling(_indexed_by_none)},
        view=True,
    ),
    *map(_atleast, (1, 2, 3)),
    Op(
        "flatten",
        one(),
        _flatten,
        "torch.flatten({0}{more})",
        _flatten_attrs,
        {"start_dim": INT, "end_dim": INT},
        {"start_dim": 0, "end_dim": -1},
        forms={
            Form.METHOD: "{0}.flatten({start_dim}, {end_dim})",
            Form.MODULE: Layer("torch.nn.Flatten({start_dim}, {end_dim})"),
        },
        view=True,
    ),
    Op("ravel", one(), _ravel, "torch.ravel({0})", forms={Form.METHOD: "{0}.ravel()"}, view=True),
    Op(
        "unflatten",
        one(ranks=(1, 4)),
        _unflatten,
        "torch.unflatten({0}, {dim}, {sizes})",
        _unflatten_attrs,
        {"dim": INT, "sizes": SIZES},
        forms={
            Form.METHOD: "{0}.unflatten({dim}, {sizes})",
            Form.MODULE: Layer("torch.nn.Unflatten({dim}, {sizes})"),
        },
        view=True,
    ),
    Op(
        "reshape",
        one(),
        _reshaped("shape"),
        "{0}.reshape({shape})",
        _new_shape("shape"),
        {"shape": SIZES},
        forms={Form.FUNCTION: "torch.reshape({0}, {shape})"},
        view=True,
    ),
    # whether a computed value can be viewed depends on its strides, so all are made contiguous first
    Op(
        "view",
        one(),
        _reshaped("size"),
        "{0}.contiguous().view({size})",
        _new_shape("size"),
        {"size": SIZES},
        view=True,
    ),
    Op("view_as", _same_count, _as_other, "{0}.contiguous().view_as({1})", arity=(2, 2), view=True),
    Op("reshape_as", _same_count, _as_other, "{0}.reshape_as({1})", arity=(2, 2), view=True),
    Op(
        "expand",
        one(ranks=(0, 4)),
        _expand("shape"),
        "{0}.expand({shape})",
        _expanded_shape("shape"),
        {"shape": SIZES},
        view=True,
    ),
    Op("expand_as", _wider, _expand_as, "{0}.expand_as({1})", arity=(2, 2), view=True),
    Op(
        "broadcast_to",
        one(ranks=(0, 4)),
        _expand("size"),
        "torch.broadcast_to({0}, {size})",
        _expanded_shape("size"),
        {"size": SIZES},
        forms={Form.METHOD: "{0}.broadcast_to({size})"},
        view=True,
    ),
)
