"""What a Relax module computes by the definitions of its operators, and how far a right compiler may be off.

The module is evaluated operator by operator with PyTorch: once in the dtypes that it declares, once in float64, and
several times in float64 with results that are pushed by rounding errors. The largest distance between these is the
envelope, as for models of PyTorch (docs/tolerance.md). Where the module has kernels, float64 tells nothing: then the
values in the declared dtypes are compared with more allowance. What has no definition here is compiled without optional
passes instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import torch
from torch import Tensor

from fuzzer.lanes.base.arrays import from_torch, to_torch
from fuzzer.lanes.evaluated.common import Contradiction, Unknown
from fuzzer.lanes.evaluated.evaluation import declared_value
from fuzzer.lanes.evaluated.interpreter import Program, declared_types, flat, interpreting
from fuzzer.lanes.evaluated.operators import value_of
from generators.graph import Array, holds_floats
from oracles.reference import Expected
from oracles.transforms import Rounding

RANKS = (1, 2, 3)

EXACT = frozenset(
    {
        "abs",
        "broadcast_to",
        "ceil",
        "clip",
        "concat",
        "expand_dims",
        "flip",
        "floor",
        "full",
        "full_like",
        "gather_elements",
        "gather_nd",
        "index_tensor",
        "max",
        "maximum",
        "min",
        "minimum",
        "negative",
        "nn.dropout",
        *(f"nn.max_pool{rank}d" for rank in RANKS),
        "nn.pad",
        "nn.pixel_shuffle",
        "nn.relu",
        "nn.relu6",
        "one_hot",
        "ones",
        "ones_like",
        "permute_dims",
        "repeat",
        "reshape",
        "round",
        "scatter_elements",
        "scatter_nd",
        "sign",
        "sort",
        "split",
        "squeeze",
        "strided_slice",
        "take",
        "tile",
        "topk",
        "tril",
        "triu",
        "trunc",
        "where",
        "zeros",
        "zeros_like",
    }
)
"""Operators whose results every implementation rounds alike."""

ADDING = frozenset(
    {
        "cumprod",
        "cumsum",
        "einsum",
        "matmul",
        "mean",
        *(f"nn.{name}{rank}d" for rank in RANKS for name in ("conv", "avg_pool", "adaptive_avg_pool")),
        *(f"nn.conv{rank}d_transpose" for rank in RANKS),
        "nn.attention",
        "nn.attention_bias",
        *(f"nn.{name}_norm" for name in ("batch", "group", "instance", "layer", "rms")),
        "nn.log_softmax",
        "nn.softmax",
        "prod",
        "std",
        "sum",
        "variance",
    }
)
"""Operators that add numbers, in an order that is free."""

UNITS = 4.0
"""How far a right implementation of a function may be off, in units in the last place (docs/tolerance.md)."""

WIDE = 4.0
PUSHES = ((1, 1.0), (-1, 1.0), *((0, 1.0) for _ in range(6)))
WIDER = ((1, WIDE), (-1, WIDE), (0, WIDE), (0, WIDE))
"""(direction, width): 1 pushes away from zero, -1 towards it, 0 at random."""

MOST_STEPS = 200_000
"""The largest number of loads and stores of a kernel that is interpreted: a second."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What is expected of each result, and how much more than that is allowed. `unknown` says which part has no
    definition here; "" where all has."""

    expected: tuple[Expected, ...]
    rounding: Rounding = Rounding.SAME
    unknown: str = ""


def reference(module: Any, inputs: Sequence[Array], compiled: Callable[[], tuple[Array, ...]]) -> Reference:
    """Evaluate main. `compiled` gives the results of a program that was compiled without optional passes.

    Raise `Outside` where main reads outside of a tensor, and `Contradiction` where a call is declared with another
    shape than its definition gives."""
    try:
        eager = evaluated(module, inputs)
    except Unknown as error:
        return Reference(tuple(map(_as_they_are, compiled())), Rounding.OTHER_ORDER, str(error))
    try:
        return Reference(_measured(module, inputs, eager))
    except Unknown:  # kernels
        return Reference(tuple(map(_as_they_are, eager)), Rounding.OTHER_ORDER)


def evaluated(module: Any, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """The results of main in the declared dtypes. Raise `Unknown`, `Outside` and `Contradiction`."""
    program = Program(module, declared_value, interpreting(module, MOST_STEPS))
    with torch.no_grad():
        return _arrays(program.call("main", [to_torch(array) for array in inputs]))


def _arrays(value: Any) -> tuple[Array, ...]:
    results = flat(value)
    if not all(isinstance(each, Tensor) for each in results):
        raise Unknown("a result that is no tensor")
    return tuple(map(from_torch, results))


def _as_they_are(array: Array) -> Expected:
    return Expected(array, _widened(array), np.zeros(array.shape), np.zeros(array.shape, np.bool_))


def _widened(array: Array) -> Array:
    return array.astype(np.float64) if holds_floats(array) else array


def _measured(module: Any, inputs: Sequence[Array], eager: tuple[Array, ...]) -> tuple[Expected, ...]:
    truth = _pushed(module, inputs, 0, 0.0, 0)
    near = [_pushed(module, inputs, *push, seed) for seed, push in enumerate(PUSHES)]
    far = [_pushed(module, inputs, *push, seed) for seed, push in enumerate(WIDER)]
    return tuple(
        _expected(eager[place], truth[place], [each[place] for each in near], [each[place] for each in far])
        for place in range(len(eager))
    )


def _expected(eager: Array, truth: Array, near: Sequence[Array], far: Sequence[Array]) -> Expected:
    if eager.shape != truth.shape:
        raise Contradiction("main", str(eager.dtype), eager.shape, truth.shape)
    if not holds_floats(eager):
        moved = [np.not_equal(each, truth) for each in (*near, *far)]
        ill = np.logical_or.reduce([*moved, eager != truth])
        return Expected(eager, truth, np.zeros(eager.shape), ill)
    with np.errstate(invalid="ignore", over="ignore"):
        spread = np.maximum.reduce([_distance(each, truth) for each in near])
        wide = np.maximum.reduce([_distance(each, truth) for each in far])
        ill = ~np.isfinite(spread) | ~np.isfinite(wide) | (wide > 4 * WIDE * spread)
        info = ml_dtypes.finfo(eager.dtype)
        spread += np.where(spread > 0, 1.5 * float(info.eps) * np.abs(truth), 0.0)
    same = np.isnan(eager) & np.isnan(truth) | (eager.astype(np.float64) == truth)
    return Expected(eager, truth, np.where(np.isfinite(spread), spread, 0.0), ill & ~(same & ~np.isfinite(truth)))


def _distance(one: Array, other: Array) -> Array:
    """The distance of each element; 0 where both are the same infinity or NaN, infinite where one of them is."""
    both = (one == other) | (np.isnan(one) & np.isnan(other))
    return np.where(both, 0.0, np.where(np.isfinite(one) & np.isfinite(other), np.abs(one - other), np.inf))


def _pushed(module: Any, inputs: Sequence[Array], direction: int, width: float, seed: int) -> tuple[Array, ...]:
    """The results of main in float64, each result of an operator pushed by what a right implementation may be off."""
    generator = torch.Generator().manual_seed(seed)

    def push(value: Any, units: float, eps: float) -> Any:
        if not isinstance(value, Tensor) or not value.is_floating_point() or not width:
            return value
        sign = torch.randint(0, 2, value.shape, generator=generator) * 2 - 1 if direction == 0 else direction
        return value * (1 + sign * units * eps * width)

    def evaluate(call: Any, args: Sequence[Any]) -> Any:
        name = str(call.op.name).removeprefix("relax.")
        wide = [_in_float64(arg) for arg in args]
        types = declared_types(call)
        eps = max([float(torch.finfo(_dtype(each)).eps) for each in types if _dtype(each).is_floating_point], default=0)
        adding = name in ADDING
        if adding:
            wide = [push(arg, math.sqrt(_terms(name, call.attrs, wide)), eps) for arg in wide]
        try:
            value = value_of(name, call.attrs, wide)
        except (RuntimeError, TypeError, ValueError, IndexError) as error:  # PyTorch refuses the operands
            raise Unknown(f"relax.{name} {type(error).__name__}") from error
        parts = [each if each.is_floating_point() else each.to(_dtype(kind)) for each, kind in _pairs(value, types)]
        parts = [push(each.double() if each.is_floating_point() else each, UNITS, eps) for each in parts]
        if name in EXACT:
            parts = [_in_float64(each) for each in flat(value)]
        return tuple(parts) if isinstance(value, tuple) else parts[0]

    program = Program(module, evaluate)
    with torch.no_grad():
        return _arrays(_in_float64(program.call("main", [_in_float64(to_torch(array)) for array in inputs])))


def _pairs(value: Any, types: Sequence[Any]) -> list[tuple[Tensor, Any]]:
    values = flat(value)
    if len(values) != len(types) or not all(isinstance(each, Tensor) for each in values):
        raise Unknown("a call with another number of tensors")
    return list(zip(values, types, strict=True))


def _dtype(declared: Any) -> torch.dtype:
    found = getattr(torch, str(getattr(declared, "dtype", "")), None)
    if not isinstance(found, torch.dtype):
        raise Unknown("a result of no known dtype")
    return found


def _in_float64(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_in_float64, value))
    return value.double() if isinstance(value, Tensor) and value.is_floating_point() else value


def _terms(name: str, attrs: Any, args: Sequence[Any]) -> int:
    """How many numbers an operator adds for an element of its result, at most."""
    tensors = [arg for arg in args if isinstance(arg, Tensor)]
    if name == "matmul":
        return max(1, tensors[0].shape[-1])
    if name.startswith("nn.conv"):
        filters, channels_out = tensors[1], str(attrs.kernel_layout).index("O")
        return max(1, filters.numel() // max(1, filters.shape[channels_out]))
    if name.startswith("nn.avg_pool"):
        return math.prod(map(int, attrs.pool_size))
    return max(1, *(each.numel() for each in tensors))
