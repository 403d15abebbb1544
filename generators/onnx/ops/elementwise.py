"""Functions of one number at a time."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, Value
from generators.onnx.call import Call
from generators.onnx.operator import Operator
from generators.onnx.ops.operands import broadcast_of, float32, one, partner, same_type, tensor
from generators.onnx.schema import Schema
from generators.op import Arithmetic


def _each(name: str, arithmetic: Arithmetic = Arithmetic.FUNCTION, scale: float = 0.0, rounds: bool = True) -> Operator:
    """A function whose result has the type of its operand."""
    terms = (lambda call: 1) if rounds else None
    return Operator(name, one(), same_type, terms=terms, arithmetic=arithmetic, scale=scale)


def _pair(b: Builder, schema: Schema) -> tuple[Value, ...]:
    first = tensor(b, schema, "A")
    return first, partner(b, first.type, first.type.dtype)


def _alpha(source: ChoiceSource, call: Call) -> Attrs:
    return {"alpha": source.choice((float32(0.01), 1.0, 0.5, 2.0, float32(0.1)))}


OPERATORS: tuple[Operator, ...] = (
    _each("Tanh"),
    _each("Relu", rounds=False),
    Operator("Add", _pair, broadcast_of, terms=lambda call: 1, arithmetic=Arithmetic.EXACT_WHERE_HELD),
    Operator("Elu", one(), same_type, _alpha, terms=lambda call: 1, scale=1.0),
)
