"""Implementations of small graphs in torch: wrong ones, each with one common bug, and right ones that compute the same
function in another way. Tests compare them with the real references."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from graphs_by_hand import Call, case_of

from generators.graph import Array, Case, Input

Tensor = torch.Tensor
Kernel = Callable[..., Tensor]


@dataclass(frozen=True)
class Implementation:
    """One implementation of a call of PyTorch.

    call     the call
    inputs   the types of its inputs by name, in order
    compute  the implementation, a function of the inputs
    numbers  what draws the numbers of the inputs
    """

    name: str
    call: Call
    inputs: Mapping[str, str]
    compute: Kernel
    numbers: Callable[[np.random.Generator, tuple[int, ...]], Array] = np.random.Generator.standard_normal

    @property
    def case(self) -> Case:
        rng = np.random.default_rng(7)

        def array(item: Input) -> Array:
            type = item.value.type
            made = self.numbers(rng, type.sizes)
            return np.asarray(np.abs(made) + 0.05 if item.value.name == "b1" else made).astype(type.dtype.numpy)

        return case_of(self.inputs, [self.call], "v0", array)


def _ties(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return rng.integers(0, 3, shape).astype(np.float64)


def _with_nan(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    array = rng.standard_normal(shape)
    array.flat[array.size // 2] = np.nan
    return array


def _far_from_zero(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Numbers whose spread is a thousandth of their mean: a variance in one pass loses six digits."""
    return np.asarray(8e6 + 1e4 * rng.standard_normal(shape))


