"""Products of matrices."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import Operator
from generators.onnx.ops.operands import float32, tensor
from generators.onnx.schema import Schema
from generators.op import Arithmetic, require
from generators.torch.ops.rules import broadcast

WIDTHS = (1, 2, 3, 5, 8, 16, 17)


def _gemm_operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
    first = tensor(b, schema, "A", (2, 2))
    dtype, inner = first.type.dtype, first.type.sizes[b.source.integer(0, 1)]
    shape = [inner, b.source.choice(WIDTHS)]
    second = b.tensor_of_model(dtype, *b.source.shuffled(shape))
    optional = schema.input("C").optional
    if optional and b.source.chance(30):
        return first, second
    return first, second, b.tensor_of_model(dtype, *b.source.choice(((), (1,), (shape[1],), (1, shape[1]))))


def _gemm(call: Call) -> TensorType:
    a, b = call["A"], call["B"]
    require(a.rank == b.rank == 2, "Gemm takes matrices")
    rows, inner = reversed(a.sizes) if call.integer("transA") else a.sizes
    other, columns = reversed(b.sizes) if call.integer("transB") else b.sizes
    require(inner == other, f"the inner sizes of {a} and {b} differ")
    bias = call.get("C")
    if bias is not None:
        require(broadcast(bias.sizes, (rows, columns)) == (rows, columns), f"{bias} does not broadcast")
    return a.with_shape(rows, columns)


def _gemm_attributes(source: ChoiceSource, call: Call) -> Attrs:
    fitting = [(ta, tb) for ta in (0, 1) for tb in (0, 1) if call["A"].sizes[1 - ta] == call["B"].sizes[tb]]
    ta, tb = source.choice(fitting or [(0, 0)])
    factors = (1.0, 0.5, 2.0, float32(0.1), 0.0)
    return {"transA": ta, "transB": tb, "alpha": source.choice(factors), "beta": source.choice(factors)}


def _gemm_terms(call: Call) -> int:
    return max(1, call["A"].sizes[0 if call.integer("transA") else 1])


OPERATORS: tuple[Operator, ...] = (
    Operator("Gemm", _gemm_operands, _gemm, _gemm_attributes, terms=_gemm_terms, arithmetic=Arithmetic.SUM),
)
