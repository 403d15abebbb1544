"""Products of matrices. CPU kernels take all dtypes but bool; all operands have the same dtype."""

from __future__ import annotations

import math
from functools import reduce

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, DType, Form, TensorType, Value
from generators.op import INT, NUMBER, SCALAR, Arithmetic, Layer, Op, Types, int_of, number_of, require
from generators.operator_class import OperatorClass
from generators.shared.draws import WIDTHS, further, width
from generators.shared.sizes import broadcast, meet, product
from generators.torch.ops.contraction import alike, exactly, same_numeric
from generators.torch.ops.guard import LARGEST
from generators.torch.ops.operands import partner
from generators.torch.ops.rules import ALL, NUMERIC, join, require_dtype, summed

# --- linear


def _linear(types: Types, attrs: Attrs) -> TensorType:
    """PyTorch documents bias shapes [out] and []. Whether it takes others depends on the rank of x."""
    x, weight = same_numeric(types)[:2]
    require(weight.rank in (1, 2), f"linear: the weight must have rank 1 or 2, not {weight}")
    require(x.rank > 0 and x.sizes[-1] == weight.sizes[-1], f"linear: {x} does not fit the weight {weight}")
    if len(types) == 3:
        require(weight.rank == 2, "linear: a weight of rank 1 goes without a bias")
        out = weight.sizes[0]
        require(types[2].sizes in ((), (1,), (out,)), f"linear: the bias must be [{out}], [1] or []")
    return x.with_shape(*x.sizes[:-1], *weight.sizes[:-1])


