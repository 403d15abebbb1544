"""Activations: functions of one number at a time with attributes or a bias, and those of the softmax family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attr, Attrs, DType, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import Constant, Operator, Results
from generators.onnx.ops.axes import axis_in, some_axis
from generators.onnx.ops.elementwise import one_term
from generators.onnx.ops.operands import float32, one, same_type, tensor, tensor_of_model, thinned
from generators.onnx.ops.pairs import two_terms
from generators.onnx.schema import MICROSOFT, Schema
from generators.op import BOOL, NUMBER, Arithmetic, one_of, require
from generators.shared.sizes import broadcast, product

Draw = Callable[[ChoiceSource, Call], Attrs]


def _drawn(**options: Sequence[Attr]) -> Draw:
    """Draws each attribute independently: the default half of the time."""
    return lambda source, call: {
        name: call.schema.attributes[name].default if source.chance(50) else source.choice(some)
        for name, some in options.items()
    }


def _function(
    name: str,
    draw: Draw = lambda source, call: {},
    *,
    scale: float = 0.0,
    arithmetic: Arithmetic = Arithmetic.FUNCTION,
) -> Operator:
    return Operator(name, one(), same_type, draw, terms=one_term, scale=scale, arithmetic=arithmetic, plainer="Tanh")


# --- what readers lack


def _no_double(name: str, scale: float) -> Operator:
    """A function that onnxruntime computes by others, which have no kernel for float64."""

    def operands(b: Builder, schema: Schema) -> Sequence[Value]:
        return (b.tensor([dtype for dtype in schema.dtypes("X") if dtype is not DType.FLOAT64]),)

    def infer(call: Call) -> TensorType:
        require(call.first.dtype is not DType.FLOAT64, f"onnxruntime has no {name} of float64")
        return call.first

    return Operator(name, operands, infer, terms=one_term, scale=scale, plainer="Tanh")


def _with_dimensions(call: Call) -> TensorType:
    """The interpreter of onnx cannot compute Softsign of a 0-d tensor."""
    require(call.first.rank > 0, "the interpreter of onnx has no Softsign of rank 0")
    return call.first


# --- Shrink


def _shrink(call: Call) -> TensorType:
    """onnx does not say how a fraction is added to an integer."""
    require(call.first.dtype.is_float or call.number("bias").is_integer(), "the bias of integers is an integer")
    return call.first


def _shrink_attributes(source: ChoiceSource, call: Call) -> Attrs:
    biases = (0.0, 1.0, 2.0) if call.first.dtype is DType.UINT8 else (0.0, 0.5, 1.0, -2.0, float32(0.1), 1.5)
    wanted = [bias for bias in biases if call.first.dtype.is_float or bias.is_integer()]
    return {"bias": source.choice(wanted), "lambd": source.choice((0.5, 0.5, 0.0, 1.0, 2.0, 1.5, float32(0.1)))}


# --- operands with a slope or a bias


def _with_slope(b: Builder, schema: Schema) -> Sequence[Value]:
    """The slope broadcasts to the operand: one number, one for each channel, or any shape that fits."""
    x = tensor(b, schema, "X")
    sizes, dtype = x.type.sizes, x.type.dtype
    shapes = [(), (1,), sizes[-1:], thinned(b, sizes), sizes]
    if len(sizes) > 1:
        shapes.append((sizes[1], *(1 for _ in sizes[2:])))
    return x, tensor_of_model(b, dtype, *b.source.choice(shapes))


def _prelu(call: Call) -> TensorType:
    x, slope = call["X"], call["slope"]
    require(broadcast(x.sizes, slope.sizes) == x.sizes, f"the slope {slope} does not broadcast to {x}")
    return x


def _with_bias(b: Builder, schema: Schema) -> Sequence[Value]:
    x = tensor(b, schema, schema.inputs[0].name, (1, 5))
    if schema.inputs[1].optional and b.source.chance(40):
        return (x,)
    return x, tensor_of_model(b, x.type.dtype, x.type.sizes[-1])


def _biased(call: Call) -> TensorType:
    x = call.first
    for bias in call.types[1:]:
        require(x.rank > 0 and bias.sizes == x.sizes[-1:], f"the bias {bias} has not the last size of {x}")
    return x


def _biased_gelu(name: str, plainer: str | None) -> Operator:
    return Operator(name, _with_bias, _biased, domain=MICROSOFT, terms=two_terms, scale=4.0, plainer=plainer)


# --- the softmax family


def _normalised(call: Call) -> TensorType:
    axis_in(call)
    return call.first


def _some_axis(source: ChoiceSource, call: Call) -> Attrs:
    require(call.first.rank > 0, "takes a rank above 0")
    return {"axis": some_axis(source, call)}


def _summed_numbers(call: Call) -> int:
    """How many numbers each sum has: those from the axis on, before opset 13."""
    first = axis_in(call)
    sizes = call.first.sizes[first:] if call.schema.since < 13 else call.first.sizes[first : first + 1]
    return max(1, product(sizes))


def _softmax(name: str, scale: float, plainer: str | None) -> Operator:
    return Operator(
        name,
        one((1, 5)),
        _normalised,
        _some_axis,
        terms=_summed_numbers,
        scale=scale,
        arithmetic=Arithmetic.FUNCTION_IN_ANY,
        plainer=plainer,
    )


# --- Dropout


def _dropout(call: Call) -> Results:
    """Dropout in training is random unless its ratio is 0. Before opset 12 the mask is defined for training only."""
    ratio = call.number("ratio") if call.attr("ratio") is not None else 0.5
    require(0 <= ratio < 1, f"ratio {ratio} is not within 0 and 1")
    require(not call.attr("training_mode") or ratio == 0, "the result of training is random")
    return call.first, call.first.with_dtype(DType.BOOL) if call.schema.since >= 12 else None


def _dropout_attributes(source: ChoiceSource, call: Call) -> Attrs:
    ratio = source.choice((0.5, 0.0, float32(0.1), 0.25, 0.875))
    if not call.has("training_mode"):
        return {"ratio": ratio}
    training = source.choice((None, None, False, True))
    return {
        "ratio": 0.0 if training else source.choice((None, ratio)),
        "training_mode": training,
        "seed": source.choice((None, None, 0, 7, 2**31 - 1)),
    }


def _with_a_factor(operator: Operator) -> Operator:
    """The operator multiplies by `alpha`. Where that is 0, an implementation may skip the product."""
    return replace(operator, multiplies_by_zero=lambda call: call.number("alpha") == 0)


def _one_with_axes(b: Builder, schema: Schema) -> tuple[Value, ...]:
    return (tensor(b, schema, schema.inputs[0].name, (1, 5)),)


OPERATORS: tuple[Operator, ...] = (
    Operator("Relu", one(), same_type, plainer="Abs"),
    _function("Sigmoid", scale=1.0),
    _with_a_factor(
        _function(
            "LeakyRelu",
            _drawn(alpha=(0.125, float32(0.2), -0.5, 0.0, 1.0, 2.0)),
            arithmetic=Arithmetic.EXACT_WHERE_HELD,
        )
    ),
    _function("Elu", _drawn(alpha=(0.5, 2.0, -0.5, 0.0)), scale=1.0),
    _function("Selu", _drawn(alpha=(1.0, 0.5, 2.0, -0.5), gamma=(1.0, 0.5, 2.0, -0.5)), scale=1.0),
    _with_a_factor(
        _function(
            "HardSigmoid", _drawn(alpha=(0.125, 1.0, 0.0, -0.5, float32(1 / 6)), beta=(0.0, 0.25, 1.0)), scale=1.0
        )
    ),
    _no_double("HardSwish", scale=1.0),
    _function("Softplus", scale=1.0),
    Operator("Softsign", one((1, 5)), _with_dimensions, terms=one_term, plainer="Tanh"),
    _no_double("Mish", scale=4.0),
    Operator(
        "Gelu",
        one(),
        same_type,
        _drawn(approximate=("none", "tanh")),
        kinds={"approximate": one_of("none", "tanh")},
        terms=one_term,
        scale=4.0,  # x times a term that cancels where x is far from zero
        plainer="Tanh",
    ),
    _biased_gelu("FastGelu", "Gelu"),
    _biased_gelu("BiasGelu", "FastGelu"),
    Operator("ThresholdedRelu", one(), same_type, _drawn(alpha=(0.5, 0.0, 2.0, -1.0, float32(0.1))), plainer="Tanh"),
    Operator(
        "Shrink",
        one(),
        _shrink,
        _shrink_attributes,
        terms=one_term,
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
        scale=1.0,  # the bias is rounded to the dtype of the tensor, or is not
        plainer="Tanh",
    ),
    Operator("PRelu", _with_slope, _prelu, terms=one_term, arithmetic=Arithmetic.EXACT_WHERE_HELD, plainer="Add"),
    _softmax("Softmax", 0.0, None),
    _softmax("LogSoftmax", 1.0, "Softmax"),
    Operator("Hardmax", _one_with_axes, _normalised, _some_axis, plainer="Softmax"),
    Operator(
        "Dropout",
        one(),
        _dropout,
        _dropout_attributes,
        {
            "ratio": Constant(NUMBER, DType.FLOAT32, scalar=True),
            "training_mode": Constant(BOOL, DType.BOOL, scalar=True),
        },
    ),
)
