"""Writing elements at indices."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import Domain, distinct, within
from generators.graph import Attrs, DType, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import Operator
from generators.onnx.ops.axes import axis_in
from generators.onnx.ops.index import agreed_attributes, index_dtype, indices_into, some_of
from generators.onnx.ops.operands import tensor, tensor_of_model
from generators.onnx.schema import Schema
from generators.op import one_of, require
from generators.shared.draws import agreed, agreed_axis
from generators.shared.sizes import least, product

REDUCTIONS = ("none", "add", "mul", "max", "min")
_REDUCTION = one_of(*REDUCTIONS)


def _reductions(schema: Schema) -> tuple[str, ...]:
    """The reductions of a version: some since 16, all since 18."""
    if "reduction" not in schema.attributes:
        return ("none",)
    return REDUCTIONS if schema.since >= 18 else REDUCTIONS[:3]


def _reduction(call: Call) -> str:
    if not call.has("reduction"):
        return "none"
    reduction = call.text("reduction")
    require(reduction in _reductions(call.schema), f"this version has no reduction {reduction}")
    return reduction


def _agreed_reduction(x: TensorType, schema: Schema) -> str:
    """The reduction for which the indices were drawn: attributes are drawn from types alone. onnxruntime reduces no
    float16, and has no largest and smallest of booleans."""
    ways = _reductions(schema)[:3] if x.dtype is DType.BOOL else _reductions(schema)
    return "none" if x.dtype is DType.FLOAT16 else agreed(x, "reduction").choice((*ways, "none"))


def _updates(b: Builder, type: TensorType, reduction: str) -> Value:
    """A value of the type; small numbers where they are multiplied."""
    if reduction == "mul" and type.dtype is not DType.BOOL:
        return b.fresh_input(type, domain=within(0 if type.dtype is DType.UINT8 else -2, 2))
    return b.pick(lambda t: t == type, lambda: type)


def _distinct(b: Builder, schema: Schema, shape: tuple[int, ...], size: int, axis: int) -> Value:
    """Indices that differ along an axis. All count from the start, or all from the end: -1 is the last position."""
    low = -size if schema.since >= 11 and b.source.chance(40) else 0
    domain: Domain = distinct(low, max(low + size - 1, low), axis)
    return tensor_of_model(b, index_dtype(b, schema), *shape, domain=domain)


def _most(b: Builder, size: int) -> int:
    return b.source.integer(1, max(1, min(least(b, size), 6)))


# --- Scatter, ScatterElements


def _elements(call: Call) -> TensorType:
    x, indices, updates, axis = call["data"], call["indices"], call["updates"], axis_in(call)
    _reduction(call)
    require(indices.sizes == updates.sizes, f"{indices} and {updates} have other sizes")
    require(x.rank == indices.rank, f"{indices} has not the rank of {x}")
    require(x.sizes[axis] > 0 or indices.numel == 0, "a dimension of size 0 has no positions")
    for place, size in enumerate(indices.sizes):
        require(place == axis or size <= x.sizes[place], f"{indices} is larger than {x}")
    return x


def _elements_operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
    x = tensor(b, schema, "data", (1, 4))
    axis, reduction = agreed_axis(x.type), _agreed_reduction(x.type, schema)
    size = x.type.sizes[axis]
    once = reduction == "none"
    along = _most(b, size) if once else b.source.integer(1, 6)
    sizes = [along if place == axis else some_of(b, each) for place, each in enumerate(x.type.sizes)]
    if once and b.source.chance(25) and least(b, size) == size:
        sizes[axis] = size
    shape = tuple(sizes)
    at = _distinct(b, schema, shape, least(b, size), axis) if once else indices_into(b, schema, shape, size)
    return x, at, _updates(b, x.type.with_shape(*shape), reduction)


def _elements_attributes(source: ChoiceSource, call: Call) -> Attrs:
    return {**agreed_attributes(source, call), "reduction": _agreed_reduction(call.first, call.schema)}


def _rounds(call: Call) -> bool:
    return _reduction(call) in ("add", "mul")


def _elements_terms(call: Call) -> int:
    """A result is the sum or product of an element and at most as many updates as there are indices along the axis."""
    return max(call["indices"].sizes[axis_in(call)], 1) + 1 if _rounds(call) else 0


# --- ScatterND


def _nd(call: Call) -> TensorType:
    """The last dimension of the indices holds a position in the first dimensions; there a slice is written."""
    x, indices, updates = call["data"], call["indices"], call["updates"]
    _reduction(call)
    require(x.rank > 0 and indices.rank > 0, "takes ranks above 0")
    depth = int(indices.sizes[-1])
    require(1 <= depth <= x.rank, f"{x} has no {depth} dimensions to index")
    wanted = (*indices.sizes[:-1], *x.sizes[depth:])
    require(updates.sizes == wanted, f"{updates} should have the sizes {list(wanted)}")
    require(product(x.sizes[:depth]) > 0 or indices.numel == 0, "a dimension of size 0 has no positions")
    return x


def _nd_operands(b: Builder, schema: Schema) -> tuple[Value, ...] | None:
    """Where positions must differ, the rows of indices differ in each column, along one dimension."""
    x = tensor(b, schema, "data", (1, 4))
    depth, reduction = b.source.integer(1, x.type.rank), _agreed_reduction(x.type, schema)
    reached = [least(b, size) for size in x.type.sizes[:depth]]
    if not all(reached):
        return None
    if reduction == "none":
        shape: tuple[int, ...] = (_most(b, min(reached)),)
        shape = b.source.choice((shape, shape, (1, *shape), (*shape, 1)))
        along = max(range(len(shape)), key=lambda axis: shape[axis])
        at = _distinct(b, schema, (*shape, depth), min(reached), along)
    else:
        shape = tuple(b.source.integer(1, 4) for _ in range(b.source.choice((0, 1, 1, 2))))
        at = indices_into(b, schema, (*shape, depth), min(reached))
    return x, at, _updates(b, x.type.with_shape(*shape, *x.type.sizes[depth:]), reduction)


def _nd_attributes(source: ChoiceSource, call: Call) -> Attrs:
    return {"reduction": _agreed_reduction(call.first, call.schema)}


def _nd_terms(call: Call) -> int:
    return max(product(call["indices"].sizes[:-1]), 1) + 1 if _rounds(call) else 0


OPERATORS: tuple[Operator, ...] = (
    Operator("Scatter", _elements_operands, _elements, agreed_attributes),
    Operator(
        "ScatterElements",
        _elements_operands,
        _elements,
        _elements_attributes,
        kinds={"reduction": _REDUCTION},
        terms=_elements_terms,
    ),
    Operator("ScatterND", _nd_operands, _nd, _nd_attributes, kinds={"reduction": _REDUCTION}, terms=_nd_terms),
)
