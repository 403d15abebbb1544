"""Motifs: patterns of operators that optimisation passes rewrite, and that random choice seldom makes.

A motif adds its nodes to a builder, on values that it picks or makes. Random operators may come before and after it, so
that passes which change layouts or precision also have to handle these. `docs/motifs.md` describes each motif, and
`tests/generators/torch/test_motifs_tvm.py` checks that each pass in `triggers` changes the module. The motifs of
`varied_motifs` have other operands; `motif_table` has both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.builder import Builder
from generators.domain import POSITIVE, within
from generators.graph import Attr, DType, TensorType, Value
from generators.torch.ops import TABLE

F32 = DType.FLOAT32


@dataclass(frozen=True, slots=True)
class Motif:
    """A pattern of operators.

    build     adds it to a builder
    triggers  the passes of TVM that rewrite it
    """

    name: str
    build: Callable[[Builder], None]
    triggers: tuple[str, ...]

    def grow(self, builder: Builder) -> bool:
        """Add the motif and return True. Where it does not fit, add nothing and return False."""

        def build_within_limits() -> bool:
            self.build(builder)
            return len(builder.nodes) <= builder.limits.max_nodes

        return builder.attempt(build_within_limits)


def call(b: Builder, name: str, *args: Value, **attrs: Attr) -> Value:
    """Add one node and return its first result. Other attributes have their defaults."""
    op = TABLE[name]
    return b.emit(op, args, {**{key: op.defaults[key] for key in op.schema if key in op.defaults}, **attrs})[0]


# --- operands and parts of motifs


def image(b: Builder, channels: int = 0) -> Value:
    """Pick a batch of float32 images, of this many channels if the number is not 0."""
    count = channels or b.source.choice((1, 2, 3, 4, 8))
    side = b.source.choice((4, 5, 7, 8))
    return b.pick(
        lambda t: t.dtype is F32 and t.rank == 4 and min(t.sizes) > 0 and (not channels or t.sizes[1] == channels)
        and min(t.sizes[2:]) >= 3,
        lambda: TensorType(F32, (b.source.choice((1, 2)), count, side, side)),
    )  # fmt: skip


def matrix(b: Builder, rank: int = 2) -> Value:
    """Pick a float32 tensor of this rank without empty dimensions."""
    sizes = [b.source.choice((1, 2, 3, 4, 8, 16)) for _ in range(rank)]
    return b.pick(
        lambda t: t.dtype is F32 and t.rank == rank and min(t.sizes) > 0, lambda: TensorType(F32, tuple(sizes))
    )


def width(b: Builder) -> int:
    return b.source.choice((1, 2, 3, 4, 8, 15, 16, 17))


def convolved(b: Builder, x: Value, bias: bool = True) -> Value:
    channels, out = x.type.sizes[1], b.source.choice((1, 2, 3, 4, 8))
    kernel = b.source.choice((1, 3))
    owned = [b.param(F32, out, channels, kernel, kernel)] + ([b.param(F32, out)] if bias else [])
    stride = b.source.choice((1, 1, 2))
    return call(b, "conv2d", x, *owned, stride=(stride, stride), padding=(kernel // 2, kernel // 2), groups=1)


def activated(b: Builder, x: Value) -> Value:
    return call(b, b.source.choice(("relu", "sigmoid", "tanh", "silu", "gelu")), x)


# --- fusion


def _conv_bias_activation(b: Builder) -> None:
    activated(b, convolved(b, image(b)))


def _residual_block(b: Builder) -> None:
    """A convolution, the addition of its input, an activation: two nodes read the input."""
    x = image(b)
    channels = x.type.sizes[1]
    y = call(b, "conv2d", x, b.param(F32, channels, channels, 3, 3), padding=(1, 1), groups=1)
    activated(b, call(b, "add", y, x))


def _elementwise_chain(b: Builder) -> None:
    x = matrix(b, b.source.integer(1, 3))
    for name in b.source.shuffled(("relu", "sigmoid", "tanh", "neg", "abs"))[: b.source.integer(2, 4)]:
        x = call(b, name, x)


def _reduction_of_elementwise(b: Builder) -> None:
    x = matrix(b, 3)
    call(b, "sum", call(b, "mul", x, x), dim=(-1,), keepdim=b.source.chance(50))


# --- batch normalisation


def _conv_batch_norm(b: Builder) -> None:
    y = convolved(b, image(b), bias=b.source.chance(50))
    channels = y.type.sizes[1]
    statistics = b.buffer(F32, channels), b.buffer(F32, channels, domain=POSITIVE)
    y = call(b, "batch_norm", y, *statistics, b.param(F32, channels), b.param(F32, channels))
    if b.source.chance(50):
        activated(b, y)


# --- products of matrices


def _matmul_of_sum(b: Builder) -> None:
    x = matrix(b)
    inner, out = x.type.sizes[1], width(b)
    weight = call(b, "add", b.param(F32, inner, out), b.param(F32, inner, out))
    call(b, "matmul", x, weight)


def _low_rank_update(b: Builder) -> None:
    """x @ (w + a @ b), as in low-rank adapters of large models."""
    x = matrix(b)
    inner, out, rank = x.type.sizes[1], width(b), b.source.choice((1, 2))
    update = call(b, "matmul", b.param(F32, inner, rank), b.param(F32, rank, out))
    call(b, "matmul", x, call(b, "add", b.param(F32, inner, out), update))


def _matmul_chain(b: Builder) -> None:
    x = matrix(b)
    inner, middle, out = x.type.sizes[1], width(b), width(b)
    call(b, "matmul", call(b, "matmul", x, b.param(F32, inner, middle)), b.param(F32, middle, out))


def _transposed_matmul(b: Builder) -> None:
    x = matrix(b, b.source.choice((2, 3)))
    weight = b.param(F32, width(b), x.type.sizes[-1])
    call(b, "matmul", x, call(b, "transpose", weight, dim0=0, dim1=1))


def _parallel_matmuls(b: Builder) -> None:
    """Query, key and value of one input."""
    x = matrix(b, b.source.choice((2, 3)))
    inner = x.type.sizes[-1]
    widths = [width(b)] * 3 if b.source.chance(50) else [width(b) for _ in range(3)]
    for out in widths:
        y = call(b, "matmul", x, b.param(F32, inner, out))
        if b.source.chance(30):
            call(b, "add", y, b.param(F32, out))


def _take_after_matmul(b: Builder) -> None:
    x = matrix(b)
    inner, out, count = x.type.sizes[1], width(b), b.source.choice((1, 2, 4))
    indices = b.fresh_input(TensorType(DType.INT64, (count,)), domain=within(0, out - 1))
    call(b, "matmul", x, call(b, "index_select", b.param(F32, inner, out), indices, dim=1))


def _vector_times_matrix(b: Builder) -> None:
    inner = width(b)
    call(b, "matmul", b.fresh_input(TensorType(F32, (1, inner))), b.param(F32, inner, b.source.choice((16, 33, 64))))


def _linear_stack(b: Builder) -> None:
    x = matrix(b, b.source.choice((2, 3)))
    for _ in range(2):
        out = width(b)
        x = activated(b, call(b, "linear", x, b.param(F32, out, x.type.sizes[-1]), b.param(F32, out)))


# --- attention and normalisation


def _attention(b: Builder) -> None:
    """softmax(q k^T / sqrt(d)) v, written as separate operators."""
    batch, heads, length, depth = b.source.choice((1, 2)), b.source.choice((1, 2)), b.source.choice((3, 4, 7)), 4
    q, k, v = (b.fresh_input(TensorType(F32, (batch, heads, length, depth))) for _ in range(3))
    scores = call(b, "matmul", q, call(b, "transpose", k, dim0=-2, dim1=-1))
    call(b, "matmul", call(b, "softmax", call(b, "mul_scalar", scores, other=0.5), dim=-1), v)


def _fused_attention(b: Builder) -> None:
    shape = (b.source.choice((1, 2)), b.source.choice((1, 2)), b.source.choice((3, 4, 7)), 4)
    q, k, v = (b.fresh_input(TensorType(F32, shape)) for _ in range(3))
    call(b, "scaled_dot_product_attention", q, k, v)


def _layer_norm_by_parts(b: Builder) -> None:
    x = matrix(b, 3)
    centred = call(b, "sub", x, call(b, "mean", x, dim=(-1,), keepdim=True))
    variance = call(b, "mean", call(b, "mul", centred, centred), dim=(-1,), keepdim=True)
    normed = call(b, "mul", centred, call(b, "rsqrt", call(b, "add_scalar", variance, other=1e-3)))
    call(b, "mul", normed, b.param(F32, x.type.sizes[-1]))


def _rms_norm_by_parts(b: Builder) -> None:
    x = matrix(b, 3)
    size = call(b, "mean", call(b, "mul", x, x), dim=(-1,), keepdim=True)
    normed = call(b, "mul", x, call(b, "rsqrt", call(b, "add_scalar", size, other=1e-3)))
    call(b, "mul", normed, b.param(F32, x.type.sizes[-1]))


# --- layouts


def _conv_chain(b: Builder) -> None:
    """Two convolutions, and between them an operator that a change of layout has to adapt."""
    x = convolved(b, image(b))
    match b.source.integer(0, 3):
        case 0:
            x = activated(b, x)
        case 1:
            x = call(b, "add", x, b.param(F32, x.type.sizes[1], 1, 1))
        case 2:
            x = call(b, "mean", x, dim=(2, 3), keepdim=True)
        case _:
            x = call(b, "cat", x, x, dim=1)
    convolved(b, x)


def _conv_then_flatten(b: Builder) -> None:
    x = convolved(b, image(b))
    x = call(b, "reshape", x, shape=(x.type.sizes[0], x.type.numel // x.type.sizes[0]))
    call(b, "linear", x, b.param(F32, width(b), x.type.sizes[1]))


def _concat_of_permutes(b: Builder) -> None:
    x, y = (b.fresh_input(TensorType(F32, (size, 3))) for size in (2, b.source.choice((2, 4))))
    call(b, "cat", call(b, "permute", x, dims=(1, 0)), call(b, "permute", y, dims=(1, 0)), dim=1)


def _reshape_chain(b: Builder) -> None:
    x = matrix(b, 3)
    first, second, third = x.type.sizes
    y = call(b, "reshape", x, shape=(first * second, third))
    call(b, "reshape", y, shape=(first, second * third) if b.source.chance(50) else (first, second, third))


def _permutes_back_and_forth(b: Builder) -> None:
    x = matrix(b, 3)
    call(b, "permute", call(b, "permute", x, dims=(2, 0, 1)), dims=(1, 2, 0))


# --- values


def _common_subexpressions(b: Builder) -> None:
    x = matrix(b, 2)
    call(b, "mul", call(b, "tanh", x), call(b, "tanh", x))


def _dead_value(b: Builder) -> None:
    """A result that is neither read nor an output."""
    x = matrix(b, 2)
    b.drop(call(b, "exp", call(b, "tanh", x)))
    call(b, "relu", x)


def _constant_subgraph(b: Builder) -> None:
    """A weight that depends on parameters only. Passes fold it, or lift it out of the model."""
    x = matrix(b, 2)
    weight = call(b, "transpose", b.param(F32, width(b), x.type.sizes[-1]), dim0=0, dim1=1)
    call(b, "matmul", x, call(b, "mul_scalar", weight, other=2.0))


def _inplace_chain(b: Builder) -> None:
    """Temporaries of one type, whose memory can be reused."""
    x = b.fresh_input(TensorType(F32, (8, 8)))
    y = call(b, "add", x, x)
    for name in ("neg", "abs", "relu"):
        y = call(b, "add", call(b, name, y), y)


def _fast_math(b: Builder) -> None:
    x = matrix(b, 2)
    call(b, b.source.choice(("exp", "tanh", "erf")), call(b, "clamp", x, min=-4.0, max=4.0))


def _branches(b: Builder) -> None:
    """torch.cond: a predicate decides which of two functions runs."""
    predicate = b.fresh_input(TensorType(DType.BOOL, ()))
    call(b, "cond", predicate, matrix(b), predicate="value", then="tanh", other="sin")


FUSION = ("FuseOps", "FuseTIR")

PLAIN_MOTIFS: tuple[Motif, ...] = (
    Motif("conv_bias_activation", _conv_bias_activation, (*FUSION, "FuseOpsByPattern")),
    Motif("residual_block", _residual_block, FUSION),
    Motif("elementwise_chain", _elementwise_chain, FUSION),
    Motif("reduction_of_elementwise", _reduction_of_elementwise, (*FUSION, "dlight.Reduction")),
    Motif("conv_batch_norm", _conv_batch_norm, ("FoldBatchnormToConv2D", "DecomposeOpsForInference")),
    Motif("matmul_of_sum", _matmul_of_sum, ("ExpandMatmulOfSum",)),
    Motif("low_rank_update", _low_rank_update, ("ExpandMatmulOfSum",)),
    Motif("matmul_chain", _matmul_chain, ("AdjustMatmulOrder", "dlight.Matmul")),
    Motif("transposed_matmul", _transposed_matmul, ("FuseTransposeMatmul",)),
    Motif("parallel_matmuls", _parallel_matmuls, ("CombineParallelMatmul",)),
    Motif("take_after_matmul", _take_after_matmul, ("ReorderTakeAfterMatmul",)),
    Motif("vector_times_matrix", _vector_times_matrix, ("dlight.Reduction",)),
    Motif("linear_stack", _linear_stack, ("ToMixedPrecision", *FUSION, "FuseOpsByPattern")),
    Motif("attention", _attention, ("ToMixedPrecision", "FastMathTransform", "dlight.GeneralReduction")),
    Motif("fused_attention", _fused_attention, ("LegalizeOps",)),
    Motif("layer_norm_by_parts", _layer_norm_by_parts, (*FUSION, "dlight.GeneralReduction")),
    Motif("rms_norm_by_parts", _rms_norm_by_parts, (*FUSION, "dlight.GeneralReduction")),
    Motif("conv_chain", _conv_chain, ("ConvertLayout", "dlight.GEMV")),
    Motif("conv_then_flatten", _conv_then_flatten, ("ConvertLayout", "RewriteDataflowReshape")),
    Motif("concat_of_permutes", _concat_of_permutes, ("ReorderPermuteDimsAfterConcat",)),
    Motif("reshape_chain", _reshape_chain, ("RemoveRedundantReshape",)),
    Motif("permutes_back_and_forth", _permutes_back_and_forth, ("dlight.Transpose",)),
    Motif("common_subexpressions", _common_subexpressions, ("EliminateCommonSubexpr",)),
    Motif("dead_value", _dead_value, ("DeadCodeElimination",)),
    Motif("constant_subgraph", _constant_subgraph, ("FoldConstant", "LiftTransformParams")),
    Motif("inplace_chain", _inplace_chain, ("DataflowUseInplaceCalls", "StaticPlanBlockMemory")),
    Motif("fast_math", _fast_math, ("FastMathTransform",)),
    Motif("branches", _branches, ("ConvertToDataflow", "CanonicalizeBindings", "LegalizeOps")),
)
