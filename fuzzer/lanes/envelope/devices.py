"""How far the languages of GPUs let an operator be off, beyond what a processor is off: data, with its sources.

OpenCL C and WGSL bound the error of each function that they have. An envelope for a lane of such a target pushes the
results of operators by as much as that (`Accuracy.reach`). Where a bound of the language exists it is used, and not a
measured one: the next driver may use all of it.

OPENCL_C  The OpenCL C Specification 3.0, table "ULP values for single precision built-in math functions"
WGSL      WebGPU Shading Language, section "Accuracy of Concrete Floating Point Expressions", column f32, and section
          "Differences from IEEE-754"
TVM       what TVM writes where the language lacks the function: the bound follows from the functions in its text

`benchmarks/device_rounding.py` measures how much of each bound the drivers of a machine use.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch

from generators.graph import Attrs
from oracles.targets import family_of


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an operator. `args` and `result` are the numbers in float64, `eps` is the epsilon of the result."""

    args: Sequence[torch.Tensor]
    result: torch.Tensor
    attrs: Attrs
    eps: float

    @property
    def largest(self) -> float:
        """The largest magnitude of a finite operand that holds floats, at least 1."""
        floats = [arg.abs() for arg in self.args if arg.is_floating_point() and arg.numel()]
        return max([1.0, *(float(torch.where(torch.isfinite(each), each, 0.0).max()) for each in floats)])


Reach = Callable[[Call], torch.Tensor]
"""How far each number of a result may be off: not negative, in the shape of the result."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What one language permits.

    operators  by operator, without its dialect and version, how far its result may be off
    function   the same for all other functions: formulas of several of them
    finite     whether NaN and infinities have no defined meaning
    """

    operators: Mapping[str, Reach]
    function: Reach
    finite: bool = False

    def reach(self, operator: str, call: Call, *, is_function: bool) -> torch.Tensor:
        """How far each number of the result may be off; zeros where nothing is known of the operator."""
        other = self.function if is_function else units(0.0)
        found = self.operators.get(plain_name(operator), other)(call)
        return torch.nan_to_num(found.expand(call.result.shape), nan=0.0, posinf=0.0)


def plain_name(operator: str) -> str:
    """The name of an operator without dialect and version: `tanh` for `relax.tanh` and `Tanh-13`."""
    return re.sub(r"-\d+$", "", operator.rpartition(".")[2]).lower()


def units(count: float) -> Reach:
    """That many units in the last place of the result."""
    return lambda call: count * call.eps * call.result.abs()


def units_of_operand(count: float) -> Reach:
    """That many units in the last place of the largest operand or of the result: a function that takes no more than 1
    is multiplied by the operand."""
    return lambda call: count * call.eps * (call.result.abs() + call.largest)


def _times_operand(count: float) -> Reach:
    """That many units of each element of the first operand: a number that is at most 1 is multiplied by it."""
    return lambda call: count * call.eps * (call.result.abs() + call.args[0].abs())


def _two_steps(call: Call) -> torch.Tensor:
    """x * y + z, whose product may be rounded or not."""
    return call.eps * ((call.args[0] * call.args[1]).abs() + call.result.abs())


# -- WGSL

_SINE = 2.0**-11
_LOGARITHM = 2.0**-21
_TANH = 1.0e-5


Numbers = TypeVar("Numbers", torch.Tensor, float)


def _exp_units(size: Numbers) -> Numbers:
    return 3.0 + 2.0 * size


def _exp(call: Call) -> torch.Tensor:
    return _exp_units(call.args[0].abs()) * call.eps * call.result.abs()


def _hyperbolic(call: Call) -> torch.Tensor:
    """(exp(x) + exp(-x)) * 0.5, or the difference."""
    return _exp_units(call.args[0].abs()) * call.eps * torch.cosh(call.args[0])


def _log(call: Call) -> torch.Tensor:
    return _LOGARITHM + 3.0 * call.eps * call.result.abs()


def _sine(call: Call) -> torch.Tensor:
    return _SINE + 0.0 * call.result


def _tan(call: Call) -> torch.Tensor:
    """sin(x) / cos(x)."""
    return _SINE * (1.0 + call.result.abs()) ** 2 + 2.5 * call.eps * call.result.abs()


def _tanh(call: Call) -> torch.Tensor:
    """TVM writes (exp(2x) - 1) / (exp(2x) + 1), of the negative of a positive number."""
    return torch.clamp(2.0 * _exp_units(2.0 * call.args[0].abs().clamp(max=44.0)) * call.eps, min=_TANH)


def _arc(absolute: float) -> Reach:
    return lambda call: absolute + 4096.0 * call.eps * call.result.abs()


def _asinh(call: Call) -> torch.Tensor:
    """log(x + sqrt(x * x + 1)), which loses the digits of a negative number."""
    x = call.args[0]
    sum_of = x.abs() + torch.sqrt(x * x + 1.0)
    return _log(call) + 8.0 * call.eps * torch.where(x < 0, sum_of**2, 1.0)


def _acosh(call: Call) -> torch.Tensor:
    """log(x + sqrt(x * x - 1)), which loses digits near 1."""
    root = torch.sqrt((call.args[0] ** 2 - 1.0).clamp(min=0.0))
    return _log(call) + 8.0 * call.eps / root.clamp(min=math.sqrt(call.eps))


