"""Products of matrices and vectors, and attention."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, DType, TensorType, Value
from generators.op import NUMBER, Arithmetic, NumericFacts, Types, one_of, optional, require
from generators.operator_class import OperatorClass
from generators.relax.ops.operands import FLOATS, NUMERIC, broadcast_formulas, one_dtype, owned
from generators.relax.row import Given, row
from generators.shared import equations
from generators.shared.draws import accepted, further
from generators.shared.sizes import meet, product

WIDTHS = (1, 2, 3, 5, 8, 16, 17)
_SUM: NumericFacts = {"arithmetic": Arithmetic.SUM_IN_ANY}
PRODUCTS = (*FLOATS, DType.INT32, DType.INT8)


def _width(b: Builder, times: int) -> int:
    return b.source.choice([w for w in WIDTHS if w * times <= b.limits.max_numel] or [1])


def _factors(b: Builder) -> tuple[Value, ...]:
    """The right factor is often a constant, as in models."""
    x = b.tensor(PRODUCTS, (1, 4))
    sizes = x.type.shape
    lead = sizes[:-2] if b.source.chance(40) else ()
    columns = () if b.source.chance(15) else (_width(b, x.type.numel),)
    type = TensorType(x.type.dtype, (*(lead if columns else ()), sizes[-1], *columns))

    def fits(other: TensorType) -> bool:
        return other.dtype == x.type.dtype and other.rank > 0 and other.shape[-2 if other.rank > 1 else -1] == sizes[-1]

    if b.source.chance(45):
        return x, owned(b, type)
    return x, further(b, fits, lambda: type)


def _multiplied(types: Types, attrs: Attrs) -> TensorType:
    x, y = types
    dtype = one_dtype(types, *PRODUCTS)
    require(x.rank > 0 and y.rank > 0, "takes no numbers")
    rows, columns = x.sizes[-2:-1] if x.rank > 1 else (), y.sizes[-1:] if y.rank > 1 else ()
    inner = y.sizes[-2] if y.rank > 1 else y.sizes[0]
    require(x.sizes[-1] == inner, f"{x} and {y} have no product")
    lead = broadcast_formulas(x.sizes[:-2], y.sizes[:-2])
    wanted = attrs["out_dtype"]
    return TensorType(dtype if wanted is None else DType(str(wanted)), (*lead, *rows, *columns))


def _draw_out(source: ChoiceSource, types: Types) -> Attrs:
    """Integers of 8 bits are summed in 32, as quantised models do."""
    dtype = types[0].dtype
    if dtype is DType.INT8 or (dtype is DType.INT32 and source.chance(30)):
        return {"out_dtype": "int32"}
    return {"out_dtype": "float32" if dtype is DType.FLOAT16 and source.chance(50) else None}


def _inner(types: Types, attrs: Attrs) -> int:
    return max(1, types[0].sizes[-1])


def _outer(types: Types, attrs: Attrs) -> TensorType:
    x, y = types
    require(x.rank == y.rank == 1, "takes vectors")
    return TensorType(one_dtype(types, *NUMERIC), (x.sizes[0], y.sizes[0]))


def _two_vectors(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(NUMERIC, (1, 1))
    dtype = x.type.dtype
    return x, further(
        b, lambda t: t.dtype == dtype and t.rank == 1, lambda: TensorType(dtype, (_width(b, x.type.numel),))
    )


# --- einsum


def _einsum(types: Types, attrs: Attrs) -> TensorType:
    dtype = one_dtype(types, *FLOATS)
    sizes, _, out = equations.read(types, {"equation": attrs["subscripts"]})
    return TensorType(dtype, tuple([sizes[label] for label in out]))


def _summands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS, (1, 3))

    def fits(other: TensorType) -> bool:
        return (
            other.dtype == x.type.dtype
            and 0 < other.rank < 4
            and any(meet(a, c) for a in x.type.sizes for c in other.sizes)
        )

    others = [further(b, fits, lambda: x.type) for _ in range(b.source.choice((0, 1, 1)))]
    return x, *others


_EQUATIONS = tuple(
    pattern for pattern in equations.PATTERNS if "..." not in pattern and "->" in pattern and " " not in pattern
)
"""Those that name all dimensions of operands and results."""


def _draw_equation(source: ChoiceSource, types: Types) -> Attrs | None:
    fitting = accepted(_einsum, types, [{"subscripts": each} for each in _EQUATIONS])
    return source.choice(fitting) if fitting else None


def _summed(types: Types, attrs: Attrs) -> int:
    result = _einsum(types, attrs)
    return max(1, product([size for type in types for size in type.sizes]) // max(1, product(result.sizes)))


# --- attention


def _queries(b: Builder) -> tuple[Value, ...]:
    """Batch, length, heads, size of a head."""
    x = b.tensor((DType.FLOAT32, DType.FLOAT16), (4, 4))
    batch, _, heads, size = x.type.sizes
    length, values = b.source.choice((1, 2, 3, 5)), b.source.choice((int(size), int(size), 1, 3))
    key = x.type.with_shape(batch, length, heads, size)
    value = x.type.with_shape(batch, length, heads, values)
    return x, _exactly(b, key), _exactly(b, value)


def _exactly(b: Builder, type: TensorType) -> Value:
    return further(b, lambda other: other == type, lambda: type)


def _attended(types: Types, attrs: Attrs) -> TensorType:
    q, k, v = types[:3]
    require(one_dtype(types) in (DType.FLOAT32, DType.FLOAT16) and q.rank == k.rank == v.rank == 4, "takes rank 4")
    require((q.sizes[0], *q.sizes[2:]) == (k.sizes[0], *k.sizes[2:]), f"{q} and {k} do not fit")
    require(v.sizes[:3] == k.sizes[:3], f"{v} does not fit {k}")
    if len(types) > 3:
        scores = (q.sizes[0], q.sizes[2], q.sizes[1], k.sizes[1])
        require(types[3].rank == 4 and types[3].sizes == scores, f"{types[3]} is no bias of {scores}")
    return q.with_shape(*q.sizes[:3], v.sizes[3])


def _with_bias(b: Builder) -> tuple[Value, ...]:
    q, k, v = _queries(b)
    scores = q.type.with_shape(q.type.sizes[0], q.type.sizes[2], q.type.sizes[1], k.type.sizes[1])
    return q, k, v, _exactly(b, scores)


def _draw_scale(source: ChoiceSource, types: Types) -> Attrs:
    return {"scale": source.choice((None, None, 0.5, 1.0))}


def _scores(types: Types, attrs: Attrs) -> int:
    return max(1, types[0].sizes[3] + types[1].sizes[1])


_OUT = optional(one_of("float32", "int32"))

OPS = (
    row(
        "matmul",
        _factors,
        _multiplied,
        _draw_out,
        {"out_dtype": _OUT},
        arity=2,
        terms=_inner,
        classes=(OperatorClass.MATRIX_PRODUCT,),
        **_SUM,
    ),
    row("outer", _two_vectors, _outer, arity=2, terms=lambda types, attrs: 1, arithmetic=Arithmetic.ONE_STEP),
    row(
        "einsum",
        _summands,
        _einsum,
        _draw_equation,
        {"subscripts": equations.EQUATION},
        arity=(1, 4),
        given=Given.TUPLE,
        terms=_summed,
        plainer="matmul",
        classes=(OperatorClass.MATRIX_PRODUCT,),
        **_SUM,
    ),
    row(
        "nn.attention",
        _queries,
        _attended,
        _draw_scale,
        {"scale": optional(NUMBER)},
        arity=3,
        terms=_scores,
        arithmetic=Arithmetic.FUNCTION_IN_ANY,
    ),
    row(
        "nn.attention_bias",
        _with_bias,
        _attended,
        _draw_scale,
        {"scale": optional(NUMBER)},
        arity=4,
        terms=_scores,
        arithmetic=Arithmetic.FUNCTION_IN_ANY,
        plainer="nn.attention",
    ),
)
