"""Products of matrices, of integers with zero points, and einsum."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, DType, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import Operator
from generators.onnx.ops.operands import float32, tensor, tensor_of_model
from generators.onnx.schema import MICROSOFT, Schema
from generators.op import Arithmetic, require
from generators.operator_class import OperatorClass
from generators.shared import equations
from generators.shared.draws import WIDTHS, accepted, further, width
from generators.shared.sizes import broadcast, meet, product

# --- Gemm


def _gemm_operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """Either operand may be transposed. The third has any shape that broadcasts to the result."""
    source, first = b.source, tensor(b, schema, "A", (2, 2))
    type, place = first.type, source.integer(0, 1)
    rows, inner = type.sizes[1 - place], type.sizes[place]
    columns = source.choice([size for size in WIDTHS if size * max(rows, inner) <= b.limits.max_numel] or [1])
    shape = (inner, columns) if source.chance(50) else (columns, inner)
    second = _mostly_of_model(b, type.with_shape(*shape))
    if schema.input("C").optional and source.chance(25):
        return first, second
    shapes = ((columns,), (columns,), (), (1,), (1, columns), (rows, 1), (rows, columns), (1, 1))
    return first, second, _mostly_of_model(b, type.with_shape(*source.choice(shapes)))


def _mostly_of_model(b: Builder, type: TensorType) -> Value:
    if b.source.chance(75):
        return tensor_of_model(b, type.dtype, *type.sizes)
    return further(b, lambda other: other == type, lambda: type)


def _gemm(call: Call) -> TensorType:
    a, b = call["A"], call["B"]
    require(a.rank == b.rank == 2, f"Gemm takes matrices, not {a} and {b}")
    rows, inner = reversed(a.sizes) if call.integer("transA") else a.sizes
    other, columns = reversed(b.sizes) if call.integer("transB") else b.sizes
    require(inner == other, f"the inner sizes of {a} and {b} differ")
    bias = call.get("C")
    if bias is not None:
        # without products, onnxruntime 1.31 gives C and not beta * C
        require(inner > 0 or call.number("beta") == 1, f"no products of {a} and {b}, and a beta")
        require(broadcast(bias.sizes, (rows, columns)) == (rows, columns), f"{bias} does not broadcast")
    return a.with_shape(rows, columns)


def _gemm_attributes(source: ChoiceSource, call: Call) -> Attrs | None:
    sides: list[Attrs] = [{"transA": a, "transB": b} for a in (0, 1) for b in (0, 1)]
    infer = lambda types, attrs: _gemm(Call(call.schema, call.names, types, attrs))
    fitting = accepted(infer, call.types, sides)
    factors = (1.0, 1.0, 0.5, 2.0, float32(0.1), 0.0, -1.5)
    return (
        {**source.choice(fitting), "alpha": source.choice(factors), "beta": source.choice(factors)} if fitting else None
    )


def _gemm_terms(call: Call) -> int:
    return call["A"].sizes[0 if call.integer("transA") else 1] + 1


def _has_a_zero_factor(call: Call) -> bool:
    """BLAS does not read operands whose factor is 0."""
    return 0 in (call.number("alpha"), call.number("beta"))


# --- MatMul


def _multiplied(x: TensorType, y: TensorType) -> TensorType:
    """The rules of numpy.matmul, which the specification refers to. onnxruntime 1.31 does not broadcast empty batches,
    refuses vectors with nothing to multiply, and does not write the results of a batch that are sums of nothing."""
    require(x.rank > 0 and y.rank > 0, "a product of matrices takes ranks above 0")
    columns = y.sizes[-1:] if y.rank > 1 else ()
    inner = y.sizes[-2] if y.rank > 1 else y.sizes[0]
    require(x.sizes[-1] == inner, f"{x} does not fit {y}")
    found = x.with_shape(*broadcast(x.sizes[:-2], y.sizes[:-2]), *x.sizes[-2:-1], *columns)
    plain = min(x.rank, y.rank) > 1 and (y.rank == 2 or x.sizes[:-2] == y.sizes[:-2])
    require(found.numel > 0 or plain, f"an empty product of {x} and {y}")
    require(inner > 0 or x.rank == y.rank == 2, f"the products of {x} and {y} are sums of nothing")
    return found


def _second(b: Builder, x: TensorType, dtype: DType, least: int = 1) -> Value:
    """A second factor of at least this rank: a vector, a matrix, or one with a batch that broadcasts."""
    source, inner = b.source, x.sizes[-1]

    def fits(y: TensorType) -> bool:
        if y.dtype != dtype or y.rank < least or (y.sizes[-2] if y.rank > 1 else y.sizes[0]) != inner:
            return False
        return all(meet(a, c) for a, c in zip(x.sizes[-3::-1], y.sizes[-3::-1], strict=False))

    def otherwise() -> TensorType:
        if least == 1 and source.chance(20):
            return TensorType(dtype, (inner,))
        batch = tuple([1 if source.chance(30) else size for size in x.sizes[source.integer(0, x.rank) : -2]])
        if x.rank < 3 and source.chance(30):
            batch = source.choice(((2,), (3, 1)))
        columns = width(b, max(1, x.numel // max(1, inner)) * max(1, product(batch)))
        return TensorType(dtype, (*batch, inner, columns))

    if source.chance(50):
        made = otherwise()
        return tensor_of_model(b, dtype, *made.sizes)
    return further(b, fits, otherwise)


def _matmul_operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
    first = tensor(b, schema, "A", (1, 5))
    return first, _second(b, first.type, first.type.dtype)


def _inner(call: Call) -> int:
    return max(1, call.first.sizes[-1])


# --- products of integers


def _integer_operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
    first = tensor(b, schema, "A", (1, 4))
    second = _second(b, first.type, b.dtype(schema.dtypes("B")))
    count = b.source.integer(0, 2) if schema.has_input("a_zero_point") else 0
    zeros = (_zero_point(b, first.type.dtype, None), _zero_point(b, second.type.dtype, second.type))
    return first, second, *zeros[:count]


def _zero_point(b: Builder, dtype: DType, second: TensorType | None) -> Value:
    """A number or, for a second factor that is no vector, one for each column."""
    shapes: list[tuple[int, ...]] = [(), (1,)]
    if second is not None and second.rank > 1:
        shapes.append(_columns(second))
    return tensor_of_model(b, dtype, *b.source.choice(shapes))


def _columns(second: TensorType) -> tuple[int, ...]:
    """The shape of a zero point for each column."""
    return second.sizes[-1:] if second.rank <= 2 else (*second.sizes[:-2], 1, second.sizes[-1])


def _matmul_integer(call: Call) -> TensorType:
    """onnxruntime 1.31 has no zero points for the rows of the first factor, does not write the results that are sums
    of nothing, and dies of products of int16 with an empty vector."""
    a, b = call["A"], call["B"]
    found = _multiplied(a, b)
    require(a.sizes[-1] > 0, f"the products of {a} and {b} are sums of nothing")
    require(call.has("a_zero_point") or min(a.numel, b.numel) > 0, f"{a} or {b} is empty")
    zero_a, zero_b = call.get("a_zero_point"), call.get("b_zero_point")
    require(zero_a is None or zero_a.sizes in ((), (1,)), f"{zero_a} is no zero point of {a}")
    columns = _columns(b) if b.rank > 1 else (1,)
    require(zero_b is None or zero_b.sizes in ((), (1,), columns), f"{zero_b} is no zero point of {b}")
    return found.with_dtype(DType.INT32)


# --- Einsum


def _equation(source: ChoiceSource, call: Call) -> Attrs:
    if source.chance(65):
        known: list[Attrs] = [{"equation": text} for text, count in equations.COUNTED if count == len(call.types)]
        fitting = accepted(_einsum_of, call.types, known)
        if fitting:
            return source.choice(fitting)
    return {"equation": equations.any_equation(source, call.types)}


def _einsum_of(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    """As torch.einsum, but a letter has one size, an ellipsis as many dimensions in all operands, and the result has
    the ellipsis that operands have. Only within an ellipsis, sizes of 1 are repeated. onnxruntime 1.31 dies of empty
    operands."""
    require(all(type.numel > 0 for type in types), "einsum: an operand is empty")
    sizes, operands, out = equations.read(tuple(types), attrs)
    for labels, type in zip(operands, types, strict=True):
        for label, size in zip(labels, type.sizes, strict=True):
            require(isinstance(label, int) or sizes[label] == size, f"einsum: {label} has sizes {size}, {sizes[label]}")
    text = str(attrs["equation"])
    require(bool(text), "einsum: the interpreter of onnx 1.23 takes an empty equation for none")
    left, arrow, right = text.partition("->")
    parts = zip(left.split(","), operands, strict=True)
    dots = {sum(isinstance(label, int) for label in labels) for part, labels in parts if "." in part}
    require(len(dots) <= 1, f"einsum: the ellipses of {text!r} have different numbers of dimensions")
    require("." not in left or not arrow or "." in right, f"einsum: the result of {text!r} has no ellipsis")
    return types[0].with_shape(*(sizes[label] for label in out))


def _einsum(call: Call) -> TensorType:
    return _einsum_of(call.types, call.attrs)


OPERATORS: tuple[Operator, ...] = (
    Operator(
        "Gemm",
        _gemm_operands,
        _gemm,
        _gemm_attributes,
        terms=_gemm_terms,
        arithmetic=Arithmetic.SUM_IN_ANY,
        multiplies_by_zero=_has_a_zero_factor,
        plainer="MatMul",
        classes=(OperatorClass.MATRIX_PRODUCT,),
    ),
    Operator(
        "MatMul",
        _matmul_operands,
        lambda call: _multiplied(call["A"], call["B"]),
        terms=_inner,
        arithmetic=Arithmetic.SUM_IN_ANY,
        classes=(OperatorClass.MATRIX_PRODUCT,),
    ),
    Operator("MatMulInteger", _integer_operands, _matmul_integer),
    Operator("MatMulInteger16", _integer_operands, _matmul_integer, domain=MICROSOFT),
    Operator(
        "Einsum",
        lambda b, schema: equations.operands(b, schema.dtypes("Inputs"), mixed=False),
        _einsum,
        _equation,
        kinds={"equation": equations.EQUATION},
        terms=lambda call: equations.reduced_terms(call.types, call.attrs),
        arithmetic=Arithmetic.SUM_IN_ANY,
        classes=(OperatorClass.MATRIX_PRODUCT,),
    ),
)
