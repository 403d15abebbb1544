"""Operators that move or repeat elements."""

from __future__ import annotations

from generators.choice import ChoiceSource
from generators.graph import Attrs, Form, TensorType
from generators.op import (
    INT,
    INTS,
    AttrKind,
    DrawAttrs,
    Infer,
    Layer,
    Op,
    Spelling,
    Types,
    int_of,
    ints_of,
    optional,
    require,
)
from generators.shared.sizes import product
from generators.torch.ops.operands import one
from generators.torch.ops.rules import ALL, axes_of, axis_of

INT_OR_INTS = AttrKind("an integer or a list of integers", lambda v: INT.accepts(v) or INTS.accepts(v))
RANKED = one(ranks=(1, 5))
MATRICES = one(ranks=(2, 5))


def any_dim(source: ChoiceSource, rank: int) -> int:
    """A dimension number, negative half of the time."""
    rank = max(rank, 1)
    return source.integer(-rank, rank - 1)


def some_dims(source: ChoiceSource, rank: int, least: int = 1) -> tuple[int, ...]:
    """Different dimensions in any order, each counted from the start or from the end."""
    axes = source.some(range(rank), min(least, rank), rank)
    return tuple(axis - rank if source.chance(35) else axis for axis in axes)


def all_dims(source: ChoiceSource, rank: int) -> tuple[int, ...]:
    return some_dims(source, rank, rank)


def as_tuple(attrs: Attrs, key: str) -> tuple[int, ...]:
    return ints_of(attrs, key) if isinstance(attrs[key], tuple) else (int_of(attrs, key),)


# --- orders of dimensions


def _permute(types: Types, attrs: Attrs) -> TensorType:
    (x,), dims = types, ints_of(attrs, "dims")
    require(len(dims) == x.rank, f"permute of {x} takes {x.rank} dims, not {len(dims)}")
    return x.with_shape(*(x.sizes[axis] for axis in axes_of(dims, x.rank)))


def _swapped(x: TensorType, a: int, b: int) -> TensorType:
    shape = list(x.sizes)
    if shape:
        shape[a], shape[b] = shape[b], shape[a]
    return x.with_shape(*shape)


def _transposer(name: str, first: str, second: str, plainer: str | None = None) -> Op:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        (x,) = types
        return _swapped(x, *(axis_of(int_of(attrs, key), x.rank) for key in (first, second)))

    return Op(
        name,
        one(),
        infer,
        f"{{0}}.{name}({{{first}}}, {{{second}}})",
        lambda source, types: {key: any_dim(source, types[0].rank) for key in (first, second)},
        {first: INT, second: INT},
        forms={Form.FUNCTION: f"torch.{name}({{0}}, {{{first}}}, {{{second}}})"},
        view=True,
        plainer=plainer,
    )


