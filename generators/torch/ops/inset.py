"""Writing into a part of a tensor that needs no indices: all of it, a slice, a diagonal."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, Form, TensorType, Value
from generators.op import BOOL, INT, SCALAR, ZEROS_WHERE_BOOL, AttrKind, Op, Types, int_of, optional, require
from generators.shared.draws import agreed, agreed_axis
from generators.shared.numbers import require_fits
from generators.torch.ops.indexing import castable, draw_number, draw_slice, fits, slice_length
from generators.torch.ops.operands import partner
from generators.torch.ops.rules import ALL, axes_of, axis_of


def _copy(types: Types, attrs: Attrs) -> TensorType:
    require(fits(types[1], types[0].sizes), f"{types[1]} does not expand to {types[0]}")
    return types[0]


def _copy_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor()
    return x, castable(b, partner(b, x.type), x.type.dtype)


def _part(types: Types, shape: list[int]) -> TensorType:
    x, src = types
    require(list(src.sizes) == shape, f"the source must be of shape {shape}, not {src}")
    return x


def _sliced(x: TensorType, attrs: Attrs) -> list[int]:
    step = int_of(attrs, "step")
    require(x.rank > 0 and step > 0, "a slice takes a positive step and a rank above 0")
    start, end = ("" if attrs[key] is None else str(attrs[key]) for key in ("start", "end"))
    axis = axis_of(int_of(attrs, "dim"), x.rank)
    shape = list(x.sizes)
    shape[axis] = slice_length(shape[axis], f"{start}:{end}:{step}")
    return shape


def _agreed_slice(x: TensorType) -> Attrs:
    source = agreed(x, "slice")
    axis = source.integer(0, x.rank - 1)
    start, end, step = (*draw_slice(source, int(x.sizes[axis])).split(":"), "")[:3]
    return {
        "dim": axis,
        "start": int(start) if start else None,
        "end": int(end) if end else None,
        "step": int(step or 1),
    }


def _selected(x: TensorType, attrs: Attrs) -> list[int]:
    require(x.rank > 0, "select takes a rank above 0")
    axis, index = axis_of(int_of(attrs, "dim"), x.rank), int_of(attrs, "index")
    require(-x.sizes[axis] <= index < x.sizes[axis], f"index {index} is out of range for size {x.sizes[axis]}")
    return [*x.sizes[:axis], *x.sizes[axis + 1 :]]


def _agreed_select(x: TensorType) -> Attrs:
    source, axis = agreed(x, "index"), agreed_axis(x)
    return {"dim": axis, "index": source.integer(-int(x.sizes[axis]), int(x.sizes[axis]) - 1)}


def _diagonal(x: TensorType, attrs: Attrs) -> list[int]:
    first, second = axes_of((int_of(attrs, "dim1"), int_of(attrs, "dim2")), x.rank)
    offset = int_of(attrs, "offset")
    rows, columns = x.sizes[first] + min(offset, 0), x.sizes[second] - max(offset, 0)
    length = rows if rows < columns else columns
    return [*(size for axis, size in enumerate(x.sizes) if axis not in (first, second)), length if length > 0 else 0]


def _agreed_diagonal(x: TensorType) -> Attrs:
    source = agreed(x, "diagonal")
    first, second = source.some(range(x.rank), 2, 2)
    low, high = int(x.sizes[first]), int(x.sizes[second])
    return {
        "offset": 0 if source.chance(50) else source.integer(-low, high),
        "dim1": first,
        "dim2": second - x.rank if source.chance(40) else second,
    }


def _into_part(
    name: str,
    tail: str,
    shape: Callable[[TensorType, Attrs], list[int]],
    drawn: Callable[[TensorType], Attrs],
    schema: Mapping[str, AttrKind],
    defaults: Attrs,
    least_rank: int = 1,
) -> Op:
    """torch.NAME(x, source, ...): the source has the shape of the part that it replaces, and any dtype."""

    def operands(b: Builder) -> tuple[Value, ...]:
        x = b.tensor(ranks=(least_rank, 5))
        type = TensorType(b.dtype((x.type.dtype, *ALL)), tuple(shape(x.type, drawn(x.type))))
        return x, castable(b, b.pick(lambda t: t.shape == type.shape, lambda: type), x.type.dtype)

    def attrs(source: ChoiceSource, types: Types) -> Attrs:
        found = drawn(types[0])
        if "dim" in found and source.chance(40):
            return {**found, "dim": int_of(found, "dim") - types[0].rank}
        return found

    return Op(
        name,
        operands,
        lambda types, attrs: _part(types, shape(types[0], attrs)),
        f"torch.{name}({{0}}, {{1}}{tail})",
        attrs,
        schema,
        defaults,
        arity=(2, 2),
        forms={Form.METHOD: f"{{0}}.{name}({{1}}{tail})"},
        zero_sensitivity=ZEROS_WHERE_BOOL,
    )


def _fill_diagonal(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    require(x.rank >= 2, f"takes rank 2 or more, not {x}")
    require(x.rank == 2 or len(set(x.sizes)) == 1, f"takes dimensions of one size, not {x}")
    require_fits(attrs["fill_value"], x.dtype)
    return x


def _fill_diagonal_source(args: tuple[str, ...], attrs: Attrs) -> str:
    """PyTorch wraps by strides: in a tensor that is not contiguous it would write to other places, or out of bounds."""
    copy, more = (".contiguous().clone()", ", wrap=True") if attrs["wrap"] else (".clone()", "")
    return f"{{out}} = {args[0]}{copy}\n{{out}}.fill_diagonal_({attrs['fill_value']!r}{more})"


def _square(b: Builder) -> tuple[Value, ...]:
    if b.source.chance(70):
        return (b.tensor(ranks=(2, 2)),)
    size, rank = b.source.integer(1, 4), b.source.integer(3, 4)
    return (b.pick(lambda t: t.rank > 2 and len(set(t.sizes)) == 1, lambda: TensorType(b.dtype(ALL), (size,) * rank)),)


OPS = (
    Op(
        "copy",
        _copy_operands,
        _copy,
        "{out} = {0}.clone()\n{out}.copy_({1}{more})",
        lambda source, types: {"non_blocking": source.chance(20)},
        {"non_blocking": BOOL},
        {"non_blocking": False},
        arity=(2, 2),
        forms={Form.INPLACE: "{0}.copy_({1}{more})"},
        zero_sensitivity=ZEROS_WHERE_BOOL,
    ),
    Op(
        "fill_diagonal",
        _square,
        _fill_diagonal,
        _fill_diagonal_source,
        lambda source, types: {"fill_value": draw_number(source, types[0].dtype), "wrap": source.chance(40)},
        {"fill_value": SCALAR, "wrap": BOOL},
        {"wrap": False},
        forms={Form.INPLACE: "{0}.fill_diagonal_({fill_value})"},
    ),
    _into_part(
        "slice_scatter",
        "{more}",
        _sliced,
        _agreed_slice,
        {"dim": INT, "start": optional(INT), "end": optional(INT), "step": INT},
        {"dim": 0, "start": None, "end": None, "step": 1},
    ),
    _into_part("select_scatter", ", {dim}, {index}", _selected, _agreed_select, {"dim": INT, "index": INT}, {}),
    _into_part(
        "diagonal_scatter",
        "{more}",
        _diagonal,
        _agreed_diagonal,
        {"offset": INT, "dim1": INT, "dim2": INT},
        {"offset": 0, "dim1": 0, "dim2": 1},
        least_rank=2,
    ),
)
