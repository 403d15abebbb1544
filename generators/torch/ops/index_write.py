"""Writing slices at positions along one dimension (index_add and others), and elements of the flat tensor."""

from __future__ import annotations

from collections.abc import Callable

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import HALVES, Attrs, DType, TensorType, Value
from generators.op import BOOL, INT, SCALAR, ZEROS_WHERE_BOOL, Operands, Types, int_of, one_of, require
from generators.shared.draws import agreed, agreed_axis
from generators.shared.numbers import require_fits
from generators.shared.sizes import least, product
from generators.torch.ops.indexing import (
    INDICES,
    LONG,
    agreed_dim,
    castable,
    distinct_indices,
    draw_number,
    index_dtype,
    index_type,
    indices,
    some_of,
)
from generators.torch.ops.rules import axis_of, require_dtype, require_same_dtype, size_along
from generators.torch.ops.writing import SELF, SRC, like, reduce_attrs, row, small


def _slices(*dtypes: DType) -> Callable[[Types, Attrs], TensorType]:
    """Stricter than PyTorch's index_copy, which also takes vectors for 0-d tensors and 0-d tensors for vectors."""

    def infer(types: Types, attrs: Attrs) -> TensorType:
        x, index, *src = types
        axis = axis_of(int_of(attrs, "dim"), x.rank)
        require_dtype((index,), *dtypes)
        require_same_dtype((x, *src))
        require(index.rank <= 1, f"{index} is no vector")
        count = index.sizes[0] if index.rank else 1
        require(size_along(x, axis) > 0 or count == 0, "a dimension of size 0 has no positions")
        for other in src:
            require(x.rank > 0 or count == 1, "of a 0-d tensor there is one element to write")
            slices = x.with_shape(*x.sizes[:axis], count, *x.sizes[axis + 1 :]) if x.rank else x
            require(other == slices, f"the source must be {slices}, not {other}")
        return x

    return infer


def _index_add(types: Types, attrs: Attrs) -> TensorType:
    """For integers, PyTorch truncates a fractional alpha silently."""
    require(types[0].dtype.is_float or not isinstance(attrs["alpha"], float), "alpha must be an integer")
    require_fits(attrs["alpha"], types[0].dtype)
    return _slices(*INDICES)(types, attrs)


def _index_reduce(types: Types, attrs: Attrs) -> TensorType:
    if types[0].dtype is DType.BOOL:
        defined = types[0].rank > 1 and attrs["include_self"] and attrs.get("reduce") != "mean"
        require(bool(defined), "is not defined for bool")
    return _slices(*INDICES)(types, attrs)


def _index_prod(types: Types, attrs: Attrs) -> TensorType:
    """In half precision, PyTorch's kernel fails an internal assertion for slices of one element, and for an expanded
    source, which the type does not show."""
    x, index, _ = types
    require(x.dtype not in HALVES or x.rank < 2 or not index.numel, f"multiplies no slices of {x.dtype}")
    return _index_reduce(types, attrs)


def _index_fill(types: Types, attrs: Attrs) -> TensorType:
    if "value" in attrs:
        require_fits(attrs["value"], types[0].dtype)
    else:
        require(types[2].rank == 0, f"the value must be 0-d, not {types[2]}")
    return _slices(*LONG)(types[:2], attrs)


def _sliced(value: Callable[[Builder, TensorType], Value], *dtypes: DType, once: bool = False) -> Operands:
    """An operand, indices (PyTorch refuses negative ones here), and a slice for each index."""

    def operands(b: Builder) -> tuple[Value, ...]:
        x = b.tensor()
        axis = agreed_axis(x.type)
        size = size_along(x.type, axis)
        scalar = x.type.rank == 0 or b.source.chance(6)
        if once:
            type = TensorType(index_dtype(b, dtypes), () if scalar else (some_of(b, size),))
            index = distinct_indices(b, type, size, 0, negative=False)
        else:
            type = TensorType(index_dtype(b, dtypes), ()) if scalar else index_type(b, (1, 1), dtypes)
            index = indices(b, type, size, negative=False)
        shape = list(x.type.shape)
        if shape:
            shape[axis] = index.type.shape[0] if index.type.rank else 1
        return x, index, value(b, x.type.with_shape(*shape))

    return operands


