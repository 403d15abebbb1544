"""Translation rules for layers: ONNX has other forms of their windows, parameters and strides."""

from __future__ import annotations

from collections.abc import Mapping

from fuzzer.seeds.torch.from_onnx.api import NodeInTranslation, Rule, Untranslatable
from fuzzer.seeds.torch.program import Arg, Ref
from generators.graph import DType, TensorType

# --- windows


def _padding(node: NodeInTranslation, nd: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the padding before and after each axis. Raise `Untranslatable` where `auto_pad` decides it."""
    node.require("auto_pad", "NOTSET", "VALID")
    pads = node.list("pads", (0,) * 2 * nd)
    if len(pads) != 2 * nd:
        raise Untranslatable(f"pads is {pads}")
    return pads[:nd], pads[nd:]


def _padded(node: NodeInTranslation, value: float = 0.0) -> tuple[Ref, tuple[int, ...]]:
    """Return the operand and its symmetric padding. Asymmetric padding becomes a call of `pad` before the layer."""
    nd = node.type(0).rank - 2
    front, behind = _padding(node, nd)
    if front == behind:
        return node.ref(0), front
    amounts = tuple(amount for pair in zip(reversed(front), reversed(behind), strict=True) for amount in pair)
    return node.intermediate("pad", {"self": node.ref(0), "pad": amounts, "value": value}), (0,) * nd


def _conv(node: NodeInTranslation) -> None:
    nd = node.type(0).rank - 2
    node.list("kernel_shape", ())
    operand, padding = _padded(node)
    bias = {"bias": node.ref(2)} if node.has(2) else {}
    steps = {
        "stride": node.list("strides", (1,) * nd),
        "padding": padding,
        "dilation": node.list("dilations", (1,) * nd),
    }
    node.call(
        f"conv{nd}d", {"input": operand, "weight": node.ref(1), **bias, **steps, "groups": node.integer("group", 1)}
    )


def _conv_transpose(node: NodeInTranslation) -> None:
    nd = node.type(0).rank - 2
    node.list("kernel_shape", ())
    front, behind = _padding(node, nd)
    if front != behind or node.list("output_shape", ()):
        raise Untranslatable("its padding is not the same on both sides")
    bias = {"bias": node.ref(2)} if node.has(2) else {}
    numbers: dict[str, Arg] = {
        "stride": node.list("strides", (1,) * nd),
        "padding": front,
        "output_padding": node.list("output_padding", (0,) * nd),
        "groups": node.integer("group", 1),
        "dilation": node.list("dilations", (1,) * nd),
    }
    node.call(f"conv_transpose{nd}d", {"input": node.ref(0), "weight": node.ref(1), **bias, **numbers})


def _pool(node: NodeInTranslation) -> None:
    nd = node.type(0).rank - 2
    front, behind = _padding(node, nd)
    if front != behind:
        raise Untranslatable("its padding is not the same on both sides")
    args: dict[str, Arg] = {
        "self": node.ref(0),
        "kernel_size": node.list("kernel_shape"),
        "stride": node.list("strides", (1,) * nd),
        "padding": front,
        "ceil_mode": bool(node.integer("ceil_mode", 0)),
    }
    if node.op == "MaxPool":
        node.require("storage_order", 0)
        with_indices = "_with_indices" if len(node.outputs) > 1 else ""
        node.call(f"max_pool{nd}d{with_indices}", {**args, "dilation": node.list("dilations", (1,) * nd)})
        return
    if set(node.list("dilations", (1,) * nd)) != {1}:
        raise Untranslatable("its window is dilated")
    node.call(f"avg_pool{nd}d", {**args, "count_include_pad": bool(node.integer("count_include_pad", 0))})


def _global_pool(function: str) -> Rule:
    def translate(node: NodeInTranslation) -> None:
        nd = node.type(0).rank - 2
        node.call(f"adaptive_{function}_pool{nd}d", {"self": node.ref(0), "output_size": (1,) * nd})

    return translate


_RESIZED = {1: "linear", 2: "bilinear", 3: "trilinear"}


def _resize(node: NodeInTranslation) -> None:
    mode, nd = str(node.attribute("mode", "nearest")), node.type(0).rank - 2
    where = str(node.attribute("coordinate_transformation_mode", "half_pixel"))
    node.ignore("nearest_mode", "cubic_coeff_a", "exclude_outside", "extrapolation_value")
    node.require("antialias", 0)
    node.require("keep_aspect_ratio_policy", "stretch")
    if node.list("axes", ()):
        raise Untranslatable("has the attribute axes")
    args: dict[str, Arg] = {"self": node.ref(0)}
    if node.has(2):
        scales = node.array(2).reshape(-1)
        args["scale_factor"] = tuple(float(str(scale)) for scale in scales[2:])
    else:
        args["size"] = node.out().sizes[2:]
    match mode:
        case "nearest" if where == "asymmetric":
            node.call("interpolate_nearest", args)
        case "linear" | "cubic" if where in ("half_pixel", "pytorch_half_pixel", "align_corners"):
            function = "bicubic" if mode == "cubic" else _RESIZED.get(nd, "linear")
            node.call(f"interpolate_{function}", {**args, "align_corners": where == "align_corners"})
        case _:
            raise Untranslatable(f"resizes by {mode} and {where}")


def _depth_to_space(node: NodeInTranslation) -> None:
    node.require("mode", "DCR", "CRD")
    if node.attribute("mode", "DCR") != "CRD":
        raise Untranslatable("orders the channels differently from PyTorch")
    node.call("pixel_shuffle", {"self": node.ref(0), "upscale_factor": node.integer("blocksize", 0)})


# --- normalisation


def _batch_norm(node: NodeInTranslation) -> None:
    node.require("training_mode", 0)
    node.ignore("spatial")
    names = "input", "weight", "bias", "running_mean", "running_var"
    refs = dict(zip(names, node.refs(), strict=True))
    momentum = round(1 - node.number("momentum", 0.9), 6)  # ONNX weighs the running value, PyTorch the new one
    node.call("batch_norm", {**refs, "momentum": momentum, "eps": node.number("epsilon", 1e-5)}, node.outputs[:1])


def _instance_norm(node: NodeInTranslation) -> None:
    names = "input", "weight", "bias"
    node.call("instance_norm", {**dict(zip(names, node.refs(), strict=True)), "eps": node.number("epsilon", 1e-5)})


def _layer_norm(node: NodeInTranslation) -> None:
    node.ignore("stash_type")
    axis = node.integer("axis", -1) % node.type(0).rank
    function = "rms_norm" if node.op == "RMSNormalization" else "layer_norm"
    refs = dict(zip(("input", "weight", "bias"), node.refs(), strict=False))
    shape = node.type(0).sizes[axis:]
    node.call(function, {**refs, "normalized_shape": shape, "eps": node.number("epsilon", 1e-5)}, node.outputs[:1])


def _group_norm(node: NodeInTranslation) -> None:
    """Weight and bias have one element for each channel since operator set 21."""
    node.ignore("stash_type")
    refs = dict(zip(("input", "weight", "bias"), node.refs(), strict=True))
    node.call("group_norm", {**refs, "num_groups": node.integer("num_groups", 0), "eps": node.number("epsilon", 1e-5)})


# --- recurrent layers: PyTorch orders the gates differently, so new parameters replace those of the file

_GATES = {"LSTM": ("lstm", 4), "GRU": ("gru", 3), "RNN": ("rnn_tanh", 1)}


def _recurrent(node: NodeInTranslation) -> None:
    function, gates = _GATES[node.op]
    node.require("direction", "forward", "bidirectional")
    both = node.attribute("direction", "forward") == "bidirectional"
    node.require("layout", 0)
    node.require("linear_before_reset", int(node.op == "GRU"))
    node.ignore("output_sequence", "input_forget")
    if node.op == "RNN" and set(_texts(node, "activations")) == {"Relu"}:
        function = "rnn_relu"
    elif node.op == "RNN" and set(_texts(node, "activations")) - {"Tanh"}:
        raise Untranslatable("its activations are not those of PyTorch")
    states = 2 if node.op == "LSTM" else 1
    starts = {place: node.ref(place) for place in (5, 6)[:states] if node.has(place)}
    if node.has(7) or (starts and len(starts) < states):
        raise Untranslatable("has peepholes, or one state of two")
    hidden, x = node.integer("hidden_size", 0), node.type(0)
    steps, batch, features = x.sizes
    weights: list[Ref] = []
    for direction in range(1 + both):
        shapes = [
            (gates * hidden, features),
            (gates * hidden, hidden),
            *([(gates * hidden,)] * 2 if node.has(3) else []),
        ]
        weights += [node.weight(f"{direction}.{i}", TensorType(x.dtype, shape)) for i, shape in enumerate(shapes)]
    flags: dict[str, Arg] = {"has_biases": node.has(3), "num_layers": 1, "bidirectional": both, "batch_first": False}
    operands: dict[str, Arg] = {
        "input": node.ref(0),
        **({"hx": tuple(starts.values())} if starts else {}),
        "params": tuple(weights),
    }
    ends = list(node.outputs[1:])
    ends += [f"{node.outputs[0]}:end{place}" for place in range(len(ends), states)]
    flat = f"{node.outputs[0]}:flat"
    node.call(function if starts else f"{function}_zero_state", {**operands, **flags}, (flat, *ends))
    if not both:
        node.call("unsqueeze", {"self": Ref(flat), "dim": 1}, node.outputs[:1])
        return
    apart = node.intermediate("reshape", {"self": Ref(flat), "shape": (steps, batch, 2, hidden)})
    node.call("permute", {"self": apart, "dims": (0, 2, 1, 3)}, node.outputs[:1])


def _texts(node: NodeInTranslation, name: str) -> tuple[str, ...]:
    value = node.attribute(name, ())
    return tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)


def _attention_scale(node: NodeInTranslation) -> None:
    """Dot-product attention with an axis for the heads and without a cache."""
    if node.type(0).rank != 4 or len(node.outputs) > 1 or node.has(4) or node.has(5):
        raise Untranslatable("has a cache, or no axis for the heads")
    node.require("softcap", 0.0)
    node.require("qk_matmul_output_mode", 0)
    node.ignore("softmax_precision", "q_num_heads", "kv_num_heads")
    args: dict[str, Arg] = dict(zip(("query", "key", "value", "attn_mask"), node.refs(), strict=False))
    if node.attribute("scale", 0.0):
        args["scale"] = node.number("scale", 0.0)
    node.call("scaled_dot_product_attention", {**args, "is_causal": bool(node.integer("is_causal", 0))})


def _prelu(node: NodeInTranslation) -> None:
    """The slope has one element, or one for each channel and sizes of 1 after it."""
    slope, x = node.type(1), node.type(0)
    sizes = [size for size in slope.sizes if size != 1]
    if x.rank < 2 or len(sizes) > 1 or (sizes and sizes[0] != x.sizes[1]) or x.dtype is DType.BOOL:
        raise Untranslatable("its slopes do not match the channels")
    flat = node.ref(1) if slope.rank == 1 else node.intermediate("reshape", {"self": node.ref(1), "shape": (-1,)})
    node.call("prelu", {"self": node.ref(0), "weight": flat})


RULES: Mapping[str, Rule] = {
    "Attention": _attention_scale,
    "AveragePool": _pool,
    "BatchNormalization": _batch_norm,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "DepthToSpace": _depth_to_space,
    "GRU": _recurrent,
    "GlobalAveragePool": _global_pool("avg"),
    "GlobalMaxPool": _global_pool("max"),
    "GroupNormalization": _group_norm,
    "InstanceNormalization": _instance_norm,
    "LSTM": _recurrent,
    "LayerNormalization": _layer_norm,
    "MaxPool": _pool,
    "PRelu": _prelu,
    "RMSNormalization": _layer_norm,
    "RNN": _recurrent,
    "Resize": _resize,
}
