"""The references for gradients: torch.autograd in the model's precision and in float64, and their measured envelope."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from fuzzer.cases import scalar_loss
from fuzzer.lanes.base.arrays import from_torch, laid_out, to_torch
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.envelope.undefined import OTHERS, UndefinedResults
from fuzzer.lanes.torch.weighted_sum import WeightedSum, summed
from generators.graph import Array, Case, DType, Node, TensorType, holds_floats
from generators.table import TABLE
from generators.torch.source import statements
from generators.undefined import rows_of
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage

Tensor = torch.Tensor
SAMPLES = 10
OWN_SAMPLES = 6
ULPS = 4.0
"""The size of a push in units in the last place: the error of functions of libm."""
NEAR_ZERO = 1e-3
"""A zero is pushed like a number of this size, because at a kink (of relu, abs, max) both sides are correct."""


class TorchGradientLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        return scalar_loss.why_not(case)

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
        step(Stage.RENDER)
        function, names = scalar_loss.as_function(prepared.case), scalar_loss.leaves(prepared.case)
        float64 = spec.variant != "gradient"
        with torch.enable_grad(), _default_dtype(torch.float64 if float64 else torch.float32):
            if spec.variant == "gradient-envelope":
                step(Stage.RUN)
                return Ran(_envelope(function, names))
            model = WeightedSum(function, float64=float64)
            step(Stage.RUN)
            arguments = _arguments(function, names, float64=float64)
            return Ran(_value_and_gradients(model(*arguments.values()), [arguments[name] for name in names]))


@contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Set the dtype of the floats that PyTorch makes of integers and Python numbers."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _arguments(function: Case, names: Sequence[str], *, float64: bool) -> dict[str, torch.Tensor]:
    made = {}
    for item in function.graph.inputs:
        name = item.value.name
        array = function.tensors[name]
        tensor = laid_out(to_torch(array.astype(np.float64) if float64 and holds_floats(array) else array), item.layout)
        made[name] = tensor.requires_grad_() if name in names else tensor
    return made


def _value_and_gradients(loss: torch.Tensor, leaves: Sequence[torch.Tensor]) -> tuple[Array, ...]:
    """Return the sum and then its gradients. A lane with another sum differentiates another function."""
    if not loss.requires_grad:
        raise NotImplementedError("no argument has an influence that PyTorch differentiates")
    found = torch.autograd.grad(loss, leaves, allow_unused=True, materialize_grads=True)
    return tuple(map(from_torch, (loss, *found)))


def _envelope(function: Case, names: Sequence[str]) -> tuple[Array, ...]:
    """Return the spread of each gradient, and then which of its elements become NaN or infinite in some sample.

    The method is Monte Carlo arithmetic: every value of the float64 evaluation is pushed by a few units in the last
    place of its dtype. Autograd multiplies the gradients by the same factors, so the roundings of the backward pass are
    pushed too, including the last ones. Samples in the model's own precision show the roundings inside the derivative
    of one operator (that of a normalisation is a difference of large numbers)."""
    truth = _sample(function, names, None)
    spread = [np.zeros(array.shape) for array in truth]
    ill = [np.zeros(array.shape, np.bool_) for array in truth]
    samples = [_sample(function, names, seed) for seed in range(SAMPLES)]
    samples += [_own_precision(function, names, seed) for seed in range(OWN_SAMPLES)]
    for sample in samples:
        for i, (array, right) in enumerate(zip(sample, truth, strict=True)):
            finite = np.isfinite(array) & np.isfinite(right)
            ill[i] |= np.isfinite(array) != np.isfinite(right)
            with np.errstate(invalid="ignore"):
                spread[i] = np.maximum(spread[i], np.where(finite, np.abs(array - right), 0.0))
    for other in OTHERS if any(rows_of(node.op) for node in function.graph.nodes) else ():
        for mask, array, right in zip(ill, _sample(function, names, None, other), truth, strict=True):
            mask |= ~((array == right) | (np.isnan(array) & np.isnan(right)))
    return (*spread, *ill)


def _sample(function: Case, names: Sequence[str], seed: int | None, undefined: int = 0) -> tuple[Array, ...]:
    """Return the sum and its gradients, pushed at random from `seed`. With `undefined`, that one of `OTHERS` is in
    place of each number that no framework defines."""
    noise = torch.Generator().manual_seed(seed or 0)

    def pushed(value: torch.Tensor, dtype: DType) -> torch.Tensor:
        if seed is None or not dtype.is_float or not value.is_floating_point():
            return value
        push = 2 * torch.rand(value.shape, generator=noise) - 1
        size = ULPS * dtype.eps * push
        at_zero = torch.where(value == 0, size * NEAR_ZERO, torch.zeros(()))
        return value * (1 + size) + at_zero  # infinities do not change, but their gradients are pushed

    types = function.graph.types
    arguments = _arguments(function, names, float64=True)
    values = {name: pushed(value, types[name].dtype) for name, value in arguments.items()}
    for node in function.graph.nodes:
        terms = TABLE[node.op].terms
        count = terms(tuple(types[name] for name in node.args), node.attrs) if terms else 0
        operands = [values[name] for name in node.args]
        if count > 1:  # the error of a sum grows with its terms, not with its result
            operands = [pushed(value, types[name].dtype) for name, value in zip(node.args, operands, strict=True)]
        results = _apply(node, operands)
        if undefined:
            results = _with_other(node, [types[name] for name in node.args], operands, results, undefined)
        for result, made in zip(node.results, results, strict=True):
            values[result.name] = pushed(made, result.type.dtype)
    outputs = [values[name] for name in function.graph.outputs]
    counting = [
        (output, torch.from_numpy(weight).double())
        for output, weight in zip(outputs, scalar_loss.weights(function), strict=True)
        if weight is not None
    ]
    loss = summed([output * weight for output, weight in counting])
    return _value_and_gradients(loss, [arguments[name] for name in names])


def _with_other(
    node: Node, types: Sequence[TensorType], operands: Sequence[Tensor], results: tuple[Tensor, ...], other: int
) -> tuple[Tensor, ...]:
    found = UndefinedResults(node, tuple(types))
    masks = found.masks([each.detach() for each in operands], lambda args: _apply(node, args))
    return found.replaced(results, masks, other)


def _own_precision(function: Case, names: Sequence[str], seed: int) -> tuple[Array, ...]:
    """Run autograd in the model's precision, on arguments that are pushed by up to one unit in the last place."""
    noise = np.random.RandomState(seed)
    moved = dict(function.tensors)
    for name in names:
        array = moved[name]
        moved[name] = np.asarray(
            array * (1 + np.finfo(array.dtype).eps * noise.uniform(-1, 1, array.shape)), array.dtype
        )
    with _default_dtype(torch.float32):
        arguments = _arguments(replace(function, tensors=moved), names, float64=False)
        loss = WeightedSum(function)(*arguments.values())
        return _value_and_gradients(loss, [arguments[name] for name in names])


def _apply(node: Node, operands: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Evaluate one node in its plain form, in double precision."""
    names = tuple(f"a{i}" for i in range(len(operands)))
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, **dict(zip(names, operands, strict=True))}
    exec("\n".join(statements(node, names, float64=True)), scope)
    return tuple(scope[value.name] for value in node.results)
