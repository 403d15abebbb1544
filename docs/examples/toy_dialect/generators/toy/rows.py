"""The rows of the toy: its three operators. Their source is an expression in Python."""

from __future__ import annotations

from generators.builder import Builder
from generators.graph import Attrs, DType, TensorType, Value
from generators.op import Arithmetic, Op, Types, one_term, require

FLOAT = (DType.FLOAT32,)


def _one(b: Builder) -> tuple[Value, ...]:
    return (b.tensor(FLOAT, (1, 3)),)


def _two(b: Builder) -> tuple[Value, ...]:
    first = b.tensor(FLOAT, (1, 3))
    return first, b.pick(lambda type: type == first.type, lambda: first.type)


def _same(types: Types, attrs: Attrs) -> TensorType:
    require(all(type == types[0] for type in types), "the operands have different types")
    require(types[0].dtype in FLOAT, f"there are no operands of {types[0].dtype}")
    return types[0]


def _summed(types: Types, attrs: Attrs) -> TensorType:
    require(types[0].rank > 0, "a tensor without dimensions has no last one")
    return _same(types, attrs).with_shape(*types[0].sizes[:-1])


def _length(types: Types, attrs: Attrs) -> int:
    return max(1, types[0].sizes[-1])


NEGATE = Op("toy.negate", _one, _same, "-{0}")
PLUS = Op("toy.plus", _two, _same, "{0} + {1}", arity=(2, 2), terms=one_term, arithmetic=Arithmetic.ONE_STEP)
TOTAL = Op("toy.total", _one, _summed, "{0}.sum(-1)", terms=_length, arithmetic=Arithmetic.SUM)

OPS = (NEGATE, PLUS, TOTAL)
TABLE = {row.name: row for row in OPS}
FAMILIES = {row.name: OPS for row in OPS}
