"""Reductions: sums, means, products, norms and extremes along axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import NONZERO, POSITIVE, within
from generators.graph import HALVES, Attrs, DType, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import Constant, Operator
from generators.onnx.ops.axes import axes_in, some_axes
from generators.onnx.ops.operands import one, tensor
from generators.onnx.schema import Schema
from generators.op import Arithmetic
from generators.operator_class import OperatorClass
from generators.shared.sizes import product

MOST_IN_HALF = 64
"""How many numbers of half precision are reduced to one."""

# --- inference


def _reduced(call: Call) -> tuple[int, ...]:
    """The axes that are reduced. None at all, or none named, mean all axes, unless noop_with_empty_axes is 1."""
    named, rank = call.integers("axes"), call.first.rank
    if named:
        return axes_in(call, named, rank)
    keeps = call.has("noop_with_empty_axes") and call.integer("noop_with_empty_axes")
    return () if keeps else tuple(range(rank))


def _left(x: TensorType, axes: Sequence[int], keeps: int) -> TensorType:
    if keeps:
        return x.with_shape(*(1 if axis in axes else size for axis, size in enumerate(x.sizes)))
    return x.with_shape(*(size for axis, size in enumerate(x.sizes) if axis not in axes))


def _count(call: Call) -> int:
    """How many elements are reduced to one."""
    return product(call.first.sizes[axis] for axis in _reduced(call))


def _result(call: Call) -> TensorType:
    return _left(call.first, _reduced(call), call.integer("keepdims"))


def _terms(call: Call) -> int:
    return max(1, _count(call))


# --- drawing


def _attributes(source: ChoiceSource, call: Call) -> Attrs:
    """Axes in any order; for some versions also an empty list."""
    rank, noop = call.first.rank, source.chance(30)
    if not rank or source.chance(25):
        axes: tuple[int, ...] | None = None
    elif call.schema.has_input("axes") and source.rarely(12):
        axes = ()
    else:
        axes = some_axes(source, call, range(rank), rank)
    return {"axes": axes, "keepdims": source.choice((0, 1)), "noop_with_empty_axes": int(noop)}


def _readable(source: ChoiceSource, call: Call) -> Attrs | None:
    """The attributes, where readers agree on the result: onnxruntime takes no axes from the end for a tensor without
    elements, and the interpreter of onnx adds in half precision."""
    drawn = dict(_attributes(source, call))
    axes, x = drawn["axes"], call.first
    if not x.numel and isinstance(axes, tuple):
        drawn["axes"] = tuple(sorted(int(axis) % x.rank for axis in axes if isinstance(axis, int)))
    size = _count(Call(call.schema, call.names, call.types, {**call.attrs, **drawn}))
    return None if x.dtype in HALVES and size > MOST_IN_HALF else drawn


def _some_elements(source: ChoiceSource, call: Call) -> Attrs | None:
    """Reductions of at least one element. The mean of none is 0 in onnxruntime."""
    drawn = _readable(source, call)
    if drawn is None:
        return None
    return drawn if _count(Call(call.schema, call.names, call.types, {**call.attrs, **drawn})) else None


def _extreme_attributes(source: ChoiceSource, call: Call) -> Attrs | None:
    """onnxruntime has no extreme of no booleans. Of no integers it is the end of their range, and the interpreter of
    onnx rounds the mean of such numbers to float64."""
    return _readable(source, call) if call.first.dtype.is_float else _some_elements(source, call)


def _factors(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """Numbers whose product is small: for many numbers they are near to 1, or only signs. Often without zeros."""
    x = tensor(b, schema, "data").type
    length = min(x.numel, 99)
    bound = next((bound for bound in (8, 3, 2) if bound**length < 10000), 1)
    domain = NONZERO if bound == 8 and b.source.chance(50) else within(-bound, bound)
    return (b.fresh_input(x, domain=domain),)


def _squared(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """Numbers whose squares float16 and integers hold."""
    x = tensor(b, schema, "data")
    if x.type.dtype in (DType.FLOAT32, DType.FLOAT64, DType.BFLOAT16):
        return (x,)
    return (b.fresh_input(x.type, domain=within(-16, 16)),)


def _exponents(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """Floats, as opset 28 says: the interpreter of onnx refuses integers. onnxruntime sums powers in float16."""
    x = b.tensor([dtype for dtype in schema.dtypes("data") if dtype.is_float])
    return (b.fresh_input(x.type, domain=within(-4, 4)) if x.type.dtype is DType.FLOAT16 else x,)


def _positive(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """Floats, as opset 28 says, whose sum has a logarithm: the interpreter of onnx refuses integers."""
    dtypes = [dtype for dtype in schema.dtypes("data") if dtype.is_float]
    return (b.fresh_input(b.tensor(dtypes).type, domain=POSITIVE),)


def _row(
    name: str,
    operands: Callable[[Builder, Schema], Sequence[Value] | None] = one(),
    draw: Callable[[ChoiceSource, Call], Attrs | None] = _readable,
    arithmetic: Arithmetic = Arithmetic.SUM_IN_ANY,
    plainer: str | None = "ReduceSum",
) -> Operator:
    return Operator(
        name,
        operands,
        _result,
        draw,
        {"axes": Constant()},
        terms=_terms,
        arithmetic=arithmetic,
        plainer=plainer,
    )


def _extreme(name: str, plainer: str) -> Operator:
    return Operator(name, one(), _result, _extreme_attributes, {"axes": Constant()}, plainer=plainer)


OPERATORS: tuple[Operator, ...] = (
    _extreme("ReduceMax", "ReduceSum"),
    _extreme("ReduceMin", "ReduceMax"),
    _row("ReduceSum", plainer=None).of_class(OperatorClass.SUM_OR_MEAN),
    _row("ReduceMean", draw=_some_elements).of_class(OperatorClass.SUM_OR_MEAN),
    _row("ReduceProd", _factors, arithmetic=Arithmetic.FUNCTION, plainer="ReduceMean"),
    _row("ReduceLogSumExp", _exponents, arithmetic=Arithmetic.FUNCTION_IN_ANY, plainer="ReduceMean"),
    _row("ReduceLogSum", _positive, arithmetic=Arithmetic.FUNCTION_IN_ANY, plainer="ReduceMean"),
    _row("ReduceSumSquare", _squared),
    _row("ReduceL1"),
    _row("ReduceL2", _squared, arithmetic=Arithmetic.FUNCTION_IN_ANY, plainer="ReduceL1"),
)
