"""Convolutions and transposed convolutions over 1 to 3 dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attr, Attrs, DType, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import Operator
from generators.onnx.ops.operands import tensor, tensor_of_model
from generators.onnx.ops.windows import AUTO_PAD, draw_padding, draw_steps, each, images, padding, slid
from generators.onnx.schema import Schema
from generators.op import Arithmetic, require
from generators.operator_class import OperatorClass
from generators.shared.draws import CHANNELS, KERNELS, further
from generators.shared.sizes import product

# --- shared by both directions


def _drawn(b: Builder, schema: Schema, transposed: bool) -> tuple[Value, ...] | None:
    """The shape of the weight gives the number of groups. A kernel may exceed the input by 4: padding makes it fit."""
    source = b.source
    x = tensor(b, schema, "X", (3, 5))
    channels, spatial = x.type.sizes[1], x.type.sizes[2:]
    if not min(channels, *spatial):
        return None
    groups = source.choice([g for g in (1, 1, 1, 2, 3, channels, channels) if channels % g == 0])
    kernel = [source.choice([k for k in KERNELS[len(spatial)] if k <= size + 4]) for size in spatial]
    block = channels // groups * product(kernel)
    room = b.limits.max_numel // (groups * max(block, x.type.numel // channels))
    out = source.choice([o for o in CHANNELS if o <= max(room, 1)])
    lead = (channels, out) if transposed else (out * groups, channels // groups)
    weight = _weight(b, x.type.dtype, (*lead, *kernel))
    return (x, weight) if source.chance(50) else (x, weight, tensor_of_model(b, x.type.dtype, out * groups))


def _weight(b: Builder, dtype: DType, shape: Sequence[int]) -> Value:
    if b.source.chance(88):
        return tensor_of_model(b, dtype, *shape)
    type = TensorType(dtype, tuple(shape))
    return further(b, lambda other: other == type, lambda: type)


def _split(call: Call) -> tuple[TensorType, TensorType, int]:
    """The images, the weight and the number of groups, after the checks that both directions share."""
    x, weight, groups = images(call), call["W"], call.integer("group")
    require(weight.rank == x.rank and min(weight.sizes) > 0, f"{weight} is no weight for {x}")
    require(groups > 0 and x.sizes[1] % groups == 0, f"{x} does not split into {groups} groups")
    kernel = call.integers("kernel_shape")
    require(kernel is None or kernel == weight.sizes[2:], f"kernel_shape {kernel} is not that of {weight}")
    return x, weight, groups


def _require_bias(call: Call, channels: int) -> None:
    bias = call.get("B")
    require(bias is None or bias.sizes == (channels,), f"the bias must be [{channels}]")


def _kernel(source: ChoiceSource, call: Call) -> Attr:
    """The attribute repeats what the weight says; a file may leave it out."""
    return call["W"].sizes[2:] if source.chance(60) else None


def _extents(call: Call, dilations: Sequence[int] | None) -> list[int]:
    kernel = call["W"].sizes[2:]
    return [d * (int(k) - 1) + 1 for d, k in zip(dilations or (1,) * len(kernel), kernel, strict=True)]


def _listed(values: Sequence[int] | None) -> Attr:
    return None if values is None else tuple(values)


# --- convolutions


def _conv(call: Call) -> TensorType:
    x, weight, groups = _split(call)
    channels = weight.sizes[0]
    require(channels % groups == 0, f"{channels} output channels do not split into {groups} groups")
    require(x.sizes[1] == weight.sizes[1] * groups, f"{x} does not fit the weight {weight} of {groups} groups")
    _require_bias(call, channels)
    return x.with_shape(x.sizes[0], channels, *slid(call, x.sizes[2:], weight.sizes[2:]))


def _conv_attributes(source: ChoiceSource, call: Call) -> Attrs:
    x, weight = call["X"], call["W"]
    nd = x.rank - 2
    strides, dilations = draw_steps(source, nd), draw_steps(source, nd, 30)
    drawn = draw_padding(source, x.sizes[2:], _extents(call, dilations))
    if str(drawn["auto_pad"]).startswith("SAME"):
        dilations = None  # onnxruntime 1.31 pads no dilated windows
    return {
        "group": x.sizes[1] // weight.sizes[1],
        "kernel_shape": _kernel(source, call),
        "strides": _listed(strides),
        "dilations": _listed(dilations),
        **drawn,
    }


def _pads_something(call: Call) -> bool:
    return call.text("auto_pad").startswith("SAME") or any(call.integers("pads") or ())


# --- transposed convolutions


ODD_SPLIT = 11
"""The first version whose formula for odd numbers is the one that readers have: version 1 gives the other side more."""


def _conv_transpose(call: Call) -> TensorType:
    """With an output_shape, what the result exceeds it by is cut off; pads are not given then. The shape inference of
    onnx 1.23 takes no output_shape below the input's, and onnxruntime 1.31 no output_padding beyond the stride."""
    x, weight, groups = _split(call)
    nd = x.rank - 2
    require(x.sizes[1] == weight.sizes[0], f"{x} does not fit the weight {weight}")
    channels = weight.sizes[1] * groups
    _require_bias(call, channels)
    auto, shape = call.text("auto_pad"), call.integers("output_shape")
    require(shape is None or len(shape) == nd, f"output_shape takes {nd} sizes")
    require(shape is None or call.integers("pads") is None, "output_shape and pads exclude each other")
    strides, dilations = each(call, "strides", nd, 1), each(call, "dilations", nd, 1)
    numbers = zip(x.sizes[2:], weight.sizes[2:], strides, dilations, strict=True)
    extra, sides = each(call, "output_padding", nd, 0), padding(call, nd)
    spatial = []
    for place, (size, kernel, stride, dilation) in enumerate(numbers):
        require(min(stride, dilation) > 0, "strides and dilations are positive")
        require(0 <= extra[place] < stride, "output_padding must be below the stride")
        whole = stride * (size - 1) + extra[place] + dilation * (kernel - 1) + 1
        if shape is not None or auto.startswith("SAME"):
            # without an output_shape, the shape inference of onnx 1.23 adds output_padding to the size
            require(shape is not None or extra[place] == 0, "SAME takes no output_padding")
            wanted = shape[place] if shape is not None else size * stride
            require(size <= wanted <= whole, f"a size of {wanted} is not within {size} and {whole}")
            even = call.schema.since >= ODD_SPLIT or (whole - wanted) % 2 == 0
            require(even, f"{whole - wanted} cannot be cut off evenly, and readers of version 1 cut the other side")
        else:
            wanted = whole - sum(sides[place])
        require(wanted > 0, f"a transposed convolution of {x} leaves nothing")
        spatial.append(wanted)
    return x.with_shape(x.sizes[0], channels, *spatial)


