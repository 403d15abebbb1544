"""The phrase book's other half: layers, whose windows, parameters and steps ONNX lays out otherwise."""

from __future__ import annotations

from collections.abc import Mapping

from fuzzer.seeds.onnx_words import NoWord, Phrase, Saying
from fuzzer.seeds.program import Arg, Ref
from generators.graph import DType, TensorType

# --- windows


def _padding(p: Phrase, nd: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Amounts in front and behind. Raise `NoWord` where the file leaves them to a rule."""
    p.require("auto_pad", "NOTSET", "VALID")
    pads = p.list("pads", (0,) * 2 * nd)
    if len(pads) != 2 * nd:
        raise NoWord(f"pads is {pads}")
    return pads[:nd], pads[nd:]


def _padded(p: Phrase, value: float = 0.0) -> tuple[Ref, tuple[int, ...]]:
    """The operand, and what is left to pad on both sides: amounts that differ have a call of their own."""
    nd = p.type(0).rank - 2
    front, behind = _padding(p, nd)
    if front == behind:
        return p.ref(0), front
    amounts = tuple(amount for pair in zip(reversed(front), reversed(behind), strict=True) for amount in pair)
    return p.between("pad", {"self": p.ref(0), "pad": amounts, "value": value}), (0,) * nd


def _conv(p: Phrase) -> None:
    nd = p.type(0).rank - 2
    p.list("kernel_shape", ())
    operand, padding = _padded(p)
    bias = {"bias": p.ref(2)} if p.has(2) else {}
    steps = {"stride": p.list("strides", (1,) * nd), "padding": padding, "dilation": p.list("dilations", (1,) * nd)}
    p.say(f"conv{nd}d", {"input": operand, "weight": p.ref(1), **bias, **steps, "groups": p.integer("group", 1)})


def _conv_transpose(p: Phrase) -> None:
    nd = p.type(0).rank - 2
    p.list("kernel_shape", ())
    front, behind = _padding(p, nd)
    if front != behind or p.list("output_shape", ()):
        raise NoWord("its padding is not the same on both sides")
    bias = {"bias": p.ref(2)} if p.has(2) else {}
    numbers: dict[str, Arg] = {
        "stride": p.list("strides", (1,) * nd),
        "padding": front,
        "output_padding": p.list("output_padding", (0,) * nd),
        "groups": p.integer("group", 1),
        "dilation": p.list("dilations", (1,) * nd),
    }
    p.say(f"conv_transpose{nd}d", {"input": p.ref(0), "weight": p.ref(1), **bias, **numbers})


def _pool(p: Phrase) -> None:
    nd = p.type(0).rank - 2
    front, behind = _padding(p, nd)
    if front != behind:
        raise NoWord("its padding is not the same on both sides")
    args: dict[str, Arg] = {
        "self": p.ref(0),
        "kernel_size": p.list("kernel_shape"),
        "stride": p.list("strides", (1,) * nd),
        "padding": front,
        "ceil_mode": bool(p.integer("ceil_mode", 0)),
    }
    if p.op == "MaxPool":
        p.require("storage_order", 0)
        with_indices = "_with_indices" if len(p.outputs) > 1 else ""
        p.say(f"max_pool{nd}d{with_indices}", {**args, "dilation": p.list("dilations", (1,) * nd)})
        return
    if set(p.list("dilations", (1,) * nd)) != {1}:
        raise NoWord("its window has holes")
    p.say(f"avg_pool{nd}d", {**args, "count_include_pad": bool(p.integer("count_include_pad", 0))})


def _global_pool(word: str) -> Saying:
    def say(p: Phrase) -> None:
        nd = p.type(0).rank - 2
        p.say(f"adaptive_{word}_pool{nd}d", {"self": p.ref(0), "output_size": (1,) * nd})

    return say


_RESIZED = {1: "linear", 2: "bilinear", 3: "trilinear"}


def _resize(p: Phrase) -> None:
    mode, nd = str(p.attribute("mode", "nearest")), p.type(0).rank - 2
    where = str(p.attribute("coordinate_transformation_mode", "half_pixel"))
    p.ignore("nearest_mode", "cubic_coeff_a", "exclude_outside", "extrapolation_value")
    p.require("antialias", 0)
    p.require("keep_aspect_ratio_policy", "stretch")
    if p.list("axes", ()):
        raise NoWord("names its axes")
    args: dict[str, Arg] = {"self": p.ref(0)}
    if p.has(2):
        scales = p.array(2).reshape(-1)
        args["scale_factor"] = tuple(float(str(scale)) for scale in scales[2:])
    else:
        args["size"] = p.out().sizes[2:]
    match mode:
        case "nearest" if where == "asymmetric":
            p.say("interpolate_nearest", args)
        case "linear" | "cubic" if where in ("half_pixel", "pytorch_half_pixel", "align_corners"):
            word = "bicubic" if mode == "cubic" else _RESIZED.get(nd, "linear")
            p.say(f"interpolate_{word}", {**args, "align_corners": where == "align_corners"})
        case _:
            raise NoWord(f"resizes by {mode} and {where}")


def _depth_to_space(p: Phrase) -> None:
    p.require("mode", "DCR", "CRD")
    if p.attribute("mode", "DCR") != "CRD":
        raise NoWord("orders the channels as PyTorch does not")
    p.say("pixel_shuffle", {"self": p.ref(0), "upscale_factor": p.integer("blocksize", 0)})


# --- normalisation


def _batch_norm(p: Phrase) -> None:
    p.require("training_mode", 0)
    p.ignore("spatial")
    names = "input", "weight", "bias", "running_mean", "running_var"
    refs = dict(zip(names, p.refs(), strict=True))
    momentum = round(1 - p.number("momentum", 0.9), 6)  # ONNX says how much stays, PyTorch how much moves
    p.say("batch_norm", {**refs, "momentum": momentum, "eps": p.number("epsilon", 1e-5)}, p.outputs[:1])


def _instance_norm(p: Phrase) -> None:
    names = "input", "weight", "bias"
    p.say("instance_norm", {**dict(zip(names, p.refs(), strict=True)), "eps": p.number("epsilon", 1e-5)})


def _layer_norm(p: Phrase) -> None:
    p.ignore("stash_type")
    axis = p.integer("axis", -1) % p.type(0).rank
    word = "rms_norm" if p.op == "RMSNormalization" else "layer_norm"
    refs = dict(zip(("input", "weight", "bias"), p.refs(), strict=False))
    shape = p.type(0).sizes[axis:]
    p.say(word, {**refs, "normalized_shape": shape, "eps": p.number("epsilon", 1e-5)}, p.outputs[:1])


def _group_norm(p: Phrase) -> None:
    """Weight and bias are of the channels since operator set 21."""
    p.ignore("stash_type")
    refs = dict(zip(("input", "weight", "bias"), p.refs(), strict=True))
    p.say("group_norm", {**refs, "num_groups": p.integer("num_groups", 0), "eps": p.number("epsilon", 1e-5)})


# --- recurrent layers: PyTorch has the gates in another order, so that a parameter stands for another parameter

_GATES = {"LSTM": ("lstm", 4), "GRU": ("gru", 3), "RNN": ("rnn_tanh", 1)}


def _recurrent(p: Phrase) -> None:
    word, gates = _GATES[p.op]
    p.require("direction", "forward", "bidirectional")
    both = p.attribute("direction", "forward") == "bidirectional"
    p.require("layout", 0)
    p.require("linear_before_reset", int(p.op == "GRU"))
    p.ignore("output_sequence", "input_forget")
    if p.op == "RNN" and set(_texts(p, "activations")) == {"Relu"}:
        word = "rnn_relu"
    elif p.op == "RNN" and set(_texts(p, "activations")) - {"Tanh"}:
        raise NoWord("its activations are not PyTorch's")
    states = 2 if p.op == "LSTM" else 1
    starts = {place: p.ref(place) for place in (5, 6)[:states] if p.has(place)}
    if p.has(7) or (starts and len(starts) < states):
        raise NoWord("has peepholes, or one state of two")
    hidden, x = p.integer("hidden_size", 0), p.type(0)
    steps, batch, features = x.sizes
    weights: list[Ref] = []
    for direction in range(1 + both):
        shapes = [(gates * hidden, features), (gates * hidden, hidden), *([(gates * hidden,)] * 2 if p.has(3) else [])]
        weights += [p.weight(f"{direction}.{i}", TensorType(x.dtype, shape)) for i, shape in enumerate(shapes)]
    flags: dict[str, Arg] = {"has_biases": p.has(3), "num_layers": 1, "bidirectional": both, "batch_first": False}
    operands: dict[str, Arg] = {
        "input": p.ref(0),
        **({"hx": tuple(starts.values())} if starts else {}),
        "params": tuple(weights),
    }
    ends = list(p.outputs[1:])
    ends += [f"{p.outputs[0]}:end{place}" for place in range(len(ends), states)]
    flat = f"{p.outputs[0]}:flat"
    p.say(word if starts else f"{word}_zero_state", {**operands, **flags}, (flat, *ends))
    if not both:
        p.say("unsqueeze", {"self": Ref(flat), "dim": 1}, p.outputs[:1])
        return
    apart = p.between("reshape", {"self": Ref(flat), "shape": (steps, batch, 2, hidden)})
    p.say("permute", {"self": apart, "dims": (0, 2, 1, 3)}, p.outputs[:1])


def _texts(p: Phrase, name: str) -> tuple[str, ...]:
    value = p.attribute(name, ())
    return tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)


def _attention_scale(p: Phrase) -> None:
    """Dot-product attention on separate heads, without a cache."""
    if p.type(0).rank != 4 or len(p.outputs) > 1 or p.has(4) or p.has(5):
        raise NoWord("has a cache, or its heads in one")
    p.require("softcap", 0.0)
    p.require("qk_matmul_output_mode", 0)
    p.ignore("softmax_precision", "q_num_heads", "kv_num_heads")
    args: dict[str, Arg] = dict(zip(("query", "key", "value", "attn_mask"), p.refs(), strict=False))
    if p.attribute("scale", 0.0):
        args["scale"] = p.number("scale", 0.0)
    p.say("scaled_dot_product_attention", {**args, "is_causal": bool(p.integer("is_causal", 0))})


def _prelu(p: Phrase) -> None:
    """The slope has a size for each channel, behind it ones."""
    slope, x = p.type(1), p.type(0)
    sizes = [size for size in slope.sizes if size != 1]
    if x.rank < 2 or len(sizes) > 1 or (sizes and sizes[0] != x.sizes[1]) or x.dtype is DType.BOOL:
        raise NoWord("its slopes are not of the channels")
    flat = p.ref(1) if slope.rank == 1 else p.between("reshape", {"self": p.ref(1), "shape": (-1,)})
    p.say("prelu", {"self": p.ref(0), "weight": flat})


PHRASES: Mapping[str, Saying] = {
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
