"""Motifs of ONNX: patterns of nodes that exporters and optimisers write, and that random choice seldom makes.

A motif fits from one opset on, because older ones lack operators of it. Random operators may come before and after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.builder import Builder
from generators.domain import POSITIVE, within
from generators.graph import Attr, DType, Form, Role, TensorType, Value
from generators.onnx.guard import finite
from generators.onnx.operator import INPUTS, OUTPUTS, NodeForm
from generators.onnx.ops.operands import tensor_of_model
from generators.onnx.rows import at_opset
from generators.undefined import convertible

F32, I8, U8, I64 = DType.FLOAT32, DType.INT8, DType.UINT8, DType.INT64


@dataclass(frozen=True, slots=True)
class Motif:
    """A pattern of nodes.

    source  the exporter or optimiser that writes it
    build   adds it to a builder
    since   the first opset that has all its operators
    """

    name: str
    source: str
    build: Callable[[Builder], None]
    since: int = 7

    def grow(self, builder: Builder) -> bool:
        """Add the motif and return True. Where it does not fit, add nothing and return False."""

        def build_within_limits() -> bool:
            self.build(builder)
            return len(builder.nodes) <= builder.limits.max_nodes

        return builder.opset >= self.since and builder.attempt(build_within_limits)


def call(b: Builder, name: str, *args: Value, form: Form = Form.PLAIN, **attrs: Attr) -> Value:
    """Add one node at the builder's opset and return its first result. Attributes that are not named are left out, and
    so are the last operands and all results but the first."""
    row = at_opset(name, b.opset)
    assert isinstance(row.source, NodeForm)
    given: dict[str, Attr] = dict.fromkeys(row.schema)
    if INPUTS in row.schema:
        given[INPUTS] = tuple(place < len(args) for place in range(len(row.source.operands)))
    if OUTPUTS in row.schema:
        given[OUTPUTS] = tuple(place == 0 for place in range(len(row.source.schema.outputs)))
    known = {key: value for key, value in attrs.items() if key in row.schema}
    return b.emit(row, args, given | known, form)[0]


# --- operands


def image(b: Builder, *, channels_last: bool = False) -> Value:
    """A new batch of float32 images, with three to eight pixels a side."""
    batch, channels, side = b.source.choice((1, 2)), b.source.choice((1, 2, 3, 4, 8)), b.source.integer(3, 8)
    shape = (batch, side, side, channels) if channels_last else (batch, channels, side, side)
    return b.pick(
        lambda t: t.dtype is F32 and t.rank == 4 and min(t.sizes) > 0 and min(t.sizes[2:]) >= 3 and not channels_last,
        lambda: TensorType(F32, shape),
    )


def rows(b: Builder, rank: int = 2) -> Value:
    """A float32 tensor of this rank without empty dimensions."""
    shape = tuple(b.source.choice((1, 2, 3, 4, 8, 16)) for _ in range(rank))
    return b.pick(lambda t: t.dtype is F32 and t.rank == rank and min(t.sizes) > 0, lambda: TensorType(F32, shape))


def weight(b: Builder, *shape: int) -> Value:
    return tensor_of_model(b, F32, *shape)


def positive(b: Builder) -> Value:
    """A positive number of the model: an epsilon, a scale."""
    return b.fresh_input(TensorType(F32, ()), Role.PARAM, POSITIVE)


def number(b: Builder, value: int) -> Value:
    """A number of the model."""
    return b.fresh_input(TensorType(F32, ()), Role.PARAM, within(value, value))


def convolved(b: Builder, x: Value, *, bias: bool = True) -> Value:
    channels, out, kernel = x.type.sizes[1], b.source.choice((1, 2, 3, 4, 8)), b.source.choice((1, 3))
    owned = [weight(b, out, channels, kernel, kernel), *([weight(b, out)] if bias else [])]
    around = (kernel // 2,) * 4
    return call(b, "Conv", x, *owned, pads=around, strides=b.source.choice(((1, 1), (2, 2))))


# --- of tf2onnx


def _channels_last(b: Builder) -> None:
    """TensorFlow has the channels last: a convolution stands between two transposes."""
    x = call(b, "Transpose", image(b, channels_last=True), perm=(0, 3, 1, 2))
    y = convolved(b, x, bias=b.source.chance(50))
    y = call(b, b.source.choice(("Relu", "Sigmoid", "LeakyRelu", "Tanh")), y)
    call(b, "Transpose", y, perm=(0, 2, 3, 1))


def _bias_apart(b: Builder) -> None:
    """The bias of a convolution as an addition of its own, with the channels last."""
    y = convolved(b, image(b), bias=False)
    y = call(b, "Transpose", y, perm=(0, 2, 3, 1))
    call(b, "Add", y, weight(b, y.type.sizes[3]))


def _batch_norm(b: Builder) -> None:
    y = convolved(b, image(b), bias=b.source.chance(50))
    channels = y.type.sizes[1]
    variance = b.fresh_input(TensorType(F32, (channels,)), Role.PARAM, POSITIVE)
    y = call(b, "BatchNormalization", y, weight(b, channels), weight(b, channels), weight(b, channels), variance)
    call(b, "Relu", y)


# --- of quantisers


def _quantised(b: Builder, x: Value, zero: DType) -> Value:
    """A tensor that is quantised and dequantised again."""
    scale = positive(b)
    point = b.fresh_input(TensorType(zero, ()), Role.PARAM, within(0, 3))
    q = call(b, "QuantizeLinear", x, scale, point)
    return call(b, "DequantizeLinear", q, scale, point)


def _quantised_matmul(b: Builder) -> None:
    """A product of quantised matrices, whose result is quantised too."""
    x = rows(b)
    w = b.fresh_input(TensorType(I8, (x.type.sizes[1], b.source.choice((1, 3, 8)))), Role.PARAM)
    dense = call(b, "DequantizeLinear", w, positive(b))
    _quantised(b, call(b, "MatMul", _quantised(b, x, U8), dense), U8)


def _quantised_conv(b: Builder) -> None:
    """A convolution whose weight is quantised for each channel."""
    x = image(b)
    channels, out = x.type.sizes[1], b.source.choice((1, 2, 4))
    w = b.fresh_input(TensorType(I8, (out, channels, 3, 3)), Role.PARAM)
    scales = b.fresh_input(TensorType(F32, (out,)), Role.PARAM, POSITIVE)
    dense = call(b, "DequantizeLinear", w, scales, axis=0)
    y = call(b, "Conv", _quantised(b, x, U8), dense, pads=(1, 1, 1, 1))
    _quantised(b, call(b, "Relu", y), U8)


# --- of transformers


def _attention(b: Builder) -> None:
    """softmax(q k^T / c + mask) v, as torch.onnx and tf2onnx write it."""
    x = rows(b, 3)
    batch, length, width = x.type.sizes
    k = b.fresh_input(TensorType(F32, (batch, length, width)))
    scores = call(b, "MatMul", x, call(b, "Transpose", k, perm=(0, 2, 1)))
    scores = call(b, b.source.choice(("Div", "Mul")), scores, positive(b))
    if b.source.chance(50):
        scores = call(b, "Add", scores, b.fresh_input(TensorType(F32, (length, length))))
    call(b, "MatMul", call(b, "Softmax", scores, axis=-1 if b.opset >= 11 else 2), x)


def _layer_norm_by_parts(b: Builder) -> None:
    """The pattern that onnxruntime's optimiser makes a LayerNormalization of."""
    x = rows(b, b.source.integer(2, 3))
    last = -1 if b.opset >= 11 else x.type.rank - 1
    centred = call(b, "Sub", x, call(b, "ReduceMean", x, axes=(last,), keepdims=1))
    variance = call(b, "ReduceMean", call(b, "Mul", centred, centred), axes=(last,), keepdims=1)
    y = call(b, "Div", centred, call(b, "Sqrt", call(b, "Add", variance, positive(b))))
    call(b, b.source.choice(("Mul", "Add")), y, weight(b, x.type.sizes[-1]))


