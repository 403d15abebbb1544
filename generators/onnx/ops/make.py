"""Tensors that are made from sizes and numbers: constants, identity matrices, ranges, one-hot vectors."""

from __future__ import annotations

import math

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import distinct, within
from generators.graph import Attr, Attrs, DType, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import Constant, Operator
from generators.onnx.ops.axes import FROM_END, written
from generators.onnx.ops.operands import float32, one, tensor_of_model
from generators.onnx.schema import Schema
from generators.op import INT, NUMBER, SCALAR, SIZES, AttrKind, require
from generators.shared.numbers import require_fits
from generators.types import DTYPE_NAMES


def _nothing(b: Builder, schema: Schema) -> tuple[Value, ...]:
    return ()


def _is_filling(value: Attr) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and value[0] in DTYPE_NAMES and SCALAR.accepts(value[1])


FILLING = AttrKind("a dtype and a number", _is_filling)


# --- ConstantOfShape


def _filled(call: Call) -> TensorType:
    """Zeros of float32, unless the node has a value."""
    sizes, value = call.integers("input") or (), call.attr("value")
    require(min(sizes, default=0) >= 0, f"{list(sizes)} is no shape")
    if value is None:
        return TensorType(DType.FLOAT32, sizes)
    assert isinstance(value, tuple)
    dtype, number = DType(str(value[0])), value[1]
    require(dtype in _result_dtypes(call.schema), f"a value cannot be {dtype}")
    assert isinstance(number, int | float)
    require(dtype.is_float or isinstance(number, bool) == (dtype is DType.BOOL), f"{number} is no {dtype}")
    require(dtype.is_float or not isinstance(number, float), f"{number} is no {dtype}")
    require(dtype is not DType.UINT8 or number >= 0, f"{dtype} cannot hold {number}")
    require_fits(number, dtype)
    return TensorType(dtype, sizes)


def _result_dtypes(schema: Schema) -> tuple[DType, ...]:
    """The dtypes of a result that onnxruntime has kernels for."""
    variable = schema.outputs[0].type
    taken = schema.kernels.get(variable, schema.types[variable])
    return tuple(dtype for dtype in schema.types[variable] if dtype in taken)


def _filled_attributes(source: ChoiceSource, call: Call) -> Attrs:
    sizes = tuple(source.choice((1, 2, 3, 4, 5, 8)) for _ in range(source.choice((0, 1, 1, 2, 2, 3, 4))))
    if sizes and source.rarely(6):
        sizes = (0, *sizes[1:])
    if source.chance(20):
        return {"input": sizes}
    dtype = DType.FLOAT32 if source.chance(30) else source.choice(_result_dtypes(call.schema))
    number: int | float | bool = source.integer(0 if dtype is DType.UINT8 else -6, 6)
    if dtype.is_float:
        number = source.choice((0.0, 1.0, -1.0, 0.5, number / 2, float32(0.1)))
    elif dtype is DType.BOOL:
        number = source.chance(50)
    elif source.rarely(10):
        number = source.choice(dtype.range)
    return {"input": sizes, "value": (dtype.value, number)}


# --- EyeLike


def _eye(call: Call) -> TensorType:
    require(call.first.rank == 2, f"takes a matrix, not {call.first}")
    given = call.attr("dtype")
    dtype = call.first.dtype if given is None else DType(str(given))
    require(dtype in _result_dtypes(call.schema), f"a result cannot be {dtype}")
    return call.first.with_dtype(dtype)


def _eye_attributes(source: ChoiceSource, call: Call) -> Attrs:
    """The diagonal may lie outside of the matrix."""
    rows, columns = map(int, call.first.sizes)
    inside = source.integer(-max(rows - 1, 0), max(columns - 1, 0))
    dtypes = _result_dtypes(call.schema)
    free = call.first.dtype in dtypes and source.chance(60)
    return {
        "dtype": None if free else source.choice(dtypes).value,
        "k": source.choice((0, 0, inside, inside, -rows - 1, columns + 1)),
    }


# --- Range


def _range(call: Call) -> TensorType:
    """As many numbers as there are steps from the start on, before the limit. A file has the numbers in the dtype."""
    dtype = DType(call.text("T"))
    start, limit, delta = (call.number(name) for name in ("start", "limit", "delta"))
    for name in ("start", "limit", "delta"):
        number = call.attr(name)
        require(dtype.is_float or isinstance(number, int), f"{dtype} cannot hold {number}")
        require_fits(number, dtype)
    require(delta != 0, "delta must not be 0")
    steps = (limit - start) / delta
    require(steps < 2**20, f"{steps} numbers are too many")
    return TensorType(dtype, (math.ceil(max(steps, 0.0)),))


