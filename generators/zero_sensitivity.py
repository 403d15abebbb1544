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
from typing import Protocol

from generators.domain import POSITIVE
from generators.graph import Input, Node, Profile, TensorType, Value
from generators.op import Op
from generators.operator_class import OperatorClass


class Drawn(Protocol):
    """What is asked of a graph under construction."""

    profile: Profile
    inputs: list[Input]

    def producer(self, name: str) -> tuple[Op, Node] | None: ...

    def type_of(self, name: str) -> TensorType: ...


def unsafe_operands(b: Drawn, op: Op, args: Sequence[Value], results: tuple[TensorType, ...]) -> list[int]:
    """Return the positions of operands whose zeros matter for the result, but on which implementations may disagree."""
    places = op.zero_sensitivity.places(tuple([arg.type for arg in args]), results)
    return [place for place in places if not zeros_agree(b, args[place])]


def zeros_agree(b: Drawn, value: Value) -> bool:
    """Whether all correct implementations agree on the value's zeros and their signs: integers and booleans, inputs,
    parts of inputs, and numbers that a clamp keeps away from zero."""
    producer = b.producer(value.name)
    if producer is None or not value.type.dtype.is_float:
        return True
    op, node = producer
    if op.only_moves and b.type_of(node.args[0]).dtype == value.type.dtype:
        return all(zeros_agree(b, Value(name, b.type_of(name))) for name in node.args)
    if OperatorClass.NUMBER_ADDITION in op.classes:  # the epsilon of a variance
        other = node.attrs["other"]
        positive = isinstance(other, int | float) and other > 0
        return positive and b.profile is not Profile.SPECIAL and _never_negative(b, node.args[0])
    if OperatorClass.ADDITION in op.classes or OperatorClass.SQUARE_ROOT in op.classes:
        return b.profile is not Profile.SPECIAL and _positive(b, value.name)
    if OperatorClass.CLAMP in op.classes:
        return _away_from_zero(node) and (b.profile is not Profile.SPECIAL or _without_nan(b, node))
    return False


def _positive(b: Drawn, name: str) -> bool:
    """Whether a value is a positive input, a sum of one and a value that is never negative, or its root."""
    producer = b.producer(name)
    if producer is None:
        return any(item.value.name == name and item.domain == POSITIVE for item in b.inputs)
    op, node = producer
    if OperatorClass.SQUARE_ROOT in op.classes:
        return _positive(b, node.args[0])
    if OperatorClass.ADDITION in op.classes and node.attrs.get("alpha", 1) == 1:
        one, other = node.args
        return (_positive(b, one) and _never_negative(b, other)) or (_positive(b, other) and _never_negative(b, one))
    return False


def _never_negative(b: Drawn, name: str) -> bool:
    """Whether a value is a square, or a sum or mean of squares."""
    producer = b.producer(name)
    if producer is None:
        return False
    op, node = producer
    if OperatorClass.SUM_OR_MEAN in op.classes:
        return _never_negative(b, node.args[0])
    is_product = OperatorClass.PRODUCT in op.classes
    return OperatorClass.SQUARE in op.classes or (is_product and node.args[0] == node.args[1])


def _away_from_zero(clamp: Node) -> bool:
    low, high = clamp.attrs["min"], clamp.attrs["max"]
    if isinstance(high, int | float) and high < 0:
        return True
    return isinstance(low, int | float) and low > 0 and (high is None or (isinstance(high, int | float) and high > 0))


def _without_nan(b: Drawn, clamp: Node) -> bool:
    producer = b.producer(clamp.args[0])
    return producer is not None and OperatorClass.NAN_REPLACEMENT in producer[0].classes