def _linear_operands(b: Builder) -> tuple[Value, ...]:
    """The weight is mostly a parameter, sometimes any matrix or a vector."""
    source, x = b.source, b.tensor(NUMERIC, ranks=(1, 5))
    dtype, into = x.type.dtype, x.type.sizes[-1]
    if source.chance(8):
        return x, b.param(dtype, into)
    out = width(b, x.type.numel // max(1, into))
    if source.chance(20):
        weight = b.pick(
            lambda t: t.dtype == dtype and t.rank == 2 and t.sizes[1] == into, lambda: TensorType(dtype, (out, into))
        )
        out = weight.type.sizes[0]
    else:
        weight = b.param(dtype, out, into)
    if source.chance(40):
        return x, weight
    return x, weight, b.param(dtype, *source.choice([(out,)] * 8 + [(1,), ()]))


def _linear_layer(types: Types, attrs: Attrs) -> str:
    out, into = types[1].sizes
    return f"torch.nn.Linear({into}, {out}{'' if len(types) == 3 else ', bias=False'})"


def _is_layer(types: Types, attrs: Attrs) -> bool:
    weight = types[1]
    return weight.dtype.is_float and weight.rank == 2 and all(bias.sizes == weight.sizes[:1] for bias in types[2:])


def _inner(types: Types, attrs: Attrs) -> int:
    return max(1, types[0].sizes[-1])


# --- products of two


def _multiplied(x: TensorType, y: TensorType) -> TensorType:
    """The result type of torch.matmul."""
    require(x.rank > 0 and y.rank > 0, "matmul takes ranks above 0")
    columns = y.sizes[-1:] if y.rank > 1 else ()
    inner = y.sizes[-2] if y.rank > 1 else y.sizes[0]
    require(x.sizes[-1] == inner, f"{x} does not fit {y}")
    return x.with_shape(*broadcast(x.sizes[:-2], y.sizes[:-2]), *x.sizes[-2:-1], *columns)


def _matmul(types: Types, attrs: Attrs) -> TensorType:
    x, y = same_numeric(types)
    return _multiplied(x, y)


def _matmul_operands(b: Builder) -> tuple[Value, ...]:
    source, first = b.source, b.tensor(NUMERIC, ranks=(1, 5))
    x = first.type
    inner = x.sizes[-1]

    def fits(y: TensorType) -> bool:
        if y.dtype != x.dtype or y.rank == 0 or (y.sizes[-2] if y.rank > 1 else y.sizes[0]) != inner:
            return False
        return all(meet(a, c) for a, c in zip(x.sizes[-3::-1], y.sizes[-3::-1], strict=False))

    def otherwise() -> TensorType:
        if source.chance(20):
            return x.with_shape(inner)
        batch = tuple([1 if source.chance(30) else size for size in x.sizes[source.integer(0, x.rank) : -2]])
        if x.rank < 3 and source.chance(40):
            batch = source.choice(((2,), (3, 1), (0,)))
        return x.with_shape(*batch, inner, width(b, x.numel // max(1, inner) * max(1, product(batch))))

    return first, further(b, fits, otherwise)


Ranks = tuple[int, int]


def _unbroadcast(ranks: Ranks, x: TensorType, y: TensorType) -> TensorType:
    """matmul for operands of these ranks only, in equal batches."""
    require((x.rank, y.rank) == ranks, f"takes tensors of rank {ranks[0]} and {ranks[1]}, not {x} and {y}")
    require(x.sizes[:-2] == y.sizes[:-2], f"{x} does not fit {y}")
    return _multiplied(x, y)


def _pair(b: Builder, ranks: Ranks) -> tuple[Value, Value]:
    x = b.tensor(NUMERIC, ranks=(ranks[0], ranks[0]))
    batch, inner = x.type.sizes[:-2], x.type.sizes[-1]
    known = (*batch, inner)

    def fits(y: TensorType) -> bool:
        return y.rank == ranks[1] and y.dtype == x.type.dtype and y.sizes[: len(known)] == known

    def otherwise() -> TensorType:
        return x.type.with_shape(*known, *((width(b, x.type.numel // max(1, inner)),) if ranks[1] > 1 else ()))

    return x, further(b, fits, otherwise)


def _product(name: str, ranks: Ranks, plainer: str | None = "matmul") -> Op:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        x, y = same_numeric(types)
        return _unbroadcast(ranks, x, y)

    return Op(
        name,
        lambda b: _pair(b, ranks),
        infer,
        f"torch.{name}({{0}}, {{1}})",
        arity=(2, 2),
        terms=_inner,
        forms={Form.METHOD: f"{{0}}.{name}({{1}})"},
        arithmetic=Arithmetic.SUM,
        plainer=plainer,
    )


# --- products added to something


def _factors(source: ChoiceSource, types: Types) -> Attrs:
    """Also 0: with a beta of 0 the first operand has no effect, whatever its numbers are."""
    floats = any(t.dtype.is_float for t in types)
    factors = (1, 1, 1, 0, 2, 3, -1, *((0.5, -1.5, 2.0) if floats else ()))
    drawn: dict[str, int | float] = {key: source.choice(factors) for key in ("beta", "alpha")}
    if all(t.dtype is DType.BOOL for t in types) and source.chance(50):
        return {key: bool(value) for key, value in drawn.items()}
    return drawn


def _require_factors(dtype: DType, attrs: Attrs) -> None:
    """The factors have the result's kind and range. Some functions truncate floats for integers, and take bools as
    numbers, but PyTorch does not document this."""
    for key in ("beta", "alpha"):
        value = number_of(attrs, key)
        require(dtype is DType.BOOL or not isinstance(value, bool), f"{key}={value} is for bool only")
        require(dtype.is_float or isinstance(value, int), f"{key}={value} is no integer, but the result is {dtype}")
        largest = dtype.range[1] if dtype.is_integer else LARGEST.get(dtype, math.inf)
        require(abs(value) <= largest, f"{key}={value} is out of the range of {dtype}")


def _added(name: str, ranks: Ranks, over_batch: bool = False) -> Op:
    """beta * input + alpha * (a product of operands of these ranks, or its sum over the batch); input is expanded."""

    def product_type(x: TensorType, y: TensorType) -> TensorType:
        found = _unbroadcast(ranks, x, y)
        return found.with_shape(*found.sizes[1:]) if over_batch else found

    def infer(types: Types, attrs: Attrs) -> TensorType:
        start, x, y = same_numeric(types)
        found = product_type(x, y)
        require(broadcast(start.sizes, found.sizes) == found.sizes, f"{start} does not expand to {found}")
        # where there are no products, PyTorch's addmv gives the shape of its first operand
        require(ranks[1] != 1 or x.numel > 0 or start.sizes == found.sizes, f"{start} is not expanded to {found}")
        _require_factors(found.dtype, attrs)
        return found

    def operands(b: Builder) -> tuple[Value, ...]:
        """Draws the product first, or the tensor that it is added to: then the call may be in place."""
        if b.source.chance(50):
            x, y = _pair(b, ranks)
            found = product_type(x.type, y.type)
            return partner(b, found, (found.dtype,)), x, y
        rank = 2 if over_batch else ranks[1]
        start = b.tensor(NUMERIC, ranks=(rank, rank))
        batch = (b.source.integer(1, 3),) if over_batch else start.type.sizes[: ranks[0] - 2]
        rows, *columns = start.type.sizes if over_batch else start.type.sizes[len(batch) :]
        inner = b.source.choice(WIDTHS)
        left, right = (*batch, rows, inner), (*batch, inner, *columns)
        return start, exactly(b, start.type.with_shape(*left)), exactly(b, start.type.with_shape(*right))

    return Op(
        name,
        operands,
        infer,
        f"torch.{name}({{args}}{{more}})",
        _factors,
        {"beta": NUMBER, "alpha": NUMBER},
        {"beta": 1, "alpha": 1},
        arity=(3, 3),
        terms=lambda types, attrs: types[1].sizes[-1] * (types[1].sizes[0] if over_batch else 1) + 1,
        forms={
            Form.METHOD: f"{{0}}.{name}({{1}}, {{2}}{{more}})",
            Form.INPLACE: f"{{0}}.{name}_({{1}}, {{2}}{{more}})",
        },
        arithmetic=Arithmetic.SUM_IN_HALF if over_batch else Arithmetic.SUM,
        plainer="matmul",
    )


def _addr(types: Types, attrs: Attrs) -> TensorType:
    """It takes any dtypes, element by element. A 0-d input takes part in the promotion like one with dimensions."""
    start, x, y = types
    require(x.rank == y.rank == 1, f"addr takes two vectors, not {x} and {y}")
    found = (*x.sizes, *y.sizes)
    require(broadcast(start.sizes, found) == found, f"{start} does not expand to {found}")
    dtype = reduce(join, (t.dtype for t in types))
    _require_factors(dtype, attrs)
    return TensorType(dtype, found)


def _addr_operands(b: Builder) -> tuple[Value, ...]:
    start = b.tensor(ranks=(2, 2))
    x, y = (alike(b, start.type.with_shape(size), ALL) for size in start.type.sizes)
    return (partner(b, start.type, ALL) if b.source.chance(50) else start), x, y


# --- chains


def _chain(name: str, low: int, vectors: bool) -> Op:
    """A chain of matrices whose sizes fit; with `vectors`, the first and the last may be vectors."""

    def infer(types: Types, attrs: Attrs) -> TensorType:
        same_numeric(types)
        for place, t in enumerate(types):
            may = (1, 2) if vectors and place in (0, len(types) - 1) else (2,)
            require(t.rank in may, f"operand {place} must have rank {' or '.join(map(str, may))}, not {t}")
        return reduce(_multiplied, types)

    def operands(b: Builder) -> tuple[Value, ...]:
        """At most three factors in float16: a longer product would leave its range."""
        first = b.tensor(NUMERIC, ranks=(1 if vectors else 2, 2))
        dtype, chain = first.type.dtype, [first]
        count = b.source.integer(low, 3 if dtype is DType.FLOAT16 else 4)
        while len(chain) < count:
            inner = chain[-1].type.sizes[-1]
            ends = vectors and len(chain) == count - 1 and b.source.chance(30)
            wanted = TensorType(dtype, (inner,) if ends else (inner, b.source.choice(WIDTHS)))
            chain.append(exactly(b, wanted))
        return tuple(chain)

    call = "torch.linalg.multi_dot([{args}])" if vectors else f"torch.{name}({{args}})"
    return Op(name, operands, infer, call, arity=(low, 4), terms=_inner_sizes)


def _inner_sizes(types: Types, attrs: Attrs) -> int:
    """An upper bound for every order of multiplication."""
    return max(1, sum(t.sizes[-1] for t in types[:-1]))


# --- of one matrix


def _square(types: Types) -> TensorType:
    (x,) = types
    require(x.rank >= 2 and x.sizes[-1] == x.sizes[-2], f"takes square matrices, not {x}")
    return x


def _square_operands(b: Builder) -> tuple[Value, ...]:
    def otherwise() -> TensorType:
        shape = b.shape(b.source.integer(2, 4))
        size = min(shape[-2:])
        return TensorType(b.dtype(ALL), (*shape[:-2], size, size))

    return (b.pick(lambda t: 2 <= t.rank <= 4 and t.sizes[-1] == t.sizes[-2], otherwise),)


def _matrix_power(types: Types, attrs: Attrs) -> TensorType:
    """Negative powers are powers of the inverse, which is ill-conditioned: they are not drawn."""
    x, n = _square(types), int_of(attrs, "n")
    require(n >= 0, "matrix_power: the power must not be negative")
    require(n < 2 or x.dtype is not DType.BOOL, "matrix_power: no product is defined for bool")
    return x


def _powers(source: ChoiceSource, types: Types) -> Attrs:
    most = {DType.BOOL: 1, DType.FLOAT16: 3}.get(types[0].dtype, 6)
    return {"n": source.integer(0, most)}


def _power_terms(types: Types, attrs: Attrs) -> int:
    return max(1, types[0].sizes[-1] * (int_of(attrs, "n") - 1))


def _trace(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    require_dtype(types, *NUMERIC)
    require(x.rank == 2, f"trace takes a matrix, not {x}")
    return TensorType(summed(x.dtype), ())


OPS = (
    Op(
        "linear",
        _linear_operands,
        _linear,
        "F.linear({args})",
        arity=(2, 3),
        terms=_inner,
        forms={Form.MODULE: Layer(_linear_layer, ("weight", "bias"), when=_is_layer)},
        arithmetic=Arithmetic.SUM,
        plainer="matmul",
        classes=(OperatorClass.MATRIX_PRODUCT,),
    ),
    Op(
        "matmul",
        _matmul_operands,
        _matmul,
        "torch.matmul({0}, {1})",
        arity=(2, 2),
        terms=_inner,
        forms={
            Form.FUNCTION: "torch.linalg.matmul({0}, {1})",
            Form.METHOD: "{0}.matmul({1})",
            Form.OPERATOR: "{0} @ {1}",
        },
        arithmetic=Arithmetic.SUM,
        classes=(OperatorClass.MATRIX_PRODUCT,),
    ),
    _product("mm", (2, 2)).of_class(OperatorClass.MATRIX_PRODUCT),
    _product("bmm", (3, 3)).of_class(OperatorClass.MATRIX_PRODUCT),
    _product("mv", (2, 1)),
    _product("dot", (1, 1)),
    _product("vdot", (1, 1)),
    _added("addmm", (2, 2)).of_class(OperatorClass.MATRIX_PRODUCT),
    _added("addbmm", (3, 3), over_batch=True),
    _added("baddbmm", (3, 3)).of_class(OperatorClass.MATRIX_PRODUCT),
    _added("addmv", (2, 1)),
    Op(
        "addr",
        _addr_operands,
        _addr,
        "torch.addr({args}{more})",
        _factors,
        {"beta": SCALAR, "alpha": SCALAR},
        {"beta": 1, "alpha": 1},
        arity=(3, 3),
        terms=lambda types, attrs: 2,
        forms={Form.METHOD: "{0}.addr({1}, {2}{more})", Form.INPLACE: "{0}.addr_({1}, {2}{more})"},
        arithmetic=Arithmetic.SUM,
    ),
    _chain("chain_matmul", 1, vectors=False),
    _chain("linalg_multi_dot", 2, vectors=True),
    Op(
        "matrix_power",
        _square_operands,
        _matrix_power,
        "torch.matrix_power({0}, {n})",
        _powers,
        {"n": INT},
        terms=_power_terms,
        forms={Form.FUNCTION: "torch.linalg.matrix_power({0}, {n})", Form.METHOD: "{0}.matrix_power({n})"},
    ),
    Op(
        "trace",
        lambda b: (b.tensor(NUMERIC, ranks=(2, 2)),),
        _trace,
        "torch.trace({0})",
        terms=lambda types, attrs: max(1, min(types[0].sizes)),
        forms={Form.METHOD: "{0}.trace()"},
        arithmetic=Arithmetic.SUM,
    ),
)
