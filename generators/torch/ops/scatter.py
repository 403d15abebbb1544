"""Writing at positions along one dimension, by an index of the same rank."""

from __future__ import annotations

from collections.abc import Callable

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, DType, TensorType, Value
from generators.op import BOOL, INT, SCALAR, Operands, Types, int_of, one_of, optional, require
from generators.shared.draws import agreed, agreed_axis
from generators.shared.numbers import require_fits
from generators.torch.ops.index import gather_index
from generators.torch.ops.indexing import INDICES, agreed_dim, distinct_indices, draw_number, indices, some_of
from generators.torch.ops.rules import axis_of, require_dtype, require_same_dtype, size_along
from generators.torch.ops.writing import SELF, SRC, like, reduce_attrs, row, small


def _scatter(types: Types, attrs: Attrs) -> TensorType:
    """For an empty index, PyTorch checks only dtypes."""
    x, index, *src = types
    axis = axis_of(int_of(attrs, "dim"), x.rank)
    require_dtype((index,), *INDICES)
    require_same_dtype((x, *src))
    if index.numel:
        for other in (x, *src):
            require(max(other.rank, 1) == max(index.rank, 1), f"{index} has not the rank of {other}")
        require(size_along(x, axis) > 0, "a dimension of size 0 has no positions")
        for i, size in enumerate(index.sizes):
            require(i == axis or size <= x.sizes[i], f"{index} is larger than {x}")
            require(all(size <= size_along(other, i) for other in src), f"{index} is larger than its source")
    return x


def _scatter_value(types: Types, attrs: Attrs) -> TensorType:
    require_fits(attrs["value"], types[0].dtype)
    return _scatter(types, attrs)


def _scatter_reduce(types: Types, attrs: Attrs) -> TensorType:
    if attrs.get("reduce") == "mean":
        require(types[0].dtype is not DType.BOOL, "there is no mean of booleans")
    return _scatter(types, attrs)


def _reduce(x: TensorType) -> str | None:
    return agreed(x, "reduce").choice((None, None, "add", "add", "multiply"))


def _index(b: Builder, x: TensorType, once: bool) -> Value:
    axis = agreed_axis(x)
    size = size_along(x, axis)
    type = gather_index(b, x, axis, some_of(b, size) if once else b.source.integer(1, 6))
    if once and (x.rank or not type.rank):
        return distinct_indices(b, type, size, axis, negative=False)
    return indices(b, type, size, negative=False)


def _scattered(value: Callable[[Builder, TensorType], Value], plain: bool = False) -> Operands:
    """An operand, an index into it, and a source at least as large. In the `plain` row, only additions have repeated
    indices: products of many numbers grow too large."""

    def operands(b: Builder) -> tuple[Value, ...]:
        x = b.tensor()
        index = _index(b, x.type, once=plain and _reduce(x.type) != "add")
        shape = index.type.shape
        if b.source.chance(30):
            shape = tuple(size + b.source.integer(0, 2) for size in index.type.sizes)
        return x, index, value(b, x.type.with_shape(*shape))

    return operands


def _indexed(b: Builder) -> tuple[Value, ...]:
    x = b.tensor()
    return x, _index(b, x.type, once=False)


def _scatter_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {**agreed_dim(source, types), "reduce": _reduce(types[0])}


def _scatter_value_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dtype, reduce = types[0].dtype, source.choice((None, None, "add", "multiply"))
    value: bool | int | float = source.integer(0 if dtype is DType.UINT8 else -2, 2)
    if reduce is None:
        value = draw_number(source, dtype)
    elif dtype.is_float:
        value /= 2
    return {**agreed_dim(source, types), "value": value, "reduce": reduce}


_REDUCES = ("sum", "mean", "amax", "amin")
_ARITHMETIC = optional(one_of("add", "multiply"))

OPS = (
    row(
        "scatter",
        _scattered(like, plain=True),
        _scatter,
        f"{SRC}{{more}}",
        _scatter_attrs,
        {"dim": INT, "reduce": _ARITHMETIC},
        {"reduce": None},
    ),
    row(
        "scatter_value",
        _indexed,
        _scatter_value,
        "{dim}, {1}, {value}{more}",
        _scatter_value_attrs,
        {"dim": INT, "value": SCALAR, "reduce": _ARITHMETIC},
        {"reduce": None},
        function="scatter",
        arity=(2, 2),
    ),
    row("scatter_add", _scattered(like), _scatter, SRC),
    row(
        "scatter_reduce",
        _scattered(like),
        _scatter_reduce,
        f"{SRC}, {{reduce}}{{more}}",
        reduce_attrs(*_REDUCES),
        {"dim": INT, "reduce": one_of(*_REDUCES), "include_self": BOOL},
        SELF,
    ),
    row(
        "scatter_prod",
        _scattered(small),
        _scatter_reduce,
        f'{SRC}, "prod"{{more}}',
        reduce_attrs(),
        {"dim": INT, "include_self": BOOL},
        SELF,
        function="scatter_reduce",
    ),
)
