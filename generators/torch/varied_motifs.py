"""The motifs of `motifs` with other operands: vectors, batches, open sizes, half and double precision, and biases of
every shape that broadcasts.

A pass that looks for a pattern may assume a rank, a dtype or a shape of its operands. `docs/motifs.md` describes each.
"""

from __future__ import annotations

from generators.builder import Builder
from generators.domain import POSITIVE, within
from generators.graph import DType, TensorType, Value
from generators.torch.motifs import FUSION, Motif, activated, call

DTYPES = (DType.FLOAT32, DType.FLOAT32, DType.FLOAT32, DType.FLOAT16, DType.FLOAT16, DType.BFLOAT16, DType.FLOAT64)
SIZES = (1, 2, 3, 4, 5)
LARGEST_OPEN = 21
WIDTHS = (1, 2, 3, 4, 5, 8, 16)
CHANNELS = (1, 2, 3, 4, 8)


def dtype(b: Builder) -> DType:
    return b.source.choice(DTYPES)


def size(b: Builder) -> int:
    """A size of an input: mostly an open one, where the case has these."""
    return b.symbolic_size(LARGEST_OPEN, 85) or b.source.choice(SIZES)


def given(b: Builder, dtype: DType, *shape: int) -> Value:
    """An input of the model."""
    return b.fresh_input(TensorType(dtype, shape))


