"""Operators that take a part of a tensor: slices, windows, diagonals, triangles."""

from __future__ import annotations

from generators.choice import ChoiceSource
from generators.graph import Attrs, Form, TensorType
from generators.op import INT, INTS, SIZES, DrawAttrs, Op, Spelling, Types, int_of, ints_of, optional, require
from generators.shared.sizes import product
from generators.torch.ops.move import MATRICES, RANKED, all_dims, any_dim
from generators.torch.ops.operands import one
from generators.torch.ops.rules import axis_of, size_along

# --- slices


def slice_size(size: int, start: int | None, end: int | None, step: int = 1) -> int:
    """The number of elements of size[start:end:step], by arithmetic that keeps the formula of a symbolic size."""

    def place(bound: int) -> int:
        if bound < 0:
            return size + bound if size + bound > 0 else 0
        return bound if bound < size else size

    first, last = 0 if start is None else place(start), size if end is None else place(end)
    return (last - first + step - 1) // step if first < last else 0


def replaced(x: TensorType, axis: int, size: int) -> TensorType:
    return x.with_shape(*x.sizes[:axis], size, *x.sizes[axis + 1 :])


def _slice(types: Types, attrs: Attrs) -> TensorType:
    (x,), step = types, int_of(attrs, "step")
    axis = axis_of(int_of(attrs, "dim"), x.rank)
    require(x.rank > 0 and step > 0, "a slice takes a positive step and a rank above 0")
    start, end = (bound if isinstance(bound, int) else None for bound in (attrs["start"], attrs["end"]))
    return replaced(x, axis, slice_size(x.sizes[axis], start, end, step))


def _slice_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dim = any_dim(source, types[0].rank)
    size = types[0].sizes[dim]
    start, end, step = 0, size, source.choice((1, 1, 2, 3))
    if size:
        start = source.integer(0, size - 1)
        end = source.integer(start + 1, size)
    if source.chance(4):
        end = start  # an empty slice
    return {
        "dim": dim,
        "start": source.choice((None, -size - 2)) if start == 0 else source.choice((start, start - size)),
        "end": source.choice((None, size + 5)) if end == size else source.choice((end, end - size)),
        "step": step,
    }


def _at(dim: int, index: str) -> str:
    """Return an index for one dimension as the text in brackets. `dim` counts from either end."""
    return f"{':, ' * dim}{index}" if dim >= 0 else f"..., {index}{', :' * (-dim - 1)}"


def _slice_source(args: tuple[str, ...], attrs: Attrs) -> str:
    start, end = ("" if attrs[key] is None else repr(attrs[key]) for key in ("start", "end"))
    step = int_of(attrs, "step")
    return f"{args[0]}[{_at(int_of(attrs, 'dim'), f'{start}:{end}' + (f':{step}' if step != 1 else ''))}]"


def _narrow(types: Types, attrs: Attrs) -> TensorType:
    (x,), start, length = types, int_of(attrs, "start"), int_of(attrs, "length")
    axis = axis_of(int_of(attrs, "dim"), x.rank)
    require(x.rank > 0, "narrow takes a rank above 0")
    size = x.sizes[axis]
    require(-size <= start <= size, f"start {start} is out of range for size {size}")
    first = start + size if start < 0 else start
    require(0 <= length <= size - first, f"{length} from {start} is out of range for size {size}")
    return replaced(x, axis, length)


def _narrow_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dim = any_dim(source, types[0].rank)
    size = types[0].sizes[dim]
    start = source.integer(0, size)
    length = source.integer(min(1, size - start), size - start)
    return {"dim": dim, "start": start - size if start < size and source.chance(40) else start, "length": length}


