"""Zero sensitivity: operators whose result depends on a zero's sign, or on whether a number is exactly zero.

Correct implementations round differently. So they may disagree on whether a computed number is zero or almost zero, and
on the sign of a zero or of NaN. The comparison of results ignores both differences. But some operators turn them into
large ones: `signbit`, `copysign`, `atan2` and a division read the sign; a conversion to bool and `nonzero` test for
zero. The envelope cannot show this, because no relative error moves a tiny number to 0 or changes the sign of a zero.

Rows name the operands concerned (`Op.zero_sensitivity`). The builder gives them only floats on whose zeros all correct
implementations agree: inputs, parts of inputs, and what a clamp keeps away from zero. This holds for generation and
for mutation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from generators.domain import POSITIVE
from generators.graph import Node, Profile, TensorType, Value

if TYPE_CHECKING:  # these modules import this one
    from generators.builder import Builder
    from generators.op import Op


def unsafe_operands(b: Builder, op: Op, args: Sequence[Value], results: tuple[TensorType, ...]) -> list[int]:
    """Return the positions of operands whose zeros matter for the result, but on which implementations may disagree."""
    places = op.zero_sensitivity.places(tuple([arg.type for arg in args]), results)
    return [place for place in places if not zeros_agree(b, args[place])]


def zeros_agree(b: Builder, value: Value) -> bool:
    """Whether all correct implementations agree on the value's zeros and their signs: integers and booleans, inputs,
    parts of inputs, and numbers that a clamp keeps away from zero."""
    producer = b.producer(value.name)
    if producer is None or not value.type.dtype.is_float:
        return True
    op, node = producer
    if op.only_moves and b.type_of(node.args[0]).dtype == value.type.dtype:
        return all(zeros_agree(b, Value(name, b.type_of(name))) for name in node.args)
    if node.op == "add_scalar":  # the epsilon of a variance
        other = node.attrs["other"]
        positive = isinstance(other, int | float) and other > 0
        return positive and b.profile is not Profile.SPECIAL and _never_negative(b, node.args[0])
    if node.title in ("Add", "Sqrt"):
        return b.profile is not Profile.SPECIAL and _positive(b, value.name)
    clamps = node.op == "clamp" or node.op.startswith("Clip-")  # of PyTorch or of ONNX
    return clamps and _away_from_zero(node) and (b.profile is not Profile.SPECIAL or _without_nan(b, node))


def _positive(b: Builder, name: str) -> bool:
    """Whether a value of ONNX is a positive input, a sum of one and a value that is never negative, or its root."""
    producer = b.producer(name)
    if producer is None:
        return any(item.value.name == name and item.domain == POSITIVE for item in b.inputs)
    _, node = producer
    match node.title:
        case "Sqrt":
            return _positive(b, node.args[0])
        case "Add":
            one, other = node.args
            return (_positive(b, one) and _never_negative(b, other)) or (
                _positive(b, other) and _never_negative(b, one)
            )
        case _:
            return False


def _never_negative(b: Builder, name: str) -> bool:
    """Whether a value is a square, or a sum or mean of squares."""
    producer = b.producer(name)
    if producer is None:
        return False
    _, node = producer
    if node.title in ("mean", "sum", "ReduceMean", "ReduceSum"):
        return _never_negative(b, node.args[0])
    return node.op == "square" or (node.title in ("mul", "Mul") and node.args[0] == node.args[1])


def _away_from_zero(clamp: Node) -> bool:
    low, high = clamp.attrs["min"], clamp.attrs["max"]
    if isinstance(high, int | float) and high < 0:
        return True
    return isinstance(low, int | float) and low > 0 and (high is None or (isinstance(high, int | float) and high > 0))


def _without_nan(b: Builder, clamp: Node) -> bool:
    producer = b.producer(clamp.args[0])
    return producer is not None and producer[1].op == "nan_to_num"