def _index_fill_operands(b: Builder) -> tuple[Value, ...]:
    """PyTorch takes negative indices here."""
    x = b.tensor()
    size = size_along(x.type, agreed_axis(x.type))
    type = index_type(b, (0, 0) if b.source.chance(6) else (1, 1), LONG)
    return x, indices(b, type, size)


def _index_fill_tensor_operands(b: Builder) -> tuple[Value, ...]:
    x, index = _index_fill_operands(b)
    return x, index, castable(b, b.tensor(ranks=(0, 0)), x.type.dtype, checked=True)


def _alpha(source: ChoiceSource, types: Types) -> Attrs:
    alpha = 1 if source.chance(40) else draw_number(source, types[0].dtype)
    if abs(alpha) > 6:
        alpha = 1
    if isinstance(alpha, float) and not types[0].dtype.is_float:
        alpha = int(alpha)
    return {**agreed_dim(source, types), "alpha": alpha}


def _index_fill_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {**agreed_dim(source, types), "value": draw_number(source, types[0].dtype)}


# --- put: indices into the flat tensor


def _put(types: Types, attrs: Attrs) -> TensorType:
    x, index, src = types
    require_dtype((index,), *LONG)
    require_same_dtype((x, src))
    require(index.numel == src.numel, f"{src} has not as many elements as {index}")
    require(x.numel > 0 or index.numel == 0, "there is nowhere to put it")
    return x


def _repeats(x: TensorType) -> bool:
    return agreed(x, "repeats").chance(50)


def _put_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor()
    count = product([least(b, size) for size in x.type.sizes])
    require(count > 0, "there is nowhere to put it")
    if _repeats(x.type):
        index = indices(b, index_type(b, (0, 3), LONG), count)
    else:
        index = distinct_indices(b, TensorType(DType.INT64, (some_of(b, count),)), count, 0)
    shape = (index.type.numel,) if b.source.chance(30) else index.type.shape
    return x, index, like(b, x.type.with_shape(*shape))


def _accumulate(source: ChoiceSource, types: Types) -> Attrs:
    return {"accumulate": _repeats(types[0]) or source.chance(50)}


_REDUCES = ("mean", "amax", "amin")

OPS = (
    row(
        "index_add",
        _sliced(like, *INDICES),
        _index_add,
        f"{SRC}{{more}}",
        _alpha,
        {"dim": INT, "alpha": SCALAR},
        {"alpha": 1},
    ),
    row("index_copy", _sliced(like, *LONG, once=True), _slices(*LONG), SRC, terms=None),
    row(
        "index_reduce",
        _sliced(like, *INDICES),
        _index_reduce,
        f"{SRC}, {{reduce}}{{more}}",
        reduce_attrs(*_REDUCES),
        {"dim": INT, "reduce": one_of(*_REDUCES), "include_self": BOOL},
        SELF,
    ),
    row(
        "index_prod",
        _sliced(small, *INDICES),
        _index_prod,
        f'{SRC}, "prod"{{more}}',
        reduce_attrs(),
        {"dim": INT, "include_self": BOOL},
        SELF,
        function="index_reduce",
    ),
    row(
        "index_fill",
        _index_fill_operands,
        _index_fill,
        "{dim}, {1}, {value}",
        _index_fill_attrs,
        {"dim": INT, "value": SCALAR},
        arity=(2, 2),
        terms=None,
    ),
    row(
        "index_fill_tensor",
        _index_fill_tensor_operands,
        _index_fill,
        SRC,
        function="index_fill",
        terms=None,
        zero_sensitivity=ZEROS_WHERE_BOOL,
    ),
    row(
        "put",
        _put_operands,
        _put,
        "{1}, {2}{more}",
        _accumulate,
        {"accumulate": BOOL},
        {"accumulate": False},
        terms=lambda types, attrs: types[1].numel + 1 if attrs["accumulate"] else 1,
    ),
)
