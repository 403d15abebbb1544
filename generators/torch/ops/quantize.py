"""Numbers rounded to the grid of quantized numbers. Steps are powers of two, so all implementations agree on ties."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attrs, TensorType, Value
from generators.op import INT, NUMBER, Op, Types, int_of, number_of, require
from generators.torch.ops.rules import require_dtype


def _numbers(b: Builder) -> tuple[Value, ...]:
    return (b.tensor(FLOATS),)


def _quantized(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *FLOATS)
    low, zero, high = (int_of(attrs, key) for key in ("quant_min", "zero_point", "quant_max"))
    require(low <= zero <= high, f"zero_point {zero} is not within {low} and {high}")
    require(high - low < 256, "takes the range of eight bits at most")
    require(number_of(attrs, "scale") in _STEPS, "steps are powers of two")
    return types[0]


_STEPS = (0.25, 0.5, 0.0625, 1.0, 2.0)


def _grid(source: ChoiceSource, types: Types) -> Attrs:
    low, high = source.choice(((0, 255), (-128, 127), (0, 127)))  # the ranges that ONNX supports
    zero = source.choice((0, 0, low, high, source.integer(low, high)))
    return {"scale": source.choice(_STEPS), "zero_point": zero, "quant_min": low, "quant_max": high}


OPS = (
    Op(
        "fake_quantize",
        _numbers,
        _quantized,
        "torch.fake_quantize_per_tensor_affine({0}, {scale}, {zero_point}, {quant_min}, {quant_max})",
        _grid,
        {"scale": NUMBER, "zero_point": INT, "quant_min": INT, "quant_max": INT},
    ),
)
