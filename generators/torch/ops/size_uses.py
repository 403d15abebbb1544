"""Rows that use a size, often of another tensor, as an index, a bound, an operand or an argument."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attrs, DType, Form, TensorType, Value
from generators.op import BOOL, INT, Op, Types, int_of, optional, require
from generators.torch.ops.move import RANKED, any_dim
from generators.torch.ops.rules import axis_of, require_dtype
from generators.torch.ops.size import arithmetic_with_size, times_size
from generators.torch.ops.vision import affine_grid

# --- the size of the second operand


def _size_of(y: TensorType, attrs: Attrs) -> int:
    require(y.rank > 0, "a 0-d tensor has no sizes")
    return y.sizes[axis_of(int_of(attrs, "of"), y.rank)]


def _bounds(types: Types, attrs: Attrs) -> tuple[int, int]:
    """The axis of the first operand, and a size of the second one that is not above it."""
    x, y = types
    require(x.rank > 0, "a 0-d tensor has no dimensions")
    axis, size = axis_of(int_of(attrs, "dim"), x.rank), _size_of(y, attrs)
    require(size <= x.sizes[axis], f"{size} is above size {x.sizes[axis]}")
    return axis, size


def _narrow(types: Types, attrs: Attrs) -> TensorType:
    axis, size = _bounds(types, attrs)
    return types[0].with_shape(*types[0].sizes[:axis], size, *types[0].sizes[axis + 1 :])


def _select(types: Types, attrs: Attrs) -> TensorType:
    axis, size = _bounds(types, attrs)
    require(size > 0, "there is no last element")
    return types[0].with_shape(*types[0].sizes[:axis], *types[0].sizes[axis + 1 :])


def _expand(types: Types, attrs: Attrs) -> TensorType:
    x, y = types
    return x.with_shape(_size_of(y, attrs), *x.sizes)


def _with_another(b: Builder) -> tuple[Value, ...]:
    """A tensor, and another one with a size that is not above one of its sizes."""
    x = b.tensor(ranks=(1, 5))
    most = max(x.type.sizes)
    size = b.source.choice(x.type.sizes)
    kind = b.dtype((x.type.dtype, DType.FLOAT32))
    return x, b.pick(lambda t: t.rank > 0 and min(t.sizes) <= most, lambda: TensorType(kind, (size, 2)))


def _dims(source: ChoiceSource, types: Types) -> Attrs | None:
    """Dimensions whose sizes fit. Two negative numbers are drawn as often as others."""
    x, y = types
    pairs = [(dim, of) for dim in range(x.rank) for of in range(y.rank) if y.sizes[of] <= x.sizes[dim]]
    if not pairs:
        return None
    dim, of = source.choice(pairs)
    return {"dim": dim - x.rank if source.chance(50) else dim, "of": of - y.rank if source.chance(50) else of}


# --- own sizes


def _trim(types: Types, attrs: Attrs) -> TensorType:
    """All but the last `cut` elements, moved by `start`."""
    (x,), start, cut = types, int_of(attrs, "start"), int_of(attrs, "cut")
    require(x.rank > 0, "a 0-d tensor has no dimensions")
    axis = axis_of(int_of(attrs, "dim"), x.rank)
    require(0 <= start <= cut <= x.sizes[axis], f"cannot cut {cut} of {x}, from {start} on")
    return x.with_shape(*x.sizes[:axis], x.sizes[axis] - cut, *x.sizes[axis + 1 :])


def _trim_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dim = any_dim(source, types[0].rank)
    cut = source.integer(0, min(2, types[0].sizes[dim]))
    return {"dim": dim, "start": source.integer(0, cut), "cut": cut}


def _size_minus(types: Types, attrs: Attrs) -> TensorType:
    require(types[0].dtype is not DType.BOOL, "subtraction is not defined for bool")
    return times_size(types, attrs)


# --- a grid for the sizes of images


def _grid(types: Types, attrs: Attrs) -> TensorType:
    theta, images = types
    require_dtype((theta,), *FLOATS)
    require(images.rank in (4, 5) and min(images.sizes) > 0, f"takes a batch of images, not {images}")
    return affine_grid((theta,), {**attrs, "size": images.sizes})


def _grid_operands(b: Builder) -> tuple[Value, ...]:
    nd = b.source.choice((2, 2, 3))

    def images() -> TensorType:
        batch = b.symbolic_size(8, 60) or b.source.integer(1, 3)
        return TensorType(b.dtype(FLOATS), (batch, *(b.source.integer(2, 4) for _ in range(nd + 1))))

    x = b.pick(lambda t: t.rank == nd + 2 and min(t.sizes) > 1, images)
    maps = (x.type.sizes[0], nd, nd + 1)
    return b.pick(lambda t: t.dtype.is_float and t.sizes == maps, lambda: TensorType(b.dtype(FLOATS), maps)), x


OPS = (
    Op(
        "narrow_to_size_of",
        _with_another,
        _narrow,
        "{0}.narrow({dim}, 0, {1}.size({of}))",
        _dims,
        {"dim": INT, "of": INT},
        arity=(2, 2),
        forms={Form.FUNCTION: "torch.narrow({0}, {dim}, 0, {1}.shape[{of}])"},
        view=True,
    ),
    Op(
        "select_at_size_of",
        _with_another,
        _select,
        "{0}.select({dim}, {1}.size({of}) - 1)",
        _dims,
        {"dim": INT, "of": INT},
        arity=(2, 2),
        forms={Form.FUNCTION: "torch.select({0}, {dim}, {1}.shape[{of}] - 1)"},
        view=True,
    ),
    Op(
        "expand_to_size_of",
        _with_another,
        _expand,
        "{0}.expand({1}.size({of}), *{0}.shape)",
        lambda source, types: {"of": any_dim(source, types[1].rank)},
        {"of": INT},
        arity=(2, 2),
        view=True,
    ),
    Op(
        "narrow_by_size",
        RANKED,
        _trim,
        "{0}.narrow({dim}, {start}, {0}.size({dim}) - {cut})",
        _trim_attrs,
        {"dim": INT, "start": INT, "cut": INT},
        forms={Form.FUNCTION: "torch.narrow({0}, {dim}, {start}, {0}.shape[{dim}] - {cut})"},
        view=True,
    ),
    arithmetic_with_size(
        "plus_size",
        times_size,
        "{0} + {0}.size({dim})",
        method="{0}.add({0}.shape[{dim}])",
        operator="{0}.shape[{dim}] + {0}",
    ),
    arithmetic_with_size("size_minus", _size_minus, "{0}.size({dim}) - {0}", operator="{0}.shape[{dim}] - {0}"),
    Op(
        "affine_grid_of",
        _grid_operands,
        _grid,
        "F.affine_grid({0}, {1}.size(){more})",
        lambda source, types: {"align_corners": source.choice((None, False, True, True))},
        {"align_corners": optional(BOOL)},
        {"align_corners": None},
        arity=(2, 2),
        terms=lambda types, attrs: types[0].sizes[2],
        scale=1.0,  # as affine_grid
    ),
)