def _atanh(call: Call) -> torch.Tensor:
    """log((1 + x) / (1 - x)) * 0.5."""
    return _log(call) + 4.0 * call.eps


def _pow(call: Call) -> torch.Tensor:
    """exp2(y * log2(x)): the error of the logarithm, times y, is a relative error of the result."""
    exponent = _exponent(call)
    product = torch.log2(call.result.abs())
    product = torch.where(torch.isfinite(product), product.abs(), 0.0)
    of_logarithm = math.log(2.0) * (_LOGARITHM * exponent + 4.0 * call.eps * product)
    return (of_logarithm + _exp_units(product) * call.eps) * call.result.abs()


def _exponent(call: Call) -> torch.Tensor | float:
    if len(call.args) == 2:
        return call.args[1].abs()
    numbers = [abs(value) for value in call.attrs.values() if isinstance(value, int | float)]
    return max(call.largest, *numbers) if numbers else call.largest


def _formula(absolute: float) -> Reach:
    """A formula of exp, log, quotients and roots, whose parts may be multiplied by an operand."""

    def reach(call: Call) -> torch.Tensor:
        relative = _exp_units(min(2.0 * call.largest, 88.0)) * call.eps * call.result.abs()
        return relative + absolute * call.largest

    return reach


_WITH_TANH = (
    *("tanhshrink", "mish", "gelu_tanh", "fastgelu", "biasgelu", "lstm", "gru", "rnn_tanh", "lstm_cell"),
    *("gru_cell", "rnn_tanh_cell", "lstm_zero_state", "gru_zero_state", "rnn_tanh_zero_state", "lstm_unbatched"),
    *("gru_unbatched", "rnn_tanh_unbatched", "cond", "cond_size", "cond_item", "loop", "while_loop", "parts"),
    *("shape_branch", "with_item", "with_whole_item"),
)
"""Formulas that contain tanh, or nodes whose parts may be one."""

_WITH_SINE = ("sinc", "hann_window", "hamming_window", "blackman_window", "bartlett_window", "torch_call", "onnx_node")
"""Formulas that contain a sine, or calls of which nothing is known."""

_QUOTIENTS = (
    *("div", "div_scalar", "rdiv_scalar", "reciprocal", "divide", "over_size", "over_numel", "rrelu", "deg2rad"),
    *("rad2deg", "dynamicquantizelinear", "dequantize", "addcdiv", "hardsigmoid", "hardswish", "softsign"),
)
_POWERS = ("pow", "pow_scalar", "pow_positive", "float_power", "float_power_scalar", "rpow_scalar", "power")

WGSL = Accuracy(
    {
        "exp": _exp,
        "exp2": _exp,
        "expm1": lambda call: _exp(call) + _exp_units(call.args[0].abs()) * call.eps,
        "sinh": _hyperbolic,
        "cosh": _hyperbolic,
        "log": _log,
        "log2": _log,
        "log10": _log,
        "log1p": _log,
        "sin": _sine,
        "cos": _sine,
        "tan": _tan,
        "tanh": _tanh,
        "atan": _arc(0.0),
        "atan2": _arc(0.0),
        "asin": _arc(6.81e-5),
        "acos": _arc(6.77e-5),
        "asinh": _asinh,
        "acosh": _acosh,
        "atanh": _atanh,
        "sqrt": units(4.5),  # 1 / inverseSqrt(x)
        "rsqrt": units(7.0),  # TVM: 1 / sqrt(x)
        "erf": units(16.0),  # TVM: a rational function, measured: 8.3 units
        "gelu": _times_operand(16.0),  # TVM: with the same erf, which is not 1 where it ends
        "ewise_fma": _two_steps,
        **dict.fromkeys(_QUOTIENTS, units(2.5)),
        **dict.fromkeys(_POWERS, _pow),
        **dict.fromkeys(_WITH_TANH, _formula(_TANH)),
        **dict.fromkeys(_WITH_SINE, _formula(_SINE)),
    },
    _formula(_LOGARITHM),
    finite=True,
)

# -- OpenCL C

OPENCL_C = Accuracy(
    {
        **{name: units(3.0) for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "sqrt")},
        **{name: units(4.0) for name in ("sin", "cos", "sinh", "cosh", "asin", "acos", "asinh", "acosh", "hypot")},
        **{name: units(5.0) for name in ("tan", "tanh", "atan", "atanh")},
        "atan2": units(6.0),
        "log1p": units(2.0),
        "rsqrt": units(5.5),  # TVM: 1 / sqrt(x)
        "erf": units(16.0),
        "erfc": units_of_operand(16.0),  # TVM: 1 - erf(x)
        "ewise_fma": _two_steps,
        **dict.fromkeys(_QUOTIENTS, units(2.5)),
        **dict.fromkeys(_POWERS, units(16.0)),
    },
    units_of_operand(16.0),
)

ACCURACIES = {"opencl": OPENCL_C, "webgpu": WGSL}
"""By the family of a target (`oracles.targets.family_of`)."""


def accuracy_of(target: str) -> Accuracy | None:
    """What the language of a target permits; None where it permits no more than a processor is off."""
    return ACCURACIES.get(family_of(target))