def _range_attributes(source: ChoiceSource, call: Call) -> Attrs:
    """Steps go in either direction, reach the limit exactly or not, or lead away from it."""
    count = source.integer(0, 12)
    if not DType(call.text("T")).is_float:
        start, delta = source.integer(-6, 6), source.choice((1, 1, 2, 3, -1, -2))
        limit = start + count * delta + source.choice((0, 0, 1 if delta > 0 else -1))
        return {"start": start, "limit": limit if source.chance(92) else start - delta, "delta": delta}
    begin, step = source.integer(-12, 12) / 4, source.choice((1.0, 0.5, 0.25, -0.75, 2.5, float32(0.1)))
    inexact = step == float32(0.1)
    end = float32(begin + count * step - (step / 2 if inexact or source.chance(30) else 0))
    return {"start": begin, "limit": end if source.chance(92) else begin - step, "delta": step}


# --- OneHot


def _one_hot(call: Call) -> TensorType:
    """A new axis of `depth` elements: the second value where the index is, the first elsewhere."""
    indices, values = call["indices"], call["values"]
    depth, axis, rank = call.integer("depth"), call.integer("axis"), call["indices"].rank + 1
    require(values.sizes == (2,), f"takes two values, not {values}")
    dtypes = ONE_HOT.get((indices.dtype, values.dtype), ())
    require(
        call.text("T2") in dtypes, f"no reader has {indices.dtype}, {values.dtype} and a depth of {call.text('T2')}"
    )
    require(depth > 0, f"a depth of {depth} has no positions")
    require(-rank <= axis < rank, f"axis {axis} is out of range for rank {rank}")
    axis %= rank
    return values.with_shape(*indices.sizes[:axis], depth, *indices.sizes[axis:])


F32, I64, I32 = DType.FLOAT32, DType.INT64, DType.INT32
ONE_HOT: dict[tuple[DType, DType], tuple[DType, ...]] = {
    (F32, F32): (F32,),
    (F32, I64): (I64,),
    (I64, F32): (F32, I64, I32),
    (I64, I32): (F32,),
    (I64, I64): (I64,),
    (I32, F32): (F32, I32),
}
"""The dtypes of the depth for which onnxruntime has a kernel, by the dtypes of indices and values."""


def _one_hot_operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """Some indices are beyond both ends; there the result is off. Before opset 11 none is negative: the inference of
    onnx refuses it. Floats are whole, as numbers of the domain `distinct` are: ONNX casts them to integers, and
    onnxruntime 1.31 does not."""
    low = -5 if schema.since >= FROM_END else 0
    dtypes = b.source.choice(tuple(ONE_HOT))
    shape = tuple(b.source.integer(1, 4) for _ in range(b.source.integer(1, 3)))
    if len(shape) > 1 and (batch := b.symbolic_size(8, 60)):
        shape = (batch, *shape[1:])
    domain = distinct(low, low + 12, len(shape) - 1) if dtypes[0].is_float else within(low, 7)
    return b.fresh_input(TensorType(dtypes[0], shape), domain=domain), tensor_of_model(b, dtypes[1], 2)


def _one_hot_attributes(source: ChoiceSource, call: Call) -> Attrs:
    rank = call["indices"].rank + 1
    depths = ONE_HOT[call["indices"].dtype, call["values"].dtype]
    return {
        "T2": source.choice(depths).value,
        "depth": source.integer(1, 6),
        "axis": written(source, call, source.integer(0, rank - 1), rank),
    }


OPERATORS: tuple[Operator, ...] = (
    Operator(
        "ConstantOfShape",
        _nothing,
        _filled,
        _filled_attributes,
        {"input": Constant(SIZES)},
        {"value": FILLING},
    ),
    Operator("EyeLike", one((2, 2)), _eye, _eye_attributes),
    Operator(
        "Range",
        _nothing,
        _range,
        _range_attributes,
        {name: Constant(NUMBER, scalar=True, free=True) for name in ("start", "limit", "delta")},
        terms=lambda call: 2,
    ),
    Operator(
        "OneHot",
        _one_hot_operands,
        _one_hot,
        _one_hot_attributes,
        {"depth": Constant(INT, scalar=True, free=True)},
    ),
)
