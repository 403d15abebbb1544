"""Tensors that are joined along an axis, or split."""

from __future__ import annotations

from itertools import pairwise

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, Form, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import Constant, Operator
from generators.onnx.ops.axes import axis_in, some_axis, with_size, written
from generators.onnx.ops.operands import one, tensor
from generators.onnx.schema import Schema
from generators.op import POSITIVE, SIZES, require
from generators.shared.draws import agreed
from generators.symbolic import Size

# --- Concat


def _concat(call: Call) -> TensorType:
    first, axis = call.first, axis_in(call)
    total = 0
    for type in call.types:
        beside = type.rank == first.rank and all(
            mine == theirs or place == axis
            for place, (mine, theirs) in enumerate(zip(type.sizes, first.sizes, strict=True))
        )
        require(beside, f"{type} cannot be joined with {first} along {axis}")
        total = type.sizes[axis] + total
    return with_size(first, axis, total)


def _agreed_axis(x: TensorType) -> int:
    """The axis along which operands like this one are joined: attributes are drawn from types alone."""
    return agreed(x.with_shape(*(0 for _ in x.sizes)), f"join {sorted(map(int, x.sizes))}").integer(0, x.rank - 1)


def _joined(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """One to five tensors whose sizes differ along one axis only."""
    first = tensor(b, schema, "inputs", (1, 5))
    x, axis = first.type, _agreed_axis(first.type)

    def fits(other: TensorType) -> bool:
        return other.dtype == x.dtype and other.rank == x.rank and with_size(other, axis, 0) == with_size(x, axis, 0)

    def otherwise() -> TensorType:
        return with_size(x, axis, b.source.choice((x.sizes[axis], 1, 2, 3, 5)) if b.source.chance(95) else 0)

    count = b.source.choice((0, 1, 1, 1, 2, 2, 3, 4))
    return first, *(b.pick(fits, otherwise) for _ in range(count))


def _concat_attributes(source: ChoiceSource, call: Call) -> Attrs:
    return {"axis": written(source, call, _agreed_axis(call.first), call.first.rank)}


# --- Split


def _split(call: Call) -> tuple[TensorType, ...]:
    """Parts of given sizes; else equal parts. With num_outputs, the last part may be smaller."""
    x, axis, parts = call.first, axis_in(call), call.attr("outputs")
    assert isinstance(parts, int)
    size, sizes = x.sizes[axis], call.integers("split")
    if call.has("num_outputs"):
        count = call.attr("num_outputs")
        require((sizes is None) != (count is None), "takes either split or num_outputs")
        require(count in (None, parts), f"num_outputs {count} is not the number of results, {parts}")
    if sizes is None:
        # onnxruntime makes at most as many parts as there are elements
        require(not call.has("num_outputs") or parts <= size, f"a size of {size} has no {parts} parts")
        each = (size + parts - 1) // parts
        last = size - each * (parts - 1)
        uneven = call.has("num_outputs")
        require(last == each or (uneven and last >= 0), f"a size of {size} has no {parts} parts")
        sizes = (each,) * (parts - 1) + (last,)
    require(len(sizes) == parts, f"{len(sizes)} sizes are not {parts} results")
    require(min(sizes) >= 0 and sum(sizes) == size, f"{list(sizes)} are no parts of {size}")
    return tuple(with_size(x, axis, part) for part in sizes)


def _split_attributes(source: ChoiceSource, call: Call) -> Attrs | None:
    axis = some_axis(source, call)
    size = call.first.sizes[axis]
    drawn: dict[str, int | tuple[int, ...] | None] = {"axis": axis, "split": None, "num_outputs": None}
    counted = call.has("num_outputs")
    if isinstance(size, Size) or source.chance(40):
        fitting = [each for each in (1, 2, 3, 4, 5) if size % each == 0 or (counted and _last(size, each) > 0)]
        parts = source.choice(fitting)
        return {**drawn, "outputs": parts, "num_outputs": parts}
    parts = source.choice((1, 2, 2, 3, 3, 4))
    cuts = sorted(source.integer(0 if source.rarely(8) else min(size, 1), max(size - 1, 0)) for _ in range(parts - 1))
    bounds = [0, *cuts, size]
    sizes = tuple(end - start for start, end in pairwise(bounds))
    return {**drawn, "outputs": parts, "split": sizes}


def _last(size: int, parts: int) -> int:
    """The size of the last of this many parts, of which the others are equal and as small as they can be."""
    return size - -(-size // parts) * (parts - 1)


OPERATORS: tuple[Operator, ...] = (
    Operator("Concat", _joined, _concat, _concat_attributes, moves=True),
    Operator(
        "Split",
        one((1, 5)),
        _split,
        _split_attributes,
        {"split": Constant(SIZES)},
        {"num_outputs": POSITIVE},
        moves=True,
        unwritten=(Form.EMPTY,),  # onnxruntime takes an empty name for sizes, beside num_outputs
    ),
)
