"""Numbers rounded to a grid of 8 or 16 bits, and back: one grid for a tensor, for each slice, or for each block."""

from __future__ import annotations

from collections.abc import Callable

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import POSITIVE, within
from generators.graph import Attr, Attrs, DType, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import Operator, Results
from generators.onnx.ops.operands import FLAG, exactly, tensor, tensor_of_model
from generators.onnx.schema import Schema
from generators.op import Arithmetic, AttrKind, optional, require
from generators.types import DTYPE_NAMES

BLOCKS = (2, 3, 4)


def _operands(data: str, scale: str, zero: str) -> Callable[[Builder, Schema], tuple[Value, ...]]:
    """The tensor, its scale and perhaps the zero point. The shape of the scale says what has a grid of its own."""

    def operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
        source, x = b.source, tensor(b, schema, data, (0, 4))
        shape = _grids(source, schema, x.type)
        floats = [dtype for dtype in schema.dtypes(scale) if dtype.is_float]
        step = x.type.dtype if x.type.dtype.is_float and len(floats) > 1 else b.dtype(floats)
        domain = POSITIVE if source.chance(60) else within(1, 4)
        if step.bits == 16:  # quotients of other steps would be rounded before they are rounded to the grid
            domain = source.choice((within(1, 1), within(2, 2)))
        first = x, tensor_of_model(b, step, *shape, domain=domain)
        if source.chance(30):
            return first
        same = schema.input(zero).type == schema.input(data).type
        dtype = x.type.dtype if same else source.choice(schema.dtypes(zero))
        if dtype is DType.INT32:
            return (*first, exactly(b, dtype, 0, *shape)) if source.chance(20) else first
        return *first, tensor_of_model(b, dtype, *shape)

    return operands


def _grids(source: ChoiceSource, schema: Schema, x: TensorType) -> tuple[int, ...]:
    kinds = ["one", "one"]
    if x.rank and "axis" in schema.attributes:
        kinds += ["each", "each"]
    if x.rank and x.numel and "block_size" in schema.attributes:
        kinds.append("block")
    match source.choice(kinds):
        case "one":
            return source.choice(((), (), (1,)))
        case "each":
            return (x.sizes[source.integer(0, x.rank - 1)],)
        case _:
            axis, block = source.integer(0, x.rank - 1), source.choice(BLOCKS)
            return (*x.sizes[:axis], (x.sizes[axis] + block - 1) // block, *x.sizes[axis + 1 :])


def _require_grids(call: Call, data: str, scale: str, zero: str) -> None:
    """onnxruntime 1.31 knows no zero point of another shape than the scale, and for int32 only zero."""
    x, step, point = call[data], call[scale], call.get(zero)
    require(step.dtype.is_float, f"{step} is no scale")
    require(point is None or point.sizes == step.sizes, f"{point} has another shape than {step}")
    block = call.integer("block_size") if call.has("block_size") else 0
    if block:
        require(block > 0 and step.rank == x.rank > 0 and x.numel > 0, f"{step} is no scale of blocks of {x}")
        axis = _axis(call, x)
        blocks = (*x.sizes[:axis], (x.sizes[axis] + block - 1) // block, *x.sizes[axis + 1 :])
        require(step.sizes == blocks, f"{step} is no scale of blocks of {block} of {x}")
    elif step.sizes not in ((), (1,)):
        require(call.has("axis") and x.rank > 0 and step.rank == 1, f"{step} is no scale of {x}")
        require(step.sizes[0] == x.sizes[_axis(call, x)], f"{step} is no scale of a dimension of {x}")


def _axis(call: Call, x: TensorType) -> int:
    value = call.integer("axis")
    require(-x.rank <= value < x.rank, f"axis {value} is out of range for rank {x.rank}")
    return value % x.rank


def _fitting(source: ChoiceSource, call: Call, x: TensorType, step: TensorType) -> dict[str, Attr]:
    """An axis and a size of blocks that fit the scale."""
    drawn: dict[str, Attr] = {}
    if step.rank == 1 and step.sizes != (1,):
        axes = [axis for axis, size in enumerate(x.sizes) if size == step.sizes[0]]
    elif step.rank == x.rank > 0 and step.sizes != (1,):
        axes = [axis for axis, size in enumerate(x.sizes) if size != step.sizes[axis]]
    else:
        axes = list(range(x.rank))
    if axes:
        axis = source.choice(axes)
        drawn["axis"] = source.choice((axis, axis - x.rank))
        if step.rank == x.rank and step.sizes != x.sizes and call.has("block_size") and step.sizes != (1,):
            sizes = [block for block in BLOCKS if -(-x.sizes[axis] // block) == step.sizes[axis]]
            drawn["block_size"] = source.choice(sizes or [0])
    return drawn


# --- the three operators


def _quantized(call: Call) -> TensorType:
    """The result has the dtype of the zero point; without one that of output_dtype, else uint8."""
    _require_grids(call, "x", "y_scale", "y_zero_point")
    x, zero = call["x"], call.get("y_zero_point")
    require(x.dtype.is_float and call["y_scale"].dtype is x.dtype, f"{call['y_scale']} has another dtype than {x}")
    named = call.attrs.get("output_dtype")
    wanted = DType(str(named)) if named is not None else None
    require(wanted is None or zero is None or zero.dtype is wanted, f"output_dtype {wanted} is not that of {zero}")
    return x.with_dtype(zero.dtype if zero is not None else wanted or DType.UINT8)


def _quantize_attributes(source: ChoiceSource, call: Call) -> Attrs:
    zero = call.get("y_zero_point")
    drawn = _fitting(source, call, call["x"], call["y_scale"])
    dtypes = call.schema.dtypes("y_zero_point") if zero is None else (zero.dtype,)
    drawn["output_dtype"] = source.choice(dtypes).value if source.chance(30) else None
    return {**drawn, "saturate": source.choice((0, 1)), "precision": source.choice((0, 0, 1))}


def _dequantized(call: Call) -> TensorType:
    """The result has the dtype of the scale, unless output_dtype says another one."""
    _require_grids(call, "x", "x_scale", "x_zero_point")
    named = call.attrs.get("output_dtype")
    require(named is None or named == call["x_scale"].dtype.value, "the readers have results of the dtype of the scale")
    return call["x"].with_dtype(call["x_scale"].dtype)


def _dequantize_attributes(source: ChoiceSource, call: Call) -> Attrs:
    drawn = _fitting(source, call, call["x"], call["x_scale"])
    return {**drawn, "output_dtype": call["x_scale"].dtype.value if source.chance(30) else None}


def _dynamic(call: Call) -> Results:
    x = call["x"]
    return x.with_dtype(DType.UINT8), x.with_shape(), TensorType(DType.UINT8, ())


_DTYPE = optional(AttrKind("a dtype", lambda v: isinstance(v, str) and v in DTYPE_NAMES))

OPERATORS: tuple[Operator, ...] = (
    Operator(
        "QuantizeLinear",
        _operands("x", "y_scale", "y_zero_point"),
        _quantized,
        _quantize_attributes,
        kinds={"output_dtype": _DTYPE, "precision": FLAG},
    ),
    Operator(
        "DequantizeLinear",
        _operands("x", "x_scale", "x_zero_point"),
        _dequantized,
        _dequantize_attributes,
        kinds={"output_dtype": _DTYPE},
        terms=lambda call: 1,
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
    ),
    Operator(
        "DynamicQuantizeLinear",
        lambda b, schema: (tensor(b, schema, "x", (0, 4)),),
        _dynamic,
        terms=lambda call: 1,
        arithmetic=Arithmetic.ONE_STEP,
    ),
)