def _saturated(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """The results of a sigmoid on large numbers: the roundings of their sum all have the same direction."""
    return np.asarray(1 / (1 + np.exp(-8 * rng.standard_normal(shape))))


def _ones(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return 1 + rng.random(shape)


NORM = {"x0": "float32[4,6,5]", "b0": "float32[6]", "b1": "float32[6]", "w0": "float32[6]", "w1": "float32[6]"}
NORM_CALL: Call = ("v0", "batch_norm", "x0 b0 b1 w0 w1")
LAYER_CALL: Call = ("v0", "layer_norm", "x0", {"normalized_shape": (8,)})
CONV = {"x0": "float32[2,3,6,7]", "w0": "float32[4,3,3,3]", "w1": "float32[4]"}
CONV_CALL: Call = ("v0", "conv2d", "x0 w0 w1", {"padding": (1, 1)})
MATMUL = {"x0": "float16[4,8000]", "x1": "float16[8000,3]"}
MATMUL_CALL: Call = ("v0", "matmul", "x0 x1")
VAR_CALL: Call = ("v0", "var", "x0", {"dim": (1,), "keepdim": False, "correction": 1})


def _column(parameter: Tensor) -> Tensor:
    return parameter.reshape(-1, 1)


def _batch_norm(x: Tensor, mean: Tensor, var: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    scale = weight / torch.sqrt(var + eps)
    return x * _column(scale) + _column(bias - mean * scale)


def _layer_norm(x: Tensor, eps: float) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return centred * torch.rsqrt((centred * centred).mean(-1, keepdim=True) + eps)


def _from_the_left(x: Tensor) -> Tensor:
    """A normalisation whose statistics are summed one number after the other."""
    mean = lambda y: torch.from_numpy(np.cumsum(y.numpy(), -1)[..., -1:]) / y.shape[-1]
    centred = x - mean(x)
    return centred * torch.rsqrt(mean(centred * centred) + 1e-12)


def _in_one_pass(x: Tensor) -> Tensor:
    """A normalisation whose variance is computed in one pass over the numbers."""
    mean, square = (y.mean((2, 3), keepdim=True) for y in (x, x * x))
    return (x - mean) * torch.rsqrt((square - mean * mean).clamp(min=0) + 1e-3)


def _in_half(a: Tensor, b: Tensor) -> Tensor:
    """A matrix product whose partial sums are rounded to float16."""
    total = torch.zeros(a.shape[0], b.shape[1], dtype=torch.float16)
    for k in range(a.shape[1]):
        total = total + a[:, k : k + 1] * b[k : k + 1]
    return total


def _one_after_the_other(x: Tensor) -> Tensor:
    total = torch.zeros((), dtype=x.dtype)
    for number in x.flatten():
        total = total + number
    return total


def _columns(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """A convolution as a matrix product."""
    made = weight.reshape(weight.shape[0], -1) @ F.unfold(x, weight.shape[2:], padding=1)
    return made.reshape(x.shape[0], weight.shape[0], *x.shape[2:]) + bias.reshape(-1, 1, 1)


def _last_of_the_largest(x: Tensor) -> Tensor:
    return x.shape[1] - 1 - torch.argmax(x.flip(1), dim=1)


WRONG_KERNELS = (
    Implementation("no epsilon in batch_norm", NORM_CALL, NORM, lambda *a: _batch_norm(*a, eps=0.0)),
    Implementation("no epsilon in layer_norm", LAYER_CALL, {"x0": "float32[5,8]"}, lambda x: _layer_norm(x, 0.0)),
    Implementation(
        "strides swapped",
        ("v0", "avg_pool2d", "x0", {"kernel_size": (1, 1), "stride": (2, 3)}),
        {"x0": "float32[2,3,4,4]"},
        lambda x: F.avg_pool2d(x, (1, 1), (3, 2)),
    ),
    Implementation("padding off by one", CONV_CALL, CONV, lambda x, w, b: F.conv2d(F.pad(x, (0, 2, 1, 1)), w, b)),
    Implementation(
        "alpha ignored",
        ("v0", "add", "x0 x1", {"alpha": 1.5}),
        {"x0": "float16[3,4]", "x1": "float16[3,4]"},
        lambda x, y: x + y,
    ),
    Implementation("population variance", VAR_CALL, {"x0": "float32[3,400]"}, lambda x: x.var(1, correction=0)),
    Implementation(
        "last of equal maxima",
        ("v0", "argmax", "x0", {"dim": 1, "keepdim": False}),
        {"x0": "float32[4,9]"},
        _last_of_the_largest,
        _ties,
    ),
    Implementation(
        "one NaN lost", ("v0", "relu", "x0"), {"x0": "float32[3,5]"}, lambda x: torch.where(x > 0, x, 0.0), _with_nan
    ),
    Implementation(
        "float32 sum of float64",
        ("v0", "sum", "x0"),
        {"x0": "float64[200]"},
        lambda x: x.float().sum().double(),
        _ones,
    ),
    Implementation("float16 sum of float16", MATMUL_CALL, MATMUL, _in_half, _ones),
    Implementation(
        "tanh approximation", ("v0", "gelu", "x0"), {"x0": "float32[40]"}, lambda x: F.gelu(x, approximate="tanh")
    ),
)

RIGHT_KERNELS = (
    Implementation("batch_norm folded", NORM_CALL, NORM, lambda *a: _batch_norm(*a, eps=1e-5)),
    Implementation("layer_norm in steps", LAYER_CALL, {"x0": "float32[5,8]"}, lambda x: _layer_norm(x, 1e-5)),
    Implementation(
        "instance_norm summed from the left",
        ("v0", "instance_norm", "x0", {"eps": 1e-12}),
        {"x0": "float32[2,3,2000]"},
        _from_the_left,
        _saturated,
    ),
    Implementation(
        "group_norm in one pass",
        ("v0", "group_norm", "x0", {"num_groups": 30, "eps": 1e-3}),
        {"x0": "float32[1,30,4,9]"},
        _in_one_pass,
        _far_from_zero,
    ),
    Implementation("convolution as a product", CONV_CALL, CONV, _columns),
    Implementation(
        "variance in one pass",
        VAR_CALL,
        {"x0": "float32[3,400]"},
        lambda x: ((x * x).sum(1) - x.sum(1) * x.mean(1)) / 399,
    ),
    Implementation("a sum from the left", ("v0", "sum", "x0"), {"x0": "float32[3000]"}, _one_after_the_other),
    Implementation(
        "a sum of positive numbers", ("v0", "sum", "x0"), {"x0": "float32[3000]"}, _one_after_the_other, _ones
    ),
    Implementation("a sum of float64", ("v0", "sum", "x0"), {"x0": "float64[3000]"}, _one_after_the_other, _ones),
    Implementation("a product in float32", MATMUL_CALL, MATMUL, lambda a, b: (a.float() @ b.float()).half(), _ones),
    Implementation(
        "a softmax without its maximum",
        ("v0", "softmax", "x0", {"dim": 1}),
        {"x0": "float32[6,50]"},
        lambda x: x.exp() / x.exp().sum(1, keepdim=True),
    ),
    Implementation(
        "a sigmoid by tanh", ("v0", "sigmoid", "x0"), {"x0": "float32[40]"}, lambda x: 0.5 + 0.5 * torch.tanh(0.5 * x)
    ),
    Implementation(
        "gelu in steps", ("v0", "gelu", "x0"), {"x0": "float32[40]"}, lambda x: 0.5 * x * (1 + torch.erf(x * 0.5**0.5))
    ),
    Implementation(
        "NaN kept", ("v0", "relu", "x0"), {"x0": "float32[3,5]"}, lambda x: torch.clamp(x, min=0), _with_nan
    ),
)
