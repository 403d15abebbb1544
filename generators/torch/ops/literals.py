"""Python numbers, sizes and dtypes as attributes of rows that make tensors."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attr, Attrs, DType, TensorType, Value
from generators.op import OPTIONAL_DTYPE, require
from generators.shared.numbers import require_fits
from generators.torch.ops.rules import ALL, DEFAULT_FLOAT


def nothing(b: Builder) -> tuple[Value, ...]:
    """The row has no operands."""
    return ()


def dtype_of_numbers(*values: Attr) -> DType:
    """The dtype of Python numbers where none is given."""
    if not values or any(isinstance(value, float) for value in values):
        return DEFAULT_FLOAT
    return DType.BOOL if all(isinstance(value, bool) for value in values) else DType.INT64


def dtype_or(attrs: Attrs, otherwise: DType) -> DType:
    return otherwise if attrs["dtype"] is None else DType(str(attrs["dtype"]))


def dtype_text(attrs: Attrs) -> str:
    return "" if attrs["dtype"] is None else f", dtype={OPTIONAL_DTYPE.render(attrs['dtype'])}"


def filled(value: Attr, sizes: Sequence[int], dtype: DType) -> TensorType:
    require(min(sizes, default=0) >= 0, f"sizes {list(sizes)} must not be negative")
    require_fits(value, dtype)
    return TensorType(dtype, tuple(sizes))


def maybe_dtype(source: ChoiceSource, dtypes: Sequence[DType] = ALL) -> str | None:
    return None if source.chance(50) else source.choice(dtypes).value


def drawn_number(source: ChoiceSource, dtype: str | None) -> bool | int | float:
    """A number in the range of the dtype; half of the time not a binary fraction, or not an integer."""
    match source.integer(0, 9):
        case 0:
            return source.chance(50)
        case 1 | 2 | 3:
            number: int | float = source.choice((0, 1, -1, 2, 3, -7, 100))
        case 4 | 5 | 6:
            number = source.integer(-20, 20) / 4
        case _:
            number = source.choice((0.1, -1.7, 1e-3, 0.0, 60.5))
    return abs(number) if dtype == DType.UINT8 else number


def drawn_sizes(source: ChoiceSource) -> tuple[int, ...]:
    sizes = [source.integer(1, 5) for _ in range(source.integer(0, 3))]
    if sizes and source.chance(20):
        sizes[source.integer(0, len(sizes) - 1)] = source.choice((0, 7, 8, 16))
    return tuple(sizes)