def _select(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    require(x.rank > 0, "select takes a rank above 0")
    axis = axis_of(int_of(attrs, "dim"), x.rank)
    index, size = int_of(attrs, "index"), x.sizes[axis]
    require(-size <= index < size, f"index {index} is out of range for size {size}")
    return x.with_shape(*x.sizes[:axis], *x.sizes[axis + 1 :])


def _select_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    dim = any_dim(source, types[0].rank)
    size = types[0].sizes[dim]
    return {"dim": dim, "index": any_dim(source, size)} if size else None


def _select_operator(args: tuple[str, ...], attrs: Attrs) -> str:
    return f"{args[0]}[{_at(int_of(attrs, 'dim'), str(attrs['index']))}]"


# --- windows


def _unfold(types: Types, attrs: Attrs) -> TensorType:
    (x,), size, step = types, int_of(attrs, "size"), int_of(attrs, "step")
    axis = axis_of(int_of(attrs, "dimension"), x.rank)
    along = x.sizes[axis] if x.rank else 1
    require(0 <= size <= along and step > 0, f"windows of {size}, {step} apart, do not fit {along}")
    shape = replaced(x, axis, (along - size) // step + 1).sizes if x.rank else ()
    return x.with_shape(*shape, size)


def _unfold_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dim = any_dim(source, types[0].rank)
    along = size_along(types[0], dim)
    size = 0 if source.chance(4) else source.integer(min(1, along), min(along, 5))
    return {"dimension": dim, "size": size, "step": source.integer(1, 3)}


def _as_strided(types: Types, attrs: Attrs) -> TensorType:
    """The operand is copied first, so that only its elements are read: a view would expose the memory around it."""
    (x,), size, stride = types, ints_of(attrs, "size"), ints_of(attrs, "stride")
    offset = attrs["storage_offset"] if isinstance(attrs["storage_offset"], int) else 0
    require(len(size) == len(stride), f"{len(size)} sizes, but {len(stride)} strides")
    require(min((*size, *stride, offset)) >= 0, "sizes, strides and offset must not be negative")
    last = offset + sum((n - 1) * along for n, along in zip(size, stride, strict=True))
    require(product(size) == 0 or last < x.numel, f"element {last} is not in {x}")
    return x.with_shape(*size)


def _as_strided_attrs(source: ChoiceSource, types: Types) -> Attrs:
    """Draw any strides: elements may overlap, and there may be gaps."""
    count = types[0].numel
    offset = source.integer(0, count - 1) if count and source.chance(50) else None
    remaining = count - 1 - (offset or 0)
    size, stride = [], []
    for _ in range(source.integer(0, 3)):
        along = source.choice((0, 1, 1, 2, 3, 4, 6))
        most = 0 if remaining < 0 else min(5, remaining // along + 1) if along else 3
        size.append(source.integer(min(1, most), most))
        stride.append(along)
        remaining -= max(size[-1] - 1, 0) * along
    if remaining < 0 and not size:
        size, stride = [0], [1]
    return {"size": tuple(size), "stride": tuple(stride), "storage_offset": offset}


# --- diagonals and triangles


def _diagonal_size(rows: int, columns: int, offset: int) -> int:
    """The number of elements of the diagonal that is `offset` right of the main one (negative: left of it)."""
    rows, columns = (rows, columns - offset) if offset >= 0 else (rows + offset, columns)
    return max(rows if rows < columns else columns, 0)


def _diagonal(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    a, b = (axis_of(int_of(attrs, key), x.rank) for key in ("dim1", "dim2"))
    require(a != b, "diagonal takes two different dims")
    rest = [size for axis, size in enumerate(x.sizes) if axis not in (a, b)]
    return x.with_shape(*rest, _diagonal_size(x.sizes[a], x.sizes[b], int_of(attrs, "offset")))


def _two_dims(defaults: tuple[int, int], grown: int) -> DrawAttrs:
    """Mostly small offsets, and two dimensions of a rank that is larger by `grown`."""

    def attrs(source: ChoiceSource, types: Types) -> Attrs:
        rank = types[0].rank + grown
        dim1, dim2 = defaults if source.chance(40) else all_dims(source, rank)[:2]
        return {"offset": some_offset(source), "dim1": dim1, "dim2": dim2}

    return attrs


def some_offset(source: ChoiceSource) -> int:
    """The offset of a diagonal, sometimes beyond the corner."""
    return source.choice((0, 0, 0, 1, -1, 2, -2, source.integer(-9, 9)))


def _diag(types: Types, attrs: Attrs) -> TensorType:
    """The diagonal of a matrix, or the matrix with this diagonal."""
    (x,), offset = types, int_of(attrs, "diagonal")
    require(x.rank in (1, 2), f"diag takes rank 1 or 2, not {x}")
    if x.rank == 2:
        return x.with_shape(_diagonal_size(x.sizes[0], x.sizes[1], offset))
    return x.with_shape(*(x.sizes[0] + abs(offset),) * 2)


def _diag_embed(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    require(x.rank > 0, "diag_embed takes a rank above 0")
    a, b = sorted(axis_of(int_of(attrs, key), x.rank + 1) for key in ("dim1", "dim2"))
    require(a != b, "diag_embed takes two different dims")
    shape = list(x.sizes[:-1])
    for axis in (a, b):
        shape.insert(axis, x.sizes[-1] + abs(int_of(attrs, "offset")))
    return x.with_shape(*shape)


def _diagflat(types: Types, attrs: Attrs) -> TensorType:
    return types[0].with_shape(*(product(types[0].sizes) + abs(int_of(attrs, "offset")),) * 2)


def _triangle(types: Types, attrs: Attrs) -> TensorType:
    require(types[0].rank >= 2, f"takes matrices, not {types[0]}")
    return types[0]


def _triangle_row(name: str) -> Op:
    return Op(
        name,
        MATRICES,
        _triangle,
        f"torch.{name}({{0}}{{more}})",
        lambda source, types: {"diagonal": some_offset(source)},
        {"diagonal": INT},
        {"diagonal": 0},
        forms={Form.METHOD: f"{{0}}.{name}({{diagonal}})", Form.INPLACE: f"{{0}}.{name}_({{diagonal}})"},
    )


_DIAGONAL = {"offset": INT, "dim1": INT, "dim2": INT}

OPS = (
    Op(
        "slice",
        RANKED,
        _slice,
        _slice_source,
        _slice_attrs,
        {"dim": INT, "start": optional(INT), "end": optional(INT), "step": INT},
        view=True,
    ),
    Op(
        "narrow",
        RANKED,
        _narrow,
        "torch.narrow({0}, {dim}, {start}, {length})",
        _narrow_attrs,
        {"dim": INT, "start": INT, "length": INT},
        forms={Form.METHOD: "{0}.narrow({dim}, {start}, {length})"},
        view=True,
    ),
    Op(
        "select",
        RANKED,
        _select,
        "{0}.select({dim}, {index})",
        _select_attrs,
        {"dim": INT, "index": INT},
        forms={Form.FUNCTION: "torch.select({0}, {dim}, {index})", Form.OPERATOR: Spelling(_select_operator)},
        view=True,
    ),
    Op(
        "unfold",
        one(ranks=(0, 4)),
        _unfold,
        "{0}.unfold({dimension}, {size}, {step})",
        _unfold_attrs,
        {"dimension": INT, "size": INT, "step": INT},
        view=True,
    ),
    Op(
        "as_strided",
        one(),
        _as_strided,
        "torch.as_strided({0}.clone(memory_format=torch.contiguous_format), {size}, {stride}{more})",
        _as_strided_attrs,
        {"size": SIZES, "stride": INTS, "storage_offset": optional(INT)},
        {"storage_offset": None},
        forms={Form.METHOD: "{0}.clone(memory_format=torch.contiguous_format).as_strided({size}, {stride}{more})"},
        view=True,
    ),
    Op(
        "diagonal",
        MATRICES,
        _diagonal,
        "torch.diagonal({0}{more})",
        _two_dims((0, 1), 0),
        _DIAGONAL,
        {"offset": 0, "dim1": 0, "dim2": 1},
        forms={Form.METHOD: "{0}.diagonal({offset}, {dim1}, {dim2})"},
        view=True,
    ),
    Op(
        "diag",
        one(ranks=(1, 2)),
        _diag,
        "torch.diag({0}{more})",
        lambda source, types: {"diagonal": some_offset(source)},
        {"diagonal": INT},
        {"diagonal": 0},
        forms={Form.METHOD: "{0}.diag({diagonal})"},
    ),
    Op(
        "diag_embed",
        one(ranks=(1, 3)),
        _diag_embed,
        "torch.diag_embed({0}{more})",
        _two_dims((-2, -1), 1),
        _DIAGONAL,
        {"offset": 0, "dim1": -2, "dim2": -1},
        forms={Form.METHOD: "{0}.diag_embed({offset}, {dim1}, {dim2})"},
    ),
    Op(
        "diagflat",
        one(ranks=(0, 2)),
        _diagflat,
        "torch.diagflat({0}{more})",
        lambda source, types: {"offset": some_offset(source)},
        {"offset": INT},
        {"offset": 0},
        forms={Form.METHOD: "{0}.diagflat({offset})"},
    ),
    _triangle_row("tril"),
    _triangle_row("triu"),
)