def narrowed(b: Builder, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts to this one: without some of the first dimensions, and with 1 in place of others."""
    kept = shape[b.source.integer(0, len(shape)) :]
    return tuple([1 if b.source.chance(30) else each for each in kept])


def owned(b: Builder, dtype: DType, shape: tuple[int, ...]) -> Value:
    """A parameter; an input where the shape has an open size, which no parameter may have here."""
    if any(type(each) is not int for each in shape):
        return given(b, dtype, *shape)
    return b.param(dtype, *shape) if b.source.chance(75) else given(b, dtype, *shape)


def biased(b: Builder, x: Value) -> Value:
    """Add a bias of any shape that broadcasts, as the first or the second operand."""
    bias = owned(b, x.type.dtype, narrowed(b, x.type.sizes))
    return call(b, "add", *((x, bias) if b.source.chance(70) else (bias, x)))


def rows(b: Builder, dtype: DType, inner: int) -> Value:
    """The left operand of a product of matrices: a vector, a matrix or a batch of matrices."""
    return given(b, dtype, *[size(b) for _ in range(b.source.integer(1 if b.symbols else 0, 2))], inner)


def width(b: Builder) -> int:
    return b.source.choice(WIDTHS)


# --- products of matrices


def _matmul_of_sum(b: Builder) -> None:
    """x @ (a + c), where c broadcasts to a."""
    kind, inner, out = dtype(b), width(b), width(b)
    x, a = rows(b, kind, inner), owned(b, kind, (inner, out))
    call(b, "matmul", x, biased(b, a))


def _low_rank_update(b: Builder) -> None:
    """x @ (w + a @ b), where w broadcasts to the product."""
    kind, inner, out, rank = dtype(b), width(b), width(b), b.source.choice((1, 2))
    x = rows(b, kind, inner)
    update = call(b, "matmul", owned(b, kind, (inner, rank)), owned(b, kind, (rank, out)))
    call(b, "matmul", x, biased(b, update))


def _matmul_chain(b: Builder) -> None:
    """(x @ a) @ c or x @ (a @ c), where x or c may be a vector, or a batch of matrices."""
    kind, inner, middle, out = dtype(b), width(b), width(b), width(b)
    x, a = rows(b, kind, inner), owned(b, kind, (inner, middle))
    batch = 2 if x.type.rank < 3 else 1
    c = owned(b, kind, b.source.choice(((middle, out), (middle,), (batch, middle, out))))
    if b.source.chance(50):
        call(b, "matmul", call(b, "matmul", x, a), c)
    else:
        call(b, "matmul", x, call(b, "matmul", a, c))


def _transposed_matmul(b: Builder) -> None:
    """x @ w.T, where w may be a batch of matrices."""
    kind, inner = dtype(b), width(b)
    batch = () if b.source.chance(60) else (b.source.choice((1, 2)),)
    weight = owned(b, kind, (*batch, width(b), inner))
    rows_of_x = (size(b),) if b.source.chance(75) else ()
    x = given(b, kind, *(batch if rows_of_x else ()), *rows_of_x, inner)
    call(b, "matmul", x, call(b, "transpose", weight, dim0=-1, dim1=-2))


def _parallel_matmuls(b: Builder) -> None:
    """Two or three products of one input, with biases of any shape on all, some or none."""
    kind, inner, out = dtype(b), width(b), width(b)
    x, same = rows(b, kind, inner), b.source.chance(60)
    all_biased, some_biased = b.source.chance(40), b.source.chance(50)
    for _ in range(b.source.integer(2, 3)):
        y = call(b, "matmul", x, b.param(kind, inner, out if same else width(b)))
        if all_biased or (some_biased and b.source.chance(50)):
            biased(b, y)


def _take_after_matmul(b: Builder) -> None:
    """x @ take(w, indices) along the columns or the rows of w."""
    kind, inner, out, count = dtype(b), width(b), width(b), b.source.choice((1, 2, 4))
    dim = b.source.choice((0, 1, -1))
    taken, rest = (inner, out) if dim == 0 else (out, inner)
    indices = b.fresh_input(TensorType(DType.INT64, (count,)), domain=within(0, taken - 1))
    weight = owned(b, kind, (taken, rest) if dim == 0 else (rest, taken))
    x = rows(b, kind, count if dim == 0 else inner)
    call(b, "matmul", x, call(b, "index_select", weight, indices, dim=dim))


def _linear_stack(b: Builder) -> None:
    """Linear layers whose biases are separate additions of any shape."""
    x = rows(b, dtype(b), width(b))
    for _ in range(2):
        x = call(b, "linear", x, owned(b, x.type.dtype, (width(b), x.type.sizes[-1])))
        x = activated(b, biased(b, x))


# --- convolutions


def _conv_bias(b: Builder) -> None:
    """A convolution, with or without a batch, and a bias of any shape."""
    kind, channels, out = dtype(b), b.source.choice(CHANNELS), b.source.choice(CHANNELS)
    batch = (size(b),) if b.source.chance(80) else ()
    x = given(b, kind, *batch, channels, *(b.source.choice((3, 4, 5)) for _ in range(2)))
    weight = b.param(kind, out, channels, *(b.source.choice((1, 3)) for _ in range(2)))
    activated(b, biased(b, call(b, "conv2d", x, weight)))


def _conv_batch_norm(b: Builder) -> None:
    """A convolution, perhaps with a bias, and a batch normalisation with weight and bias, a weight, or neither."""
    kind, channels, out = dtype(b), b.source.choice(CHANNELS), b.source.choice(CHANNELS)
    x = given(b, kind, size(b), channels, *(b.source.choice((3, 4, 5)) for _ in range(2)))
    bias = [b.param(kind, out)] if b.source.chance(50) else []
    y = call(b, "conv2d", x, b.param(kind, out, channels, *(3 for _ in range(2))), *bias)
    statistics = b.buffer(kind, out), b.buffer(kind, out, domain=POSITIVE)
    affine = [b.param(kind, out) for _ in range(b.source.choice((0, 1, 2, 2)))]
    call(b, "batch_norm", y, *statistics, *affine)


# --- attention, normalisation, layouts


def _attention(b: Builder) -> None:
    """softmax(q k^T / c + mask) v of rank 2 to 4, with a mask of any shape."""
    kind, length, depth = dtype(b), size(b), b.source.choice((1, 4, 5))
    lead = [b.source.choice((1, 2)) for _ in range(b.source.integer(0, 2))]
    q, k, v = (given(b, kind, *lead, length, depth) for _ in range(3))
    scores = call(b, "matmul", q, call(b, "transpose", k, dim0=-2, dim1=-1))
    scores = call(b, "mul_scalar", scores, other=0.5)
    if b.source.chance(70):
        scores = biased(b, scores)
    call(b, "matmul", call(b, "softmax", scores, dim=-1), v)


def _norm_by_parts(b: Builder) -> None:
    """Mean, variance, scale and shift over any axis of any rank from 1 on."""
    kind, rank = dtype(b), b.source.integer(1, 4)
    x = given(b, kind, *[size(b) for _ in range(rank)])
    dim = (b.source.integer(-rank, rank - 1),)
    centred = call(b, "sub", x, call(b, "mean", x, dim=dim, keepdim=True))
    variance = call(b, "mean", call(b, "mul", centred, centred), dim=dim, keepdim=True)
    normed = call(b, "mul", centred, call(b, "rsqrt", call(b, "add_scalar", variance, other=1e-2)))
    scale = owned(b, kind, narrowed(b, x.type.sizes))
    call(b, "mul", normed, scale)


def _concat_of_permutes(b: Builder) -> None:
    """cat of two or three tensors that are permuted alike, of rank 2 to 4, along any axis."""
    kind, rank = dtype(b), b.source.integer(2, 4)
    shape, axis, dims = [size(b) for _ in range(rank)], b.source.integer(0, rank - 1), b.source.shuffled(range(rank))
    parts = []
    for _ in range(b.source.integer(2, 3)):
        shape[axis] = b.source.choice((1, 2, 4))
        parts.append(call(b, "permute", given(b, kind, *shape), dims=tuple(dims)))
    along = dims.index(axis)
    call(b, "cat", *parts, dim=along if b.source.chance(60) else along - rank)


VARIED_MOTIFS: tuple[Motif, ...] = (
    Motif("matmul_of_varied_sum", _matmul_of_sum, ("ExpandMatmulOfSum",)),
    Motif("varied_low_rank_update", _low_rank_update, ("ExpandMatmulOfSum",)),
    Motif("varied_matmul_chain", _matmul_chain, ("AdjustMatmulOrder",)),
    Motif("varied_transposed_matmul", _transposed_matmul, ("FuseTransposeMatmul",)),
    Motif("varied_parallel_matmuls", _parallel_matmuls, ("CombineParallelMatmul",)),
    Motif("varied_take_after_matmul", _take_after_matmul, ("ReorderTakeAfterMatmul",)),
    Motif("varied_linear_stack", _linear_stack, ("ToMixedPrecision", *FUSION, "FuseOpsByPattern")),
    Motif("conv_varied_bias", _conv_bias, (*FUSION, "ConvertLayout", "FuseOpsByPattern")),
    Motif("varied_conv_batch_norm", _conv_batch_norm, ("FoldBatchnormToConv2D", "DecomposeOpsForInference")),
    Motif("varied_attention", _attention, ("ToMixedPrecision", "FastMathTransform")),
    Motif("varied_norm_by_parts", _norm_by_parts, FUSION),
    Motif("varied_concat_of_permutes", _concat_of_permutes, ("ReorderPermuteDimsAfterConcat",)),
)