def _gelu_by_parts(b: Builder) -> None:
    """x (1 + erf(x / c)) / 2, as exporters write GELU."""
    x = rows(b, b.source.integer(1, 3))
    y = call(b, "Erf", call(b, "Div", x, positive(b)))
    call(b, "Mul", call(b, "Mul", x, call(b, "Add", y, number(b, 1))), positive(b))


def _embedding(b: Builder) -> None:
    """Rows of a table by indices, normalised."""
    count, width = b.source.integer(2, 9), b.source.choice((2, 4, 8))
    indices = b.fresh_input(TensorType(I64, (1, b.source.integer(1, 5))), Role.INPUT, within(0, count - 1))
    y = call(b, "Gather", weight(b, count, width), indices)
    call(b, "LayerNormalization", y, weight(b, width), weight(b, width), axis=-1)


def _heads(b: Builder) -> None:
    """A width is split into heads and put together again, with sizes that are computed from the shape."""
    x = rows(b, 3)
    batch, length, width = x.type.sizes
    heads = next(n for n in (4, 3, 2, 1) if width % n == 0)
    computed = Form.COMPUTED if not b.symbols and b.opset >= 9 else Form.PLAIN
    y = call(b, "Reshape", x, shape=(batch, length, heads, width // heads), form=computed)
    y = call(b, "Transpose", y, perm=(0, 2, 1, 3))
    y = call(b, "Transpose", y, perm=(0, 2, 1, 3))
    call(b, "Reshape", y, shape=(batch, length, width), form=computed)


# --- of torch.onnx and others


def _hard_swish_by_parts(b: Builder) -> None:
    x = rows(b, b.source.integer(1, 4))
    y = call(b, "Add", x, number(b, 3))
    call(b, "Div", call(b, "Mul", x, call(b, "Clip", y, min=0.0, max=6.0)), number(b, 6))


def _casts(b: Builder) -> None:
    """A chain of conversions that keeps or loses digits."""
    x = rows(b, b.source.integer(1, 3))
    for _ in range(b.source.integer(2, 4)):
        to = b.source.choice(("float16", "float64", "float32", "int32", "int64"))
        x = finite(b, x, *convertible(DType.INT8)) if x.type.dtype.is_float and not DType(to).is_float else x
        x = call(b, "Cast", x, to=to)


def _shuffled_channels(b: Builder) -> None:
    """The channel shuffle of ShuffleNet: reshape, transpose, reshape."""
    x = image(b)
    batch, channels, *sides = x.type.sizes
    groups = 2 if channels % 2 == 0 else 1
    y = call(b, "Reshape", x, shape=(batch, groups, channels // groups, *sides))
    y = call(b, "Transpose", y, perm=(0, 2, 1, 3, 4))
    call(b, "Reshape", y, shape=(batch, -1, *sides))


def _gated_split(b: Builder) -> None:
    """x[:half] * sigmoid(x[half:]), as in gated linear units."""
    x = rows(b, 2)
    width = x.type.sizes[1]
    if width % 2:
        x, width = call(b, "Concat", x, x, axis=1), 2 * width
    first, second = (
        call(b, "Slice", x, starts=(start,), ends=(start + width // 2,), axes=(1,), Tind="int64")
        for start in (0, width // 2)
    )
    call(b, "Mul", first, call(b, "Sigmoid", second))


MOTIFS: tuple[Motif, ...] = (
    Motif("channels_last", "tf2onnx", _channels_last),
    Motif("bias_apart", "tf2onnx", _bias_apart),
    Motif("batch_norm", "tf2onnx, torch.onnx", _batch_norm, 9),
    Motif("quantised_matmul", "onnxruntime's quantiser", _quantised_matmul, 10),
    Motif("quantised_conv", "onnxruntime's quantiser", _quantised_conv, 13),
    Motif("attention", "torch.onnx, tf2onnx", _attention),
    Motif("layer_norm_by_parts", "torch.onnx; fused by onnxruntime's optimiser", _layer_norm_by_parts),
    Motif("gelu_by_parts", "torch.onnx", _gelu_by_parts, 9),
    Motif("embedding", "torch.onnx", _embedding, 17),
    Motif("heads", "torch.onnx", _heads),
    Motif("hard_swish_by_parts", "torch.onnx", _hard_swish_by_parts),
    Motif("casts", "torch.onnx, converters to float16", _casts),
    Motif("shuffled_channels", "torch.onnx", _shuffled_channels),
    Motif("gated_split", "torch.onnx", _gated_split),
)
