"""What other correct implementations of an operator of ONNX compute: variances in one pass over the data, norms and
scores in half precision, convolutions that skip the padding, and products that skip a factor of 0. The envelope
includes the first two, and does not compare where the others differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch

from fuzzer.lanes.torch.one_pass import affine, moments, normalised
from fuzzer.lanes.torch.skipped_padding import Windows, without_padding
from generators.graph import TensorType
from generators.onnx.call import Call

Tensor = torch.Tensor
IN_HALF = frozenset({"LpPool", "GlobalLpPool", "ReduceL2", "ReduceLogSumExp", "LRN", "Attention"})
"""Operators with numbers on the way that leave the range of float16 where the result does not: squares, products of
queries and keys. ONNX does not say in which precision they are computed, and its own function for ReduceL2 squares and
adds in the dtype of the operand."""

Operands = Mapping[str, Tensor]
"""The operands of a call by the names of its inputs."""

OnePass = Callable[[Call, Operands, int], tuple[Tensor, ...]]
"""From a call, its operands and the direction of E[x^2] to all outputs of the operator, wanted or not."""


def _layer_norm(call: Call, given: Operands, direction: int) -> tuple[Tensor, ...]:
    """The result, the mean, and the inverse of the standard deviation."""
    x, eps = given["X"], call.number("epsilon")
    dims = range(call.integer("axis") % max(x.dim(), 1), x.dim())
    mean, variance, _ = moments(x, dims, direction)
    scale = given["Scale"] if "Scale" in given else given["scale"]
    result = normalised(x, dims, eps, direction) * scale
    bias = given.get("B")
    return result if bias is None else result + bias, mean, torch.rsqrt(variance + eps)


def _skip_layer_norm(call: Call, given: Operands, direction: int) -> tuple[Tensor, ...]:
    """The normalised sum, its mean, the inverse of its standard deviation, and the sum."""
    total = given["input"] + given["skip"]
    total = total + given["bias"] if "bias" in given else total
    eps = call.number("epsilon")
    mean, variance, _ = moments(total, (-1,), direction)
    result = normalised(total, (-1,), eps, direction) * given["gamma"]
    result = result + given["beta"] if "beta" in given else result
    return result, mean, torch.rsqrt(variance + eps), total


def _embed_layer_norm(call: Call, given: Operands, direction: int) -> tuple[Tensor, ...]:
    """The normalised sum of the embeddings, the ones of each mask, and the sum."""
    ids, positions = given["input_ids"], given["position_embedding"]
    places = given.get("position_ids", torch.arange(ids.shape[1])[None])
    total = given["word_embedding"][ids.long()] + positions[places.long()]
    if "segment_ids" in given:
        total = total + given["segment_embedding"][given["segment_ids"].long()]
    result = normalised(total, (-1,), call.number("epsilon"), direction) * given["gamma"] + given["beta"]
    ones = (given["mask"] == 1).sum(1) if "mask" in given else torch.zeros(len(ids))
    return result, ones.int(), total


def _instance_norm(call: Call, given: Operands, direction: int) -> tuple[Tensor, ...]:
    x = given["input"]
    result = normalised(x, range(2, x.dim()), call.number("epsilon"), direction)
    return (affine(result, given["scale"], given["B"], _channels(x)),)


def _group_norm(call: Call, given: Operands, direction: int) -> tuple[Tensor, ...]:
    """Scale and bias are of each group in version 18, and of each channel later."""
    x, groups = given["X"], call.integer("num_groups")
    grouped = x.reshape(x.shape[0], groups, x.numel() // max(x.shape[0] * groups, 1))
    result = normalised(grouped, (-1,), call.number("epsilon"), direction)
    if call.schema.since < 21:
        return (affine(result, given["scale"], given["bias"], (-1, 1)).reshape(x.shape),)
    return (affine(result.reshape(x.shape), given["scale"], given["bias"], _channels(x)),)


def _batch_norm(call: Call, given: Operands, direction: int) -> tuple[Tensor, ...]:
    """The result and the running statistics, with the variance of the batch as it is."""
    x, momentum = given["X"], call.number("momentum")
    dims = (0, *range(2, x.dim()))
    mean, variance = (moment.flatten() for moment in moments(x, dims, direction)[:2])
    result = affine(normalised(x, dims, call.number("epsilon"), direction), given["scale"], given["B"], _channels(x))
    running = (given["input_mean"], mean), (given["input_var"], variance)
    return result, *(old * momentum + new * (1 - momentum) for old, new in running)


def _mean_variance_norm(call: Call, given: Operands, direction: int) -> tuple[Tensor, ...]:
    axes = call.integers("axes") or (0, 2, 3)
    return (normalised(given["X"], [axis % given["X"].dim() for axis in axes], 1e-18, direction),)


def _channels(x: Tensor) -> tuple[int, ...]:
    return -1, *(1,) * (x.dim() - 2)


ONE_PASS: Mapping[str, OnePass] = {
    "LayerNormalization": _layer_norm,
    "SkipLayerNormalization": _skip_layer_norm,
    "EmbedLayerNormalization": _embed_layer_norm,
    "InstanceNormalization": _instance_norm,
    "GroupNormalization": _group_norm,
    "BatchNormalization": _batch_norm,
    "MeanVarianceNormalization": _mean_variance_norm,
}
"""Operators that compute a variance."""


def computes_variance(call: Call) -> bool:
    if call.schema.name == "BatchNormalization":  # only in training mode, which version 14 introduced
        return call.has("training_mode") and call.integer("training_mode") == 1
    return call.schema.name in ONE_PASS


def _conv(call: Call, given: Operands, result: TensorType) -> Tensor:
    x, weight = given["X"], given["W"]
    kernel, sizes = weight.shape[2:], x.shape[2:]
    ones = (1,) * len(kernel)
    stride, dilation = call.integers("strides") or ones, call.integers("dilations") or ones
    pads = call.integers("pads") or (0,) * 2 * len(kernel)
    sides = list(zip(pads[: len(kernel)], pads[len(kernel) :], strict=True))
    if (auto := call.text("auto_pad")).startswith("SAME"):
        numbers = zip(result.sizes[2:], stride, kernel, dilation, sizes, strict=True)
        spans = [max((count - 1) * s + d * (k - 1) + 1 - size, 0) for count, s, k, d, size in numbers]
        lesser = [(span // 2, span - span // 2) for span in spans]
        sides = lesser if auto == "SAME_UPPER" else [(after, before) for before, after in lesser]
    amounts = [amount for side in reversed(sides) for amount in side]
    bias = [given["B"]] if "B" in given else []
    return without_padding(x, weight, bias, Windows(amounts, stride, dilation, call.integer("group")))


def _gemm(call: Call, given: Operands, result: TensorType) -> Tensor:
    """Operands whose factor is 0 are not read."""
    a = given["A"].T if call.integer("transA") else given["A"]
    b = given["B"].T if call.integer("transB") else given["B"]
    total = torch.zeros(result.sizes, dtype=a.dtype)
    if alpha := call.number("alpha"):
        total = total + (alpha * (a @ b)).to(a.dtype)
    if "C" in given and (beta := call.number("beta")):
        total = total + (beta * given["C"]).to(a.dtype)
    return total


def _leaky_relu(call: Call, given: Operands, result: TensorType) -> Tensor:
    x, alpha = given["X"], call.number("alpha")
    return torch.where(x > 0, x, alpha * x if alpha else 0.0)


def _hard_sigmoid(call: Call, given: Operands, result: TensorType) -> Tensor:
    alpha, beta = call.number("alpha"), call.number("beta")
    return ((alpha * given["X"] if alpha else torch.zeros_like(given["X"])) + beta).clamp(0, 1)


WITHOUT_ZEROS: Mapping[str, Callable[[Call, Operands, TensorType], Tensor]] = {
    "Conv": _conv,
    "Gemm": _gemm,
    "LeakyRelu": _leaky_relu,
    "HardSigmoid": _hard_sigmoid,
}
"""An implementation of each operator whose row has `multiplies_by_zero`: from a call, its operands and the type of the
result to the result."""


def named(call: Call, args: Sequence[Tensor]) -> dict[str, Tensor]:
    return dict(zip(call.names, args, strict=True))
