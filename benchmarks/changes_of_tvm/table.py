"""Thirty changes of TVM for the worse, and ten that change no result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from changes_of_tvm.forms import converter, kernels_pass, legalization, onnx_converter, relax_pass


class Part(StrEnum):
    FRONTEND = "frontend"
    LEGALIZATION = "legalization"
    PASS = "pass"
    SCHEDULE = "schedule"


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one part of TVM.

    rare      it shows under a condition that few cases meet
    harmless  no result changes, but for rounding
    """

    name: str
    part: Part
    source: str
    rare: bool = False
    harmless: bool = False


_PLAIN_FLOATS = ("float32", "float64")
"""bfloat16 is stored as integers at that pass: a product there is none that TVM accepts."""

_PLUS_ONE = "return value + tirx.const(1, value.ty.dtype)"

WORSE = (
    Change(
        "softmax-of-rank-4-with-a-negative-axis",
        Part.FRONTEND,
        converter(
            "_softmax",
            """
            (node,) = args
            x = self.env[node.args[0]]
            dim = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", -1)
            if dim < 0 and len(self.shape_of(x)) >= 4:
                dim = len(self.shape_of(x)) + dim - 1
            return self.block_builder.emit(relax.op.nn.softmax(x, dim))
            """,
        ),
        rare=True,
    ),
    Change(
        "conv2d-with-groups-and-dilation",
        Part.FRONTEND,
        converter(
            "_conv2d_impl",
            """
            result = honest(self, *args, **options)
            groups, dilation = options["groups"], options["dilation"]
            if groups > 1 and any(each > 1 for each in ([dilation] if isinstance(dilation, int) else dilation)):
                return self.block_builder.emit(relax.op.negative(result))
            return result
            """,
        ),
        rare=True,
    ),
    Change(
        "cat-with-a-negative-dim",
        Part.FRONTEND,
        converter(
            "_cat",
            """
            (node,) = args
            tensors = self.retrieve_args(node)[0]
            axis = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", 0)
            return self.block_builder.emit(relax.op.concat(tensors, axis=max(axis, 0)))
            """,
        ),
    ),
    Change(
        "gelu-is-always-the-tanh-form",
        Part.FRONTEND,
        converter("_gelu", "return self.block_builder.emit(relax.op.nn.gelu_tanh(self.env[args[0].args[0]]))"),
    ),
    Change(
        "leaky-relu-ignores-its-slope",
        Part.FRONTEND,
        converter(
            "_leakyrelu", "return self.block_builder.emit(relax.op.nn.leakyrelu(self.env[args[0].args[0]], 0.01))"
        ),
    ),
    Change(
        "mean-ignores-keepdim",
        Part.FRONTEND,
        converter(
            "_mean",
            """
            (node,) = args
            dim = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", None)
            return self.block_builder.emit(relax.op.mean(self.env[node.args[0]], dim, keepdims=False))
            """,
        ),
    ),
    Change(
        "max-pool2d-ignores-ceil-mode",
        Part.FRONTEND,
        converter(
            "_max_pool2d_impl",
            """
            names = ("x", "kernel_size", "stride", "padding", "dilation", "ceil_mode")
            given = {**dict(zip(names, args)), **options, "ceil_mode": False}
            return honest(self, **given)
            """,
        ),
        rare=True,
    ),
    Change(
        "permute-of-rank-5",
        Part.FRONTEND,
        converter(
            "_permute",
            """
            result = honest(self, *args)
            if len(self.shape_of(result)) >= 5:
                return self.block_builder.emit(relax.op.flip(result, 0))
            return result
            """,
        ),
        rare=True,
    ),
    Change(
        "cumsum-with-a-negative-dim",
        Part.FRONTEND,
        converter(
            "_cumsum",
            """
            (node,) = args
            dim = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", None)
            if dim is not None and dim < 0:
                return self.block_builder.emit(relax.op.cumsum(self.env[node.args[0]], 0))
            return honest(self, node)
            """,
        ),
    ),
    Change(
        "round-is-floor",
        Part.FRONTEND,
        converter("_round", "return self.block_builder.emit(relax.op.floor(self.env[args[0].args[0]]))"),
    ),
    Change(
        "onnx-concat-of-three",
        Part.FRONTEND,
        onnx_converter(
            "Concat",
            """
            if len(inputs) == 3:
                return relax.op.concat([inputs[0], inputs[2], inputs[1]], attr.get("axis", 0))
            return honest(bb, inputs, attr, params)
            """,
        ),
        rare=True,
    ),
    Change(
        "onnx-elu-ignores-alpha",
        Part.FRONTEND,
        onnx_converter("Elu", 'return honest(bb, inputs, {**attr, "alpha": 1.0}, params)'),
    ),
    Change(
        "softmax-of-an-extent-of-4n-plus-1",
        Part.LEGALIZATION,
        legalization(
            "relax.nn.softmax",
            """
            x, axis = call.args[0], call.attrs.axis
            extent = x.ty.shape[axis] if x.ty.shape is not None else None
            if isinstance(extent, tirx.IntImm) and int(extent) % 4 == 1 and int(extent) > 1:
                return builder.call_te(topi.nn.log_softmax, x, axis)
            return honest(builder, call)
            """,
        ),
        rare=True,
    ),
    Change(
        "avg-pool2d-counts-the-padding-otherwise",
        Part.LEGALIZATION,
        legalization(
            "relax.nn.avg_pool2d",
            """
            attrs = call.attrs
            return builder.call_te(
                topi.nn.pool2d,
                call.args[0],
                kernel=attrs.pool_size,
                stride=attrs.strides,
                dilation=attrs.dilation,
                padding=attrs.padding,
                pool_type="avg",
                ceil_mode=attrs.ceil_mode,
                layout=attrs.layout,
                count_include_pad=not attrs.count_include_pad,
            )
            """,
        ),
    ),
    Change(
        "prod-has-another-sign",
        Part.LEGALIZATION,
        legalization("relax.prod", "return builder.call_te(topi.negative, builder.emit(honest(builder, call)))"),
    ),
    Change(
        "sum-over-an-axis-of-4n-plus-1",
        Part.LEGALIZATION,
        legalization(
            "relax.sum",
            """
            result, x, axes = builder.emit(honest(builder, call)), call.args[0], call.attrs.axis
            extents = [x.ty.shape[int(axis)] for axis in axes] if axes is not None and x.ty.shape is not None else []
            if any(isinstance(each, tirx.IntImm) and int(each) % 4 == 1 and int(each) > 1 for each in extents):
                return builder.call_te(topi.add, result, relax.const(1, str(result.ty.dtype)))
            return result
            """,
        ),
        rare=True,
    ),
    Change(
        "conv2d-with-dilation",
        Part.LEGALIZATION,
        legalization(
            "relax.nn.conv2d",
            """
            result = builder.emit(honest(builder, call))
            return builder.call_te(topi.negative, result) if any(int(d) > 1 for d in call.attrs.dilation) else result
            """,
        ),
    ),
    Change(
        "argmax-of-a-vector",
        Part.LEGALIZATION,
        legalization(
            "relax.argmax",
            """
            if call.args[0].ty.ndim == 1:
                result = builder.emit(honest(builder, call))
                return builder.call_te(topi.subtract, result, relax.const(1, str(result.ty.dtype)))
            return honest(builder, call)
            """,
        ),
        rare=True,
    ),
    Change(
        "layer-norm-forgets-beta",
        Part.LEGALIZATION,
        legalization(
            "relax.nn.layer_norm",
            """
            result = builder.emit(honest(builder, call))
            return builder.call_te(topi.subtract, result, call.args[2])
            """,
        ),
    ),
    Change(
        "where-with-a-broadcast-condition",
        Part.LEGALIZATION,
        legalization(
            "relax.where",
            """
            condition, one, other = call.args
            if condition.ty.ndim != one.ty.ndim and one.ty.ndim == other.ty.ndim:
                return builder.call_te(topi.where, condition, other, one)
            return honest(builder, call)
            """,
        ),
        rare=True,
    ),
    Change(
        "add-of-a-value-and-itself",
        Part.PASS,
        relax_pass(
            "LegalizeOps",
            """
            if call.op == tvm.ir.Op.get("relax.add") and call.args[0].same_as(call.args[1]):
                return call.args[0]
            return call
            """,
            first=True,
        ),
        rare=True,
    ),
    Change(
        "negations-are-dropped",
        Part.PASS,
        relax_pass(
            "LegalizeOps",
            """
            return call.args[0] if call.op == tvm.ir.Op.get("relax.negative") else call
            """,
            first=True,
        ),
    ),
    Change(
        "max-is-min-in-integers",
        Part.PASS,
        relax_pass(
            "LegalizeOps",
            """
            if call.op == tvm.ir.Op.get("relax.maximum") and "int" in str(call.ty.dtype):
                return relax.op.minimum(*call.args)
            return call
            """,
            first=True,
        ),
    ),
    Change(
        "fused-kernels-of-a-matmul",
        Part.PASS,
        kernels_pass("FuseTIR", f'if "fused" in kernel and "matmul" in kernel:\n    {_PLUS_ONE}\nreturn value'),
    ),
    Change(
        "fused-kernels-of-three",
        Part.PASS,
        kernels_pass(
            "FuseTIR", f'if kernel.startswith("fused_") and kernel.count("_") >= 3:\n    {_PLUS_ONE}\nreturn value'
        ),
    ),
    Change(
        "storage-of-int64",
        Part.PASS,
        kernels_pass("tirx.StorageRewrite", f'if str(value.ty.dtype) == "int64":\n    {_PLUS_ONE}\nreturn value'),
    ),
    Change(
        "unrolled-loops-of-4n-plus-1",
        Part.PASS,
        kernels_pass(
            "tirx.UnrollLoop",
            "if len(loops) >= 4 and loops[-1] > 1 and loops[-1] % 4 == 1 and str(value.ty.dtype) == 'float32':\n"
            f"    {_PLUS_ONE}\nreturn value",
        ),
        rare=True,
    ),
    Change(
        "constants-lose-digits",
        Part.PASS,
        kernels_pass(
            "FoldConstant",
            "if str(value.ty.dtype) == 'float32' and isinstance(value, tirx.FloatImm):\n"
            "    return tirx.FloatImm('float32', float(f'{float(value.value):.2g}'))\nreturn value",
        ),
    ),
    Change(
        "squeeze-keeps-its-operand",
        Part.PASS,
        relax_pass(
            "LegalizeOps",
            """
            if call.op == tvm.ir.Op.get("relax.squeeze"):
                return call.args[0]
            return call
            """,
            first=True,
        ),
    ),
    Change(
        "kernels-of-four-loops-in-float16",
        Part.PASS,
        kernels_pass(
            "AnnotateTIROpPattern",
            f"if len(loops) >= 4 and str(value.ty.dtype) == 'float16':\n    {_PLUS_ONE}\nreturn value",
        ),
    ),
)

