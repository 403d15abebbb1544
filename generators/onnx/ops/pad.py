"""Pad: elements around a tensor, or elements that are removed from its ends."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import Constant, Operator
from generators.onnx.ops.axes import axes_in, with_size, written
from generators.onnx.ops.operands import float32, scalar, tensor
from generators.onnx.schema import Schema
from generators.op import INTS, one_of, require

MODES = ("constant", "reflect", "edge", "wrap")
WRAPS = 19
"""The first opset that has the mode wrap."""


def _operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
    x = tensor(b, schema, "data", (1, 5))
    if not schema.has_input("constant_value") or b.source.chance(50):
        return (x,)
    return x, scalar(b, x.type.dtype)


def _pad(call: Call) -> TensorType:
    """The pads before all axes come first, then those after them. Negative ones remove elements: onnxruntime removes
    first, and needs elements that are left for modes that repeat them; for reflect more than it adds on either side."""
    x, pads, mode = call["data"], call.integers("pads") or (), call.text("mode")
    require(mode != "wrap" or call.schema.since >= WRAPS, "this version does not wrap")
    named = call.integers("axes") if call.has("axes") else None
    axes = axes_in(call, tuple(range(x.rank)) if named is None else named, x.rank)
    require(len(pads) == 2 * len(axes), f"{len(pads)} pads do not fit {len(axes)} axes")
    for place, axis in enumerate(axes):
        before, after, size = pads[place], pads[place + len(axes)], x.sizes[axis]
        left = size + min(before, 0) + min(after, 0)
        require(left >= 0, f"{before} and {after} remove more than {size} elements")
        if mode != "constant" and (before or after):
            enough = left > max(before, after, 0) if mode == "reflect" else left > 0
            require(enough, f"{mode} has too few elements to repeat in {x}")
        x = with_size(x, axis, size + before + after)
    return x


def _attributes(source: ChoiceSource, call: Call) -> Attrs:
    x = call["data"]
    modes = MODES if call.schema.since >= WRAPS and x.numel else MODES[:3]  # onnxruntime wraps no empty tensor
    mode = source.choice((*modes, "constant"))
    axes = list(range(x.rank))
    some = call.has("axes") and source.chance(60)
    if some:
        axes = source.some(axes, 1, x.rank)
    pairs = [_pair(source, int(x.sizes[axis]), mode, source.chance(60)) for axis in axes]
    return {
        "mode": mode,
        "pads": tuple(before for before, _ in pairs) + tuple(after for _, after in pairs),
        "axes": tuple(written(source, call, axis, x.rank) for axis in axes) if some else None,
        "value": source.choice((0.0, 1.0, -2.5, float32(0.1), 100.0)),
    }


def _pair(source: ChoiceSource, size: int, mode: str, padded: bool) -> tuple[int, int]:
    """How many elements are added before and after an axis. Where a mode repeats elements, an axis is either padded or
    cut: readers need not agree whether what was cut is repeated."""
    if not padded:
        return 0, 0
    if source.rarely(15) and size > 1:
        cut = source.integer(0, size - 1)
        before = source.integer(0, cut)
        pair = -before, before - cut
        return pair if mode != "constant" or source.chance(60) else (pair[0], source.integer(0, 3))
    most = min(size - 1, 4) if mode == "reflect" else 0 if mode != "constant" and not size else 4
    if mode in ("wrap", "edge", "constant") and size and source.rarely(10):
        most = size + 3
    few = min(most, 2) if source.chance(60) else most
    return source.integer(0, max(few, 0)), source.integer(0, max(few, 0))


OPERATORS: tuple[Operator, ...] = (
    Operator(
        "Pad",
        _operands,
        _pad,
        _attributes,
        {"pads": Constant(INTS), "axes": Constant(INTS)},  # the inference of onnx reads no axes of int32
        {"mode": one_of(*MODES)},
        moves=True,
    ),
)
