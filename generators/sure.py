"""Which values honest implementations agree on down to their zeros, and which rows look at those.

Rounding does not tell zero from what is almost zero, nor the sign of a zero or of NaN: neither counts in a result
(DESIGN, section 5). But some operators make much of it: `signbit`, `copysign`, `atan2` and a division read the sign, a
cast to bool or `nonzero` asks whether there is a zero at all. The envelope is blind there: no relative error moves an
underflow to 0, or changes the sign of a zero. So floats at these places are inputs as they are, or what a guard holds
away from zero. The builder sees to it, for generation and mutation alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from generators.graph import DType, Node, Profile, TensorType, Value

if TYPE_CHECKING:  # it knows this module
    from generators.builder import Builder

READS_SIGN = {
    "signbit": (0,),
    "copysign": (1,),
    "atan2": (0, 1),
    "reciprocal": (0,),
    "rsqrt": (0,),
    "digamma": (0,),
    "div": (1,),
    "floor_divide": (1,),
    "addcdiv": (2,),
    "rdiv_scalar": (0,),
    "rfloor_divide_scalar": (0,),
    "pow_positive": (0,),
}
"""Row -> the operands of whose zeros (or NaN) it reads the sign."""

READS_SIGN_OF_BASE = ("pow", "float_power")
"""Where the exponent is fractional: else it is not negative."""

ASKS_FOR_ZERO = ("nonzero_sum", "nonzero_axis_sum", "argwhere_sum", "where_axis_sum", "count_nonzero")
"""Rows that count the zeros of their operand, or their positions."""

CASTS_TO_BOOL = (
    *("to", "type_as", "copy", "fill_tensor", "masked_fill_tensor", "index_fill_tensor", "setitem"),
    *("slice_scatter", "select_scatter", "diagonal_scatter", "sum", "nansum", "prod"),
    *("any", "all", "logical_not", "logical_and", "logical_or", "logical_xor"),
)
"""Rows that ask whether their operands are zero where their result is bool."""

LOOKS = frozenset({*READS_SIGN, *READS_SIGN_OF_BASE, *ASKS_FOR_ZERO, *CASTS_TO_BOOL})


def looked_at(op: str, types: Sequence[TensorType], results: Sequence[TensorType]) -> Sequence[int]:
    """The positions of the operands whose zeros decide."""
    if op in READS_SIGN_OF_BASE:
        return (0,) if types[1].dtype.is_float else ()
    if op in ASKS_FOR_ZERO:
        return (0,)
    if op in CASTS_TO_BOOL:
        return range(len(types)) if results[0].dtype is DType.BOOL else ()
    return READS_SIGN.get(op, ())


def unsure(b: Builder, op: str, args: Sequence[Value], results: Sequence[TensorType]) -> list[int]:
    """The positions of operands that are not what the row must read."""
    places = looked_at(op, [arg.type for arg in args], results)
    return [place for place in places if not is_sure(b, args[place])]


def is_sure(b: Builder, value: Value) -> bool:
    """Integers and booleans, inputs, parts of those, and what a clamp keeps away from zero."""
    made = b.maker(value.name)
    if made is None or not value.type.dtype.is_float:
        return True
    op, node = made
    moves = op.view and op.terms is None and op.name != "dropout_training"  # which multiplies by 0 or 1
    if moves and b.type_of(node.args[0]).dtype == value.type.dtype:
        return all(is_sure(b, Value(name, b.type_of(name))) for name in node.args)
    if node.op == "add_scalar":  # the epsilon of a variance
        other = node.attrs["other"]
        positive = isinstance(other, int | float) and other > 0
        return positive and b.profile is not Profile.SPECIAL and _never_negative(b, node.args[0])
    return node.op == "clamp" and _away_from_zero(node) and (b.profile is not Profile.SPECIAL or _without_nan(b, node))


def _never_negative(b: Builder, name: str) -> bool:
    """Squares, and their sums and means."""
    made = b.maker(name)
    if made is None:
        return False
    _, node = made
    if node.op in ("mean", "sum"):
        return _never_negative(b, node.args[0])
    return node.op == "square" or (node.op == "mul" and node.args[0] == node.args[1])


def _away_from_zero(clamp: Node) -> bool:
    low, high = clamp.attrs["min"], clamp.attrs["max"]
    if isinstance(high, int | float) and high < 0:
        return True
    return isinstance(low, int | float) and low > 0 and (high is None or (isinstance(high, int | float) and high > 0))


def _without_nan(b: Builder, clamp: Node) -> bool:
    made = b.maker(clamp.args[0])
    return made is not None and made[1].op == "nan_to_num"