def _t(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    require(x.rank <= 2, f"t takes at most rank 2, not {x}")
    return _swapped(x, 0, -1)


def _last_two(types: Types, attrs: Attrs) -> TensorType:
    """PyTorch also accepts 0-d tensors, but this is deprecated."""
    require(types[0].rank >= 2, f"takes matrices, not {types[0]}")
    return _swapped(types[0], -2, -1)


def _mover(name: str) -> Op:
    return Op(
        name,
        one(),
        _movedim,
        f"torch.{name}({{0}}, {{source}}, {{destination}})",
        _movedim_attrs,
        {"source": INT_OR_INTS, "destination": INT_OR_INTS},
        forms={Form.METHOD: f"{{0}}.{name}({{source}}, {{destination}})"},
        view=True,
    )


def _movedim(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    require(
        isinstance(attrs["source"], int) == isinstance(attrs["destination"], int), "takes two integers or two lists"
    )
    sources, places = (axes_of(as_tuple(attrs, key), x.rank) for key in ("source", "destination"))
    require(len(sources) == len(places), f"{len(sources)} dimensions cannot go to {len(places)} places")
    if x.rank == 0:
        return x
    moved = dict(zip(places, sources, strict=True))
    others = iter([axis for axis in range(x.rank) if axis not in sources])
    return x.with_shape(*(x.sizes[moved[place] if place in moved else next(others)] for place in range(x.rank)))


def _movedim_attrs(source: ChoiceSource, types: Types) -> Attrs:
    rank = types[0].rank
    if source.chance(50):
        return {key: any_dim(source, rank) for key in ("source", "destination")}
    sources = some_dims(source, rank)
    return {"source": sources, "destination": all_dims(source, rank)[: len(sources)]}


# --- flips, rolls, rotations


def _flip(types: Types, attrs: Attrs) -> TensorType:
    axes_of(ints_of(attrs, "dims"), types[0].rank)
    return types[0]


def _of_rank(rank: int) -> Infer:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        require(types[0].rank >= rank, f"takes rank {rank} or more, not {types[0]}")
        return types[0]

    return infer


def _roll(types: Types, attrs: Attrs) -> TensorType:
    """Without dims, the flat tensor is rolled. (PyTorch ignores the dims for an empty tensor.)"""
    (x,), shifts = types, as_tuple(attrs, "shifts")
    dims = () if attrs["dims"] is None else as_tuple(attrs, "dims")
    if not dims:
        require(len(shifts) == 1, f"{len(shifts)} shifts without dims")
        return x
    require(x.rank > 0 and len(shifts) == len(dims), f"{len(shifts)} shifts for {len(dims)} dims of {x}")
    for dim in dims:  # a dim may occur twice
        axis_of(dim, x.rank)
    return x


def _roll_attrs(source: ChoiceSource, types: Types) -> Attrs:
    def shift(size: int) -> int:
        return source.integer(-size - 1, 2 * size + 1)

    (x,) = types
    if x.rank == 0 or source.chance(30):
        return {"shifts": shift(4) if source.chance(60) else (shift(4),), "dims": None}
    if source.chance(40):
        dim = any_dim(source, x.rank)
        return {"shifts": shift(x.sizes[dim]), "dims": dim}
    dims = some_dims(source, x.rank)
    if source.chance(10):
        dims = (*dims, dims[0])
    return {"shifts": tuple(shift(x.sizes[dim]) for dim in dims), "dims": dims}


def _rot90(types: Types, attrs: Attrs) -> TensorType:
    (x,), dims = types, ints_of(attrs, "dims")
    require(x.rank >= 2 and len(dims) == 2, f"rot90 takes 2 dims and rank 2 or more, not {len(dims)} and {x}")
    a, b = axes_of(dims, x.rank)
    return _swapped(x, a, b) if int_of(attrs, "k") % 2 else x


def _rot90_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dims = (0, 1) if source.chance(40) else all_dims(source, types[0].rank)[:2]
    return {"k": source.choice((1, 1, 1, -1, 2, 3, 0, 4, 5, -2, -3)), "dims": dims}


def _shuffle(types: Types, attrs: Attrs) -> TensorType:
    (x,), groups = types, int_of(attrs, "groups")
    require(x.rank >= 3, f"channel_shuffle takes rank 3 or more, not {x}")
    require(groups > 0 and x.sizes[1] % groups == 0, f"{groups} groups do not divide the channels of {x}")
    return x


def _groups(source: ChoiceSource, types: Types) -> Attrs:
    channels = types[0].sizes[1]
    return {"groups": source.choice([n for n in range(1, 9) if channels % n == 0])}


# --- repeats


def _repeated(key: str, shorter: bool) -> Infer:
    """With `shorter`, there may be fewer counts than dimensions, and they are for the last dimensions."""

    def infer(types: Types, attrs: Attrs) -> TensorType:
        (x,), counts = types, ints_of(attrs, key)
        require(shorter or len(counts) >= x.rank, f"repeat of {x} takes {x.rank} or more counts")
        require(min(counts, default=0) >= 0, f"counts {counts} must not be negative")
        counts = (1,) * (x.rank - len(counts)) + counts
        padded = (1,) * (len(counts) - x.rank) + x.sizes
        return x.with_shape(*(count * size for count, size in zip(counts, padded, strict=True)))

    return infer


def _counts(key: str, shorter: bool) -> DrawAttrs:
    def attrs(source: ChoiceSource, types: Types) -> Attrs:
        rank = types[0].rank
        length = source.integer(0 if shorter else rank, rank + 2)
        counts = [source.choice((1, 1, 1, 2, 2, 3)) for _ in range(length)]
        if counts and source.chance(4):
            counts[0] = 0
        return {key: tuple(counts)}

    return attrs


def _interleaved(types: Types, attrs: Attrs) -> TensorType:
    (x,), repeats, shape = types, int_of(attrs, "repeats"), list(types[0].sizes)
    require(repeats >= 0, "repeats must not be negative")
    if attrs["dim"] is None:
        axis, shape = 0, [product(shape)]
    else:
        require(x.rank > 0, "a 0-d tensor is repeated without dim only")
        axis = axis_of(int_of(attrs, "dim"), x.rank)
    shape[axis] *= repeats
    size = attrs["output_size"]
    require(size in (None, shape[axis]), f"output_size {size} is not {shape[axis]}")
    return x.with_shape(*shape)


def _interleaved_attrs(source: ChoiceSource, types: Types) -> Attrs:
    (x,), repeats = types, source.choice((0, 1, 2, 2, 3, 3))
    dim = any_dim(source, x.rank) if x.rank and source.chance(70) else None
    size = (x.numel if dim is None else x.sizes[dim]) * repeats
    return {"repeats": repeats, "dim": dim, "output_size": size if source.chance(30) else None}


def _matrices(name: str, source: str, **forms: str) -> Op:
    return Op(name, MATRICES, _last_two, source, forms={Form(key): text for key, text in forms.items()}, view=True)


def _flipper(name: str, rank: int) -> Op:
    call = f"torch.{name}({{0}})"
    return Op(name, one(ALL, (rank, 5)), _of_rank(rank), call, forms={Form.METHOD: f"{{0}}.{name}()"})


OPS = (
    Op(
        "permute",
        one(),
        _permute,
        "{0}.permute({dims})",
        lambda source, types: {"dims": all_dims(source, types[0].rank)},
        {"dims": INTS},
        forms={Form.FUNCTION: "torch.permute({0}, {dims})"},
        view=True,
    ),
    _transposer("transpose", "dim0", "dim1"),
    _transposer("swapdims", "dim0", "dim1", plainer="transpose"),
    _transposer("swapaxes", "axis0", "axis1"),
    Op(
        "t",
        one(ranks=(0, 2)),
        _t,
        "{0}.t()",
        forms={
            Form.FUNCTION: "torch.t({0})",
            Form.OPERATOR: Spelling("{0}.T", lambda types, attrs: types[0].rank == 2),
        },
        view=True,
    ),
    _matrices("mT", "{0}.mT"),
    _matrices("adjoint", "torch.adjoint({0})", method="{0}.adjoint()", operator="{0}.mH"),
    _mover("movedim"),
    _mover("moveaxis"),
    Op(
        "flip",
        one(),
        _flip,
        "torch.flip({0}, {dims})",
        lambda source, types: {"dims": some_dims(source, types[0].rank, 0 if source.chance(10) else 1)},
        {"dims": INTS},
        forms={Form.METHOD: "{0}.flip({dims})"},
    ),
    _flipper("fliplr", 2),
    _flipper("flipud", 1),
    Op(
        "roll",
        one(),
        _roll,
        "torch.roll({0}, {shifts}{more})",
        _roll_attrs,
        {"shifts": INT_OR_INTS, "dims": optional(INT_OR_INTS)},
        {"dims": None},
        forms={Form.METHOD: "{0}.roll({shifts}{more})"},
    ),
    Op(
        "rot90",
        MATRICES,
        _rot90,
        "torch.rot90({0}{more})",
        _rot90_attrs,
        {"k": INT, "dims": INTS},
        {"k": 1, "dims": (0, 1)},
        forms={Form.METHOD: "{0}.rot90({k}, {dims})"},
    ),
    Op(
        "channel_shuffle",
        one(ranks=(3, 5)),
        _shuffle,
        "F.channel_shuffle({0}, {groups})",
        _groups,
        {"groups": INT},
        forms={
            Form.FUNCTION: "torch.channel_shuffle({0}, {groups})",
            Form.MODULE: Layer("torch.nn.ChannelShuffle({groups})"),
        },
    ),
    Op(
        "repeat",
        one(ranks=(0, 4)),
        _repeated("repeats", shorter=False),
        "{0}.repeat({repeats})",
        _counts("repeats", shorter=False),
        {"repeats": INTS},
    ),
    Op(
        "tile",
        one(ranks=(0, 4)),
        _repeated("dims", shorter=True),
        "torch.tile({0}, {dims})",
        _counts("dims", shorter=True),
        {"dims": INTS},
        forms={Form.METHOD: "{0}.tile({dims})"},
    ),
    Op(
        "repeat_interleave",
        one(ranks=(0, 4)),
        _interleaved,
        "torch.repeat_interleave({0}, {repeats}{more})",
        _interleaved_attrs,
        {"repeats": INT, "dim": optional(INT), "output_size": optional(INT)},
        {"dim": None, "output_size": None},
        forms={Form.METHOD: "{0}.repeat_interleave({repeats}{more})"},
    ),
)
