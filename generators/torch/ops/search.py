"""Searches in sorted tensors, and membership."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, DType, Form, Profile, TensorType, Value
from generators.op import BOOL, NUMBER, DrawAttrs, Op, Types, number_of, one_of, optional, require
from generators.torch.ops.axes import without_ties
from generators.torch.ops.guard import clamped
from generators.torch.ops.operands import one
from generators.torch.ops.rules import ALL, NUMERIC, require_dtype

# --- searches

_SIDES = ("left", "right")
_INT32 = {"out_int32": BOOL, "right": BOOL}
_INT64: Attrs = {"out_int32": False, "right": False}
_SIDE = {**_INT32, "side": optional(one_of(*_SIDES))}
_NO_SIDE: Attrs = {**_INT64, "side": None}


def _index(attrs: Attrs) -> DType:
    return DType.INT32 if attrs["out_int32"] else DType.INT64


def _require_side(attrs: Attrs) -> None:
    require(attrs["side"] != "left" or attrs["right"] is False, "side and right must not be opposites")


def _searchsorted(types: Types, attrs: Attrs) -> TensorType:
    """Each row of the second operand is searched in the same row of the first; a vector is used for all rows."""
    sequence, values = types
    _require_side(attrs)
    require(not sequence.dtype == values.dtype == DType.BOOL, "is not defined for bool")
    require(sequence.rank > 0, "takes a sequence, not a number")
    alike = sequence.rank == 1 or (values.rank == sequence.rank and values.sizes[:-1] == sequence.sizes[:-1])
    require(alike, f"{sequence} and {values} differ in more than the last dimension")
    return values.with_dtype(_index(attrs))


def _search_number(types: Types, attrs: Attrs) -> TensorType:
    if "side" in attrs:
        _require_side(attrs)
    require(types[0].rank == 1, f"takes a vector, not {types[0]}")
    return TensorType(_index(attrs), ())


def _bucketize(types: Types, attrs: Attrs) -> TensorType:
    values, boundaries = types
    require(boundaries.rank == 1, f"takes a vector of boundaries, not {boundaries}")
    require(not boundaries.dtype == values.dtype == DType.BOOL, "is not defined for bool")
    return values.with_dtype(_index(attrs))


def _sequence(b: Builder, value: Value) -> Value:
    """The operand is sorted in the call, so its dtype must have an order."""
    special = b.profile is Profile.SPECIAL and value.type.dtype.is_float
    return clamped(b, value, -1e6, 1e6) if special else value


def _haystack_and_needles(b: Builder) -> tuple[Value, ...]:
    sequence = b.tensor(ranks=(1, 1) if b.source.chance(60) else (1, 4))
    dtypes = NUMERIC if sequence.type.dtype is DType.BOOL else ALL
    if sequence.type.rank == 1:
        values = b.tensor(dtypes)
    else:
        *rows, _ = sequence.type.sizes
        values = b.pick(
            lambda t: t.dtype in dtypes and t.rank > 0 and t.sizes[:-1] == (*rows,),
            lambda: TensorType(b.dtype(dtypes), (*rows, b.source.choice((1, 2, 5, 0)))),
        )
    return _sequence(b, sequence), _sequence(b, values)


def _values_and_boundaries(b: Builder) -> tuple[Value, ...]:
    boundaries = b.tensor(ranks=(1, 1)) if b.source.chance(60) else b.buffer(b.dtype(ALL), b.source.integer(1, 9))
    values = b.tensor(NUMERIC if boundaries.type.dtype is DType.BOOL else ALL)
    return _sequence(b, values), _sequence(b, boundaries)


def _one_sequence(b: Builder) -> tuple[Value, ...]:
    return (_sequence(b, b.tensor(ranks=(1, 1))),)


def _index_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {"out_int32": source.chance(40), "right": source.chance(50)}


def _side_attrs(source: ChoiceSource, types: Types) -> Attrs:
    drawn = _index_attrs(source, types)
    return {**drawn, "side": source.choice((None, "right", "right" if drawn["right"] else "left"))}


def _needle_attrs(attrs: DrawAttrs) -> DrawAttrs:
    def draw(source: ChoiceSource, types: Types) -> Attrs:
        number = _draw_number(source)
        if types[0].dtype is DType.UINT8:  # eager PyTorch casts -2 to uint8, 254; compilers do not
            number = abs(number)
        return {"input": number, **(attrs(source, types) or {})}

    return draw


def _draw_number(source: ChoiceSource) -> int | float:
    number = source.integer(-6, 6)
    return number if source.chance(60) else number / 2


_SEARCHES = (
    Op(
        "searchsorted",
        _haystack_and_needles,
        _searchsorted,
        "torch.searchsorted(torch.sort({0}).values, {1}{more})",
        _side_attrs,
        _SIDE,
        _NO_SIDE,
        arity=(2, 2),
        forms={Form.FUNCTION: "torch.searchsorted({0}, {1}, sorter=torch.argsort({0}){more})"},
    ),
    Op(
        "searchsorted_number",
        _one_sequence,
        _search_number,
        "torch.searchsorted(torch.sort({0}).values, {input}{more})",
        _needle_attrs(_side_attrs),
        {"input": NUMBER, **_SIDE},
        _NO_SIDE,
    ),
    Op(
        "bucketize",
        _values_and_boundaries,
        _bucketize,
        "torch.bucketize({0}, torch.sort({1}).values{more})",
        _index_attrs,
        _INT32,
        _INT64,
        arity=(2, 2),
    ),
    Op(
        "bucketize_number",
        _one_sequence,
        _search_number,
        "torch.bucketize({input}, torch.sort({0}).values{more})",
        _needle_attrs(_index_attrs),
        {"input": NUMBER, **_INT32},
        _INT64,
    ),
)

# --- membership


def _require_tests(type: TensorType) -> None:
    """Stricter than PyTorch, which accepts more dimensions, but not with all strides."""
    require(type.rank <= 1, f"takes a list of tests, not {type}")


def _require_number_of(type: TensorType, value: int | float) -> None:
    """Stricter than PyTorch, which wraps numbers around."""
    if type.dtype.is_integer and isinstance(value, int):
        low, high = type.dtype.range
        require(low <= value <= high, f"{type.dtype} cannot hold {value}")


def _isin(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *NUMERIC)
    _require_tests(types[1])
    return types[0].with_dtype(DType.BOOL)


def _isin_number(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *NUMERIC)
    _require_number_of(types[0], number_of(attrs, "test_element"))
    return types[0].with_dtype(DType.BOOL)


def _number_isin(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *NUMERIC)
    _require_tests(types[0])
    _require_number_of(types[0], number_of(attrs, "element"))
    return TensorType(DType.BOOL, ())


def _elements_and_tests(b: Builder) -> tuple[Value, ...]:
    """Operands of any two dtypes, sometimes with so many test elements that PyTorch sorts them."""
    return b.tensor(NUMERIC), b.tensor(NUMERIC, (0, 1) if b.source.chance(20) else (1, 1))


def _unique_elements_and_tests(b: Builder) -> tuple[Value, ...]:
    return without_ties(b, ranks=(1, 1)), without_ties(b, ranks=(1, 1))


def _number_attrs(key: str, *flags: str) -> DrawAttrs:
    def draw(source: ChoiceSource, types: Types) -> Attrs:
        number = _draw_number(source)
        if types[0].dtype is DType.UINT8 and isinstance(number, int):
            number = abs(number)
        return {key: number, **{flag: source.chance(50) for flag in flags}}

    return draw


_MEMBERS = (
    Op(
        "isin",
        _elements_and_tests,
        _isin,
        "torch.isin({0}, {1}{more})",
        lambda source, types: {"invert": source.chance(50)},
        {"invert": BOOL},
        {"invert": False},
        arity=(2, 2),
    ),
    Op(
        "isin_unique",
        _unique_elements_and_tests,
        _isin,
        "torch.isin({0}, {1}, assume_unique=True{more})",
        lambda source, types: {"invert": source.chance(50)},
        {"invert": BOOL},
        {"invert": False},
        arity=(2, 2),
    ),
    Op(
        "isin_number",
        one(NUMERIC),
        _isin_number,
        "torch.isin({0}, {test_element}{more})",
        _number_attrs("test_element", "assume_unique", "invert"),
        {"test_element": NUMBER, "assume_unique": BOOL, "invert": BOOL},
        {"assume_unique": False, "invert": False},
    ),
    Op(
        "number_isin",
        one(NUMERIC, ranks=(0, 1)),
        _number_isin,
        "torch.isin({element}, {0}{more})",
        _number_attrs("element", "invert"),
        {"element": NUMBER, "invert": BOOL},
        {"invert": False},
    ),
)

OPS = (*_SEARCHES, *_MEMBERS)