def _conv_transpose_attributes(source: ChoiceSource, call: Call) -> Attrs:
    x, weight = call["X"], call["W"]
    nd = x.rank - 2
    strides, dilations = draw_steps(source, nd, 60), draw_steps(source, nd, 30)
    steps = strides or (1,) * nd
    extra = [source.integer(0, step - 1) for step in steps] if source.chance(35) else None
    groups = [g for g in (1, 1, 2, 3, x.sizes[1]) if x.sizes[1] % g == 0]
    bias = call.get("B")
    attrs: dict[str, Attr] = {
        "group": source.choice(groups) if bias is None else bias.sizes[0] // weight.sizes[1],
        "kernel_shape": _kernel(source, call),
        "strides": _listed(strides),
        "dilations": _listed(dilations),
        "output_padding": _listed(extra),
    }
    numbers = zip(x.sizes[2:], _extents(call, dilations), steps, extra or (0,) * nd, strict=True)
    whole = [int(s * (size - 1) + more + extent) for size, extent, s, more in numbers]
    match source.integer(0, 5):
        case 0 | 1:
            pads = [min(source.choice((0, 1, 1, 2)), (size - 1) // 2) for size in (*whole, *whole)]
            return attrs | {"pads": tuple(pads)}
        case 2:
            auto_pad = source.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
            return attrs | {"auto_pad": auto_pad} | ({} if auto_pad == "VALID" else {"output_padding": None})
        case 3:
            sizes = zip(x.sizes[2:], whole, strict=True)
            shape = tuple(
                source.integer(max(int(least), most - 3), most) if least <= most else most for least, most in sizes
            )
            if call.schema.since < ODD_SPLIT:
                shape = tuple(most - (most - size) // 2 * 2 for size, most in zip(shape, whole, strict=True))
            return attrs | {"output_shape": shape, "auto_pad": source.choice(("NOTSET", "SAME_UPPER", "SAME_LOWER"))}
        case _:
            return attrs


def _transposed_terms(call: Call) -> int:
    weight = call["W"].sizes
    return weight[0] // call.integer("group") * product(weight[2:])


OPERATORS: tuple[Operator, ...] = (
    Operator(
        "Conv",
        lambda b, schema: _drawn(b, schema, transposed=False),
        _conv,
        _conv_attributes,
        kinds={"auto_pad": AUTO_PAD},
        terms=lambda call: product(call["W"].sizes[1:]),
        arithmetic=Arithmetic.SUM_IN_ANY,
        multiplies_by_zero=_pads_something,
        classes=(OperatorClass.CONVOLUTION_2D,),
    ),
    Operator(
        "ConvTranspose",
        lambda b, schema: _drawn(b, schema, transposed=True),
        _conv_transpose,
        _conv_transpose_attributes,
        kinds={"auto_pad": AUTO_PAD},
        terms=_transposed_terms,
        arithmetic=Arithmetic.SUM_IN_ANY,
    ),
)