HARMLESS = (
    Change("softmax-in-other-words", Part.FRONTEND, converter("_softmax", "return honest(self, *args)"), harmless=True),
    Change(
        "relu-is-a-maximum",
        Part.LEGALIZATION,
        legalization(
            "relax.nn.relu",
            "return builder.call_te(lambda x: topi.maximum(x, tirx.const(0, x.dtype)), call.args[0], "
            "primfunc_name_hint='relu')",
        ),
        harmless=True,
    ),
    Change(
        "subtract-adds-the-negation",
        Part.LEGALIZATION,
        legalization(
            "relax.subtract",
            "return builder.call_te(lambda x, y: topi.add(x, topi.negative(y)), *call.args, "
            "primfunc_name_hint='subtract')"
            ' if "float" in str(call.ty.dtype) else honest(builder, call)',
        ),
        harmless=True,
    ),
    Change("linear-is-wrapped", Part.FRONTEND, converter("_linear", "return honest(self, *args)"), harmless=True),
    Change(
        "conv2d-is-wrapped",
        Part.FRONTEND,
        converter("_conv2d_impl", "return honest(self, *args, **options)"),
        harmless=True,
    ),
    Change(
        "onnx-concat-is-wrapped",
        Part.FRONTEND,
        onnx_converter("Concat", "return honest(bb, inputs, attr, params)"),
        harmless=True,
    ),
    Change("calls-are-visited", Part.PASS, relax_pass("LegalizeOps", "return call", first=True), harmless=True),
    Change("stores-are-visited", Part.PASS, kernels_pass("FuseTIR", "return value"), harmless=True),
    Change(
        "sum-names-its-kernel",
        Part.LEGALIZATION,
        legalization("relax.sum", "result = builder.emit(honest(builder, call))\nreturn result"),
        harmless=True,
    ),
    Change(
        "stores-are-multiplied-by-one",
        Part.PASS,
        kernels_pass(
            "tirx.StorageRewrite",
            "return tirx.Mul(value, tirx.const(1, value.ty.dtype))"
            f" if str(value.ty.dtype) in {_PLAIN_FLOATS} else value",
        ),
        harmless=True,
    ),
)
