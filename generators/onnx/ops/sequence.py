"""Sequences of tensors and optional tensors. No graph has such values: a row is a few nodes that begin and end with
tensors, such as SequenceConstruct and SequenceAt. SequenceConstruct has no row of its own, because all others have it.
Empty optionals of some type are left out, because the description of a file has no types as attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attr, Attrs, DType, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import PREVIOUS, Constant, Operator, Step, Steps
from generators.onnx.ops.axes import axis_in
from generators.onnx.ops.operands import FLAG, tensor
from generators.onnx.schema import Attribute, Parameter, Schema, schemas
from generators.op import INT, SIZES, AttrKind, require
from generators.shared.draws import further

_TENSOR = Parameter("tensor", "T")
_TENSORS = Parameter("tensors", "T", variadic=True)
_AT = Parameter("at", "int64")
_RESULT = Parameter("result", "T")


def _whole(*inputs: Parameter, result: Parameter = _RESULT) -> Callable[[Schema], Schema]:
    """The schema of nodes that take tensors of the dtypes that sequences have, and give one result."""

    def whole(schema: Schema) -> Schema:
        dtypes = schemas()["SequenceConstruct"][0].types["T"]
        if schema.has_input("input"):  # a tensor that is split
            dtypes = tuple(dtype for dtype in schema.dtypes("input") if dtype in dtypes)
        own = {"I": (DType.INT64, DType.INT32), "T": dtypes}
        return replace(schema, inputs=inputs, outputs=(result,), types=own, kernels={})

    return whole


def _same(b: Builder, type: TensorType) -> Value:
    return further(b, lambda other: other == type, lambda: type)


def _some(least: int, alike: bool = False) -> Callable[[Builder, Schema], tuple[Value, ...]]:
    """Tensors of one dtype, which mostly have one shape; `alike`: always one rank, and all sizes but one."""

    def operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
        first = tensor(b, schema, schema.inputs[0].name, (0, 4))
        others = []
        for _ in range(b.source.integer(least - 1, 3)):
            type = first.type
            if not alike and b.source.chance(30):
                type = type.with_shape(*(b.source.choice((1, 2, 3)) for _ in range(b.source.integer(0, 3))))
            others.append(_same(b, type))
        return first, *others

    return operands


def _place(value: Attr, low: int, high: int, otherwise: int) -> int:
    """A position within [low, high], where negative ones count from the end; `otherwise` where it is left out."""
    if value is None:
        return otherwise
    require(isinstance(value, int) and low <= value <= high, f"position {value} is not within {low} and {high}")
    assert isinstance(value, int)
    return value


def _any_place(source: ChoiceSource, count: int) -> int:
    return source.integer(-count, count - 1)


_CONSTRUCT = Step("SequenceConstruct", ("tensors",))
_TAKE = Step("SequenceAt", (PREVIOUS, "at"))

# --- sequences


def _item(call: Call) -> TensorType:
    count = len(call.types)
    return call.types[_place(call.attrs["position"], -count, count - 1, 0)]


def _length(call: Call) -> TensorType:
    return TensorType(DType.INT64, ())


def _left(call: Call) -> TensorType:
    """One of the tensors that are left."""
    count = len(call.types)
    rest = list(call.types)
    del rest[_place(call.attrs["position"], -count, count - 1, -1)]
    return rest[_place(call.attrs["at"], 1 - count, count - 2, 0)]


def _inserted(call: Call) -> TensorType:
    """The first operand is inserted into the sequence of the others."""
    new, *rest = call.types
    count = len(rest)
    rest.insert(_place(call.attrs["position"], -count, count, count), new)
    return rest[_place(call.attrs["at"], -count - 1, count, 0)]


def _only(call: Call) -> TensorType:
    """The only tensor of a sequence that begins empty. It has dtype float32 where that is left out."""
    named = call.attr("dtype") or "float32"
    require(named == call.first.dtype.value, f"a sequence of {named} takes no {call.first}")
    _place(call.attrs["at"], -1, 0, 0)
    return call.first


def _only_place(source: ChoiceSource, call: Call) -> Attrs:
    dtype = call.first.dtype
    left_out = dtype is DType.FLOAT32 and source.chance(50)
    return {"dtype": None if left_out else dtype.value, "at": source.integer(-1, 0)}


def _joined(call: Call) -> TensorType:
    """As Concat, or stacked along a new axis."""
    first, new = call.first, call.integer("new_axis")
    require(new in (0, 1), "new_axis must be 0 or 1")
    at = axis_in(call, rank=first.rank + new)
    for other in call.types:
        same = other.rank == first.rank and all(
            a == c for place, (a, c) in enumerate(zip(other.sizes, first.sizes, strict=True)) if new or place != at
        )
        require(same, f"{other} does not join {first} along {at}")
    if new:
        return first.with_shape(*first.sizes[:at], len(call.types), *first.sizes[at:])
    return first.with_shape(*first.sizes[:at], sum(type.sizes[at] for type in call.types), *first.sizes[at + 1 :])


def _piece(call: Call) -> TensorType:
    """One of the pieces of a tensor: of the given sizes, of one size, or of size 1, which keepdims 0 drops."""
    x, split = call.first, call.attrs["split"]
    require(x.rank > 0, "a scalar has no pieces")
    place = axis_in(call)
    size = int(x.sizes[place])
    require(size > 0, f"{x} has no pieces")
    if isinstance(split, tuple):
        sizes = [each for each in split if isinstance(each, int)]
        require(len(sizes) > 0 and min(sizes) >= 0 and sum(sizes) == size, f"{split} are no sizes of pieces of {size}")
    else:
        length = 1 if split is None else split
        require(isinstance(length, int) and length > 0, f"no pieces have the size {split}")
        assert isinstance(length, int)
        sizes = [min(length, size - start) for start in range(0, size, length)]
    found = sizes[_place(call.attrs["at"], -len(sizes), len(sizes) - 1, 0)]
    # onnxruntime 1.31 drops a dimension of other sizes too
    require(split is None or call.integer("keepdims") == 1, "keepdims 0 is for pieces of size 1")
    if not call.integer("keepdims"):
        return x.with_shape(*x.sizes[:place], *x.sizes[place + 1 :])
    return x.with_shape(*x.sizes[:place], found, *x.sizes[place + 1 :])


def _pieces(source: ChoiceSource, call: Call) -> Attrs | None:
    x = call.first
    places = [place for place, size in enumerate(x.sizes) if size]
    if not places:
        return None
    place = source.choice(places)
    size = int(x.sizes[place])
    split: Attr = None
    count = size
    match source.integer(0, 2):
        case 0:
            cut = source.integer(0, size)
            split = (cut, size - cut) if source.chance(70) else (size,)
            count = len(split)
        case 1:
            split = source.integer(1, size)
            count = -(-size // split)
    drawn: dict[str, Attr] = {
        "axis": source.choice((place, place - x.rank)),
        "keepdims": source.choice((0, 1)) if split is None else 1,
    }
    return {**drawn, "split": split, "at": _any_place(source, count)}


def _joint(source: ChoiceSource, call: Call) -> Attrs:
    rank, equal = call.first.rank, len(set(call.types)) == 1
    new = int(equal and (rank == 0 or source.chance(40)))
    return {"new_axis": new, "axis": source.integer(-rank - new, rank + new - 1)}


def _erased(source: ChoiceSource, call: Call) -> Attrs:
    count = len(call.types)
    position = None if source.chance(30) else _any_place(source, count)
    return {"position": position, "at": _any_place(source, count - 1)}


def _placed(source: ChoiceSource, call: Call) -> Attrs:
    count = len(call.types)
    position = None if source.chance(30) else source.integer(1 - count, count - 1)
    return {"position": position, "at": _any_place(source, count)}


_PLACE = Constant(INT, scalar=True, free=True)
_INDEX = Constant(INT, scalar=True)
_SPLIT = Constant(
    AttrKind("a size, or a list of sizes", lambda v: INT.accepts(v) or SIZES.accepts(v)), scalar=True, free=True
)


def _row(
    name: str,
    operands: Callable[[Builder, Schema], Sequence[Value] | None],
    infer: Callable[[Call], TensorType],
    draw: Callable[[ChoiceSource, Call], Attrs | None],
    whole: Callable[[Schema], Schema],
    *steps: Step,
    moves: bool = True,
) -> Operator:
    own = {"position": _PLACE, "at": _INDEX, "split": _SPLIT}
    return Operator(name, operands, infer, draw, own, moves=moves, steps=lambda call: steps, whole=whole)


# --- optional tensors


def _wrapped(name: str) -> Steps:
    """An Optional first; from version 18 on, the operator takes tensors too."""

    def steps(call: Call) -> tuple[Step, ...]:
        if not call.types or not call.attr("wrapped"):
            return (Step(name, ("tensor",)),)
        return Step("Optional", ("tensor",)), Step(name, (PREVIOUS,))

    return steps


def _whole_optional(result: Parameter, may_lack: bool) -> Callable[[Schema], Schema]:
    def whole(schema: Schema) -> Schema:
        types = {"T": schemas()["Optional"][0].types["V"]}
        given = Parameter("tensor", "T", optional=may_lack and schema.since >= 18)
        return replace(
            schema,
            inputs=(given,),
            outputs=(result,),
            types=types,
            kernels={},
            attributes={"wrapped": Attribute("int", 1)},
        )

    return whole


def _maybe(b: Builder, schema: Schema) -> tuple[Value, ...]:
    return () if schema.inputs[0].optional and b.source.chance(15) else (tensor(b, schema, "tensor"),)


def _require_wrapped(call: Call) -> None:
    require(call.integer("wrapped") == 1 or call.schema.since >= 18, "before version 18 only optionals are taken")


def _contents(call: Call) -> TensorType:
    _require_wrapped(call)
    return call.first


def _is_there(call: Call) -> TensorType:
    _require_wrapped(call)
    return TensorType(DType.BOOL, ())


def _wrapping(source: ChoiceSource, call: Call) -> Attrs:
    return {"wrapped": int(call.schema.since < 18 or source.chance(60))}


_POSITION, _MAY_POSITION = Parameter("position", "I"), Parameter("position", "I", optional=True)

OPERATORS: tuple[Operator, ...] = (
    _row(
        "SequenceAt",
        _some(1),
        _item,
        lambda source, call: {"position": _any_place(source, len(call.types))},
        _whole(_TENSORS, _POSITION),
        _CONSTRUCT,
        Step("SequenceAt", (PREVIOUS, "position")),
    ),
    _row(
        "SequenceLength",
        _some(1),
        _length,
        lambda source, call: {},
        _whole(_TENSORS, result=Parameter("length", "int64")),
        _CONSTRUCT,
        Step("SequenceLength", (PREVIOUS,)),
        moves=False,
    ),
    _row(
        "SequenceErase",
        _some(2),
        _left,
        _erased,
        _whole(_TENSORS, _MAY_POSITION, _AT),
        _CONSTRUCT,
        Step("SequenceErase", (PREVIOUS, "position")),
        _TAKE,
    ),
    _row(
        "SequenceInsert",
        _some(2),
        _inserted,
        _placed,
        _whole(_TENSOR, _TENSORS, _MAY_POSITION, _AT),
        _CONSTRUCT,
        Step("SequenceInsert", (PREVIOUS, "tensor", "position")),
        _TAKE,
    ),
    _row(
        "SequenceEmpty",
        lambda b, schema: (tensor(b, schema, "tensor", (0, 4)),),
        _only,
        _only_place,
        _whole(_TENSOR, _AT),
        Step("SequenceEmpty", (), ("dtype",)),
        Step("SequenceInsert", (PREVIOUS, "tensor")),
        _TAKE,
    ),
    _row(
        "ConcatFromSequence",
        _some(1, alike=True),
        _joined,
        _joint,
        _whole(_TENSORS),
        _CONSTRUCT,
        Step("ConcatFromSequence", (PREVIOUS,), ("axis", "new_axis")),
    ),
    _row(
        "SplitToSequence",
        lambda b, schema: (tensor(b, schema, "tensor", (1, 4)),),
        _piece,
        _pieces,
        _whole(_TENSOR, Parameter("split", "I", optional=True), _AT),
        Step("SplitToSequence", ("tensor", "split"), ("axis", "keepdims")),
        _TAKE,
    ),
    Operator(
        "OptionalGetElement",
        lambda b, schema: (tensor(b, schema, "tensor"),),
        _contents,
        _wrapping,
        kinds={"wrapped": FLAG},
        moves=True,
        steps=_wrapped("OptionalGetElement"),
        whole=_whole_optional(_RESULT, may_lack=False),
    ),
    Operator(
        "OptionalHasElement",
        _maybe,
        _is_there,
        _wrapping,
        kinds={"wrapped": FLAG},
        steps=_wrapped("OptionalHasElement"),
        whole=_whole_optional(Parameter("there", "bool"), may_lack=True),
    ),
)
