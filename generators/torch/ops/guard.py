"""Guards: calls that a row adds before its own, so that a computed value is in the range that it is defined for.

Guards are ordinary operators of the table (clamp, nan_to_num), so the graph itself shows why a case is valid.
"""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import INTEGERS, Attrs, DType, Form, Profile, TensorType, Value
from generators.op import NUMBER, Op, Types, optional, require
from generators.operator_class import OperatorClass
from generators.shared.numbers import largest
from generators.torch.ops.operands import one
from generators.torch.ops.rules import NUMERIC, promote, require_dtype

LARGEST = {DType.FLOAT16: 60000.0}
"""The bound of a guard that means 'no bound'; a million for the other dtypes."""


def clamped(b: Builder, value: Value, low: float, high: float) -> Value:
    """The value after a clamp to [low, high] in the graph; where the profile has NaN, a call before it makes NaN 0."""
    if b.profile is Profile.SPECIAL and value.type.dtype.is_float:
        (value,) = b.emit(NAN_TO_NUM, (value,), {**NAN_TO_NUM.defaults, "nan": 0.0})
    if value.type.dtype.is_float:
        most = LARGEST.get(value.type.dtype, 1e6)
        bounds: Attrs = {"min": max(float(low), -most), "max": min(float(high), most)}
    else:
        least, most = value.type.dtype.range
        bounds = {"min": max(int(low), least), "max": min(int(high), int(most))}
    return b.emit(CLAMP, (value,), bounds)[0]


def _clamp(types: Types, attrs: Attrs) -> TensorType:
    """Bounds take part in the promotion, like all Python numbers."""
    require_dtype(types, *NUMERIC)
    bounds = [b for b in (attrs["min"], attrs["max"]) if isinstance(b, int | float)]
    require(len(bounds) > 0, "clamp takes at least one bound")
    dtype = promote(types, *bounds)
    for bound in bounds:
        if isinstance(bound, int) and dtype in INTEGERS:
            low, high = dtype.range
            require(low <= bound <= high, f"clamp: {dtype} cannot hold {bound}")
        if dtype.is_float:
            require(abs(bound) <= largest(dtype), f"clamp: {bound} is too large for {dtype}")
    return types[0].with_dtype(dtype)


def _bounds(source: ChoiceSource, types: Types) -> Attrs:
    """One bound may be missing, and min may be above max: then all elements become max."""
    low, high = source.integer(-8, 8), source.integer(-8, 8)
    if low > high and source.chance(80):
        low, high = high, low
    dtype = types[0].dtype
    if dtype is DType.UINT8:
        low, high = abs(low), abs(high)
    halves = dtype.is_float or source.chance(15)
    bounds: dict[str, int | float | None] = {"min": low / 2 if halves else low, "max": high / 2 if halves else high}
    if source.chance(25):
        bounds[source.choice(("min", "max"))] = None
    return bounds


def _nan_to_num(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *NUMERIC, DType.BOOL)
    return types[0]


def _replacements(source: ChoiceSource, types: Types) -> Attrs:
    """Numbers that every float dtype holds."""
    return {key: source.choice((None, None, 0.0, 1.5, -2.0)) for key in ("nan", "posinf", "neginf")}


CLAMP = Op(
    "clamp",
    one(NUMERIC),
    _clamp,
    "torch.clamp({0}{more})",
    _bounds,
    {"min": optional(NUMBER), "max": optional(NUMBER)},
    {"min": None, "max": None},
    forms={Form.METHOD: "{0}.clamp({min}, {max})", Form.INPLACE: "{0}.clamp_({min}, {max})"},
    plainer="tanh",
    classes=(OperatorClass.GUARD, OperatorClass.CLAMP),
)

NAN_TO_NUM = Op(
    "nan_to_num",
    one(NUMERIC),
    _nan_to_num,
    "torch.nan_to_num({0}{more})",
    _replacements,
    {"nan": optional(NUMBER), "posinf": optional(NUMBER), "neginf": optional(NUMBER)},
    {"nan": None, "posinf": None, "neginf": None},
    forms={
        Form.METHOD: "{0}.nan_to_num({nan}, {posinf}, {neginf})",
        Form.INPLACE: "{0}.nan_to_num_({nan}, {posinf}, {neginf})",
    },
    plainer="tanh",
    classes=(OperatorClass.GUARD, OperatorClass.NAN_REPLACEMENT),
)

OPS = (CLAMP, NAN_TO_NUM)
