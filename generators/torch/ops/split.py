"""Splitting tensors: a list of views, each of one part."""

from __future__ import annotations

from collections.abc import Callable

from generators.choice import ChoiceSource
from generators.graph import Attrs, Form, TensorType
from generators.op import INT, SIZES, AttrKind, DrawAttrs, Infer, Op, Types, int_of, ints_of, require
from generators.torch.ops.move import INT_OR_INTS, RANKED, any_dim
from generators.torch.ops.operands import one
from generators.torch.ops.part import replaced, slice_size
from generators.torch.ops.rules import axis_of

MOST_PIECES = 8
"""The most pieces that are drawn."""

MOST_RESULTS = 1 << 16
"""The most pieces that a case file may have: an empty tensor may have a dimension of billions."""


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
    """There are fewer chunks than requested if the size is too small. An empty dimension gives as many as requested."""
    (x,), chunks = types, int_of(attrs, "chunks")
    axis = _axis(x, attrs)
    require(0 < chunks <= MOST_RESULTS, f"chunks must be a positive number, not {chunks}")
    size = x.sizes[axis]
    return _by_size(x, axis, (size + chunks - 1) // chunks) if size else _pieces(x, axis, [0] * chunks)


def _chunk_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {"chunks": source.integer(1, MOST_PIECES), "dim": any_dim(source, types[0].rank)}


def _unbind(types: Types, attrs: Attrs) -> Types:
    """An empty dimension is refused, because a call in a graph must have a result."""
    (x,) = types
    axis = _axis(x, attrs)
    require(0 < x.sizes[axis] <= MOST_RESULTS, f"unbind of {x.sizes[axis]} elements")
    return (x.with_shape(*x.sizes[:axis], *x.sizes[axis + 1 :]),) * int(x.sizes[axis])


def _unbind_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    (x,) = types
    fitting = [dim for dim in range(-x.rank, x.rank) if 0 < x.sizes[dim] <= MOST_PIECES]
    return {"dim": source.choice(fitting)} if fitting else None


def _tensor_split(types: Types, attrs: Attrs) -> Types:
    """Sections whose sizes differ by at most one, or a split before each index; indices are clipped as in slices."""
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
    """Draw indices, mostly in ascending order. Some count from the end, and some are beyond it."""
    cuts = [source.integer(0, size) for _ in range(source.integer(0, 3))]
    cuts = sorted(cuts) if source.chance(80) else cuts
    return tuple(cut - size if source.chance(25) else cut + size if source.chance(5) else cut for cut in cuts)


def _tensor_split_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dim = any_dim(source, types[0].rank)
    size = types[0].sizes[dim]
    return {"indices_or_sections": source.integer(1, 5) if source.chance(50) else _cuts(source, size), "dim": dim}


def _numpy_split(name: str, rank: int, axis: Callable[[int], int]) -> Op:
    """The argument is the number of equal sections, or a list of indices."""

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


def _divider(name: str, call: str, infer: Infer, key: str, kind: AttrKind, attrs: DrawAttrs, other: str = "") -> Op:
    """`call` is PyTorch's name, and `other` another name."""
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


OPS = (
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
)
