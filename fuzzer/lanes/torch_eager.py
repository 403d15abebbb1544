"""The references: PyTorch itself, the float64 truth, and the measured envelope (DESIGN section 5)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from fuzzer.lanes import torch_effects
from fuzzer.lanes.base import Bench, Step, build_model, from_torch, laid_out, to_torch
from fuzzer.lanes.one_pass import ONE_PASS
from generators.graph import FLOATS, Array, Case, DType, Form, Node, TensorType, holds_floats
from generators.ops import TABLE
from generators.torch_source import constructor, render, statements
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage

ULPS = 4.0
"""Size of a perturbation in units in the last place: libm and vectorised functions stray by as much."""

RANDOM_SAMPLES = 4
ONE_PASS_SAMPLE = -1


class TorchLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        return None

    def run(self, bench: Bench, spec: LaneSpec, step: Step) -> Ran:
        with torch.no_grad():
            match spec.variant:
                case "eager":
                    model, inputs = bench.model, bench.torch_inputs()
                    before = [tensor.clone() for tensor in inputs]
                    step(Stage.RUN)
                    outputs = model(*inputs)
                    step.note(
                        modified=torch_effects.modified(bench.inputs, before, inputs),
                        aliases=torch_effects.aliases(bench.inputs, inputs, outputs),
                    )
                    return Ran(_numpy(outputs))
                case "f64":
                    return Ran(_numpy(_truth(bench, step)))
                case "envelope":
                    truth = [array.astype(np.float64) for array in _numpy(_truth(bench, step))]
                    return Ran((*_envelope(bench.case, truth),))
                case _:
                    raise ValueError(f"no torch lane {spec.variant!r}")


def _numpy(outputs: tuple[torch.Tensor, ...]) -> tuple[Array, ...]:
    return tuple(map(from_torch, outputs))


def _double(array: Array) -> Array:
    return array.astype(np.float64) if holds_floats(array) else array


@contextmanager
def _double_precision() -> Iterator[None]:
    """float64 for what PyTorch makes of integers and Python numbers, too."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _truth(bench: Bench, step: Step) -> tuple[torch.Tensor, ...]:
    step(Stage.RENDER)
    params = {name: _double(array) for name, array in bench.case.owned.items()}
    with _double_precision():
        model = build_model(render(bench.case.bound, float64=True), params)
        step(Stage.RUN)
        items = [item for item in bench.case.graph.inputs if not item.role.is_owned]
        inputs = [laid_out(to_torch(_double(bench.case.tensors[i.value.name])), i.layout) for i in items]
        outputs: tuple[torch.Tensor, ...] = model(*inputs)
    return outputs


def _envelope(case: Case, truth: list[Array]) -> list[Array]:
    """Monte Carlo arithmetic: the graph is evaluated in float64 with every rounded result perturbed by up to ULPS units
    in the last place of its own dtype; sums have their operands perturbed as well, by sqrt(terms) as much.

    Returns the largest distance from the truth per output element (float64), then for each output which
    elements are ill-conditioned (bool): integers that some sample changes, floats that some sample makes non-finite.
    """
    spread = [np.zeros(array.shape) for array in truth]
    ill = [np.zeros(array.shape, np.bool_) for array in truth]
    samples = [ONE_PASS_SAMPLE] if any(op in ONE_PASS for op in case.graph.ops) else []
    for sample in (*samples, *range(2 + RANDOM_SAMPLES)):
        with _double_precision():
            outputs = _perturbed_run(case, sample)
        for i, (output, right) in enumerate(zip(outputs, truth, strict=True)):
            array = output.numpy().astype(np.float64)
            if not output.is_floating_point():
                ill[i] |= array != right
                continue
            finite = np.isfinite(array) & np.isfinite(right)
            ill[i] |= np.isfinite(array) != np.isfinite(right)
            with np.errstate(invalid="ignore"):
                spread[i] = np.maximum(spread[i], np.where(finite, np.abs(array - right), 0.0))
    return [*spread, *ill]


def _perturbed_run(case: Case, sample: int) -> list[torch.Tensor]:
    """Samples 0 and 1 push every value away from zero and towards it (ties cannot hide from both); the others are
    random. ONE_PASS_SAMPLE pushes nothing, and computes variances in one pass, in their own precision."""
    noise = torch.Generator().manual_seed(sample + 1)

    def perturb(value: torch.Tensor, eps: float, growth: float, scale: float = 0.0) -> torch.Tensor:
        size = growth * ULPS * eps
        if sample == ONE_PASS_SAMPLE:
            return value
        if sample < 2:
            push = torch.where(value < 0, -1.0, 1.0) * (1 - 2 * sample)
        else:
            push = 2 * torch.rand(value.shape, generator=noise, dtype=torch.float64) - 1
        moved = value + push * size * torch.clamp(value.abs(), min=scale)
        return torch.where(torch.isfinite(value), moved, value)  # an infinity pushed towards zero would be NaN

    graph = case.bound
    types = graph.types
    values = {name: to_torch(_double(array)) for name, array in case.tensors.items()}
    for node in graph.nodes:
        op = TABLE[node.op]
        count = op.terms(tuple(types[name] for name in node.args), node.attrs) if op.terms else 0
        growth = math.sqrt(max(count, 1))
        args = [values[name] for name in node.args]
        if count > 1:  # a sum may run in its operands' precision or, where that is coarser, in its result's
            coarsest = max([_eps(result.type.dtype) for result in node.results])
            args = [
                perturb(arg, max(types[name].dtype.eps, coarsest), growth) if types[name].dtype in FLOATS else arg
                for name, arg in zip(node.args, args, strict=True)
            ]
        if sample == ONE_PASS_SAMPLE and node.op in ONE_PASS:
            own = getattr(torch, node.results[0].type.dtype)
            made: tuple[torch.Tensor, ...] = (
                ONE_PASS[node.op]([a.to(own) for a in args], node.attrs).to(torch.float64),
            )
        else:
            made = _apply(node, args, tuple(types[name] for name in node.args))
        for result, value in zip(node.results, made, strict=True):
            rounded = op.terms is not None and result.type.dtype in FLOATS
            values[result.name] = perturb(value, result.type.dtype.eps, growth, op.scale) if rounded else value
    return [values[name].contiguous() for name in graph.outputs]


def _eps(dtype: DType) -> float:
    return dtype.eps if dtype.is_float else 0.0


def _apply(node: Node, args: list[torch.Tensor], types: tuple[TensorType, ...]) -> tuple[torch.Tensor, ...]:
    """The node alone, on these operands, in double precision."""
    names = tuple(f"a{i}" for i in range(len(args)))
    if node.form is Form.INPLACE:  # the operand belongs to the caller
        args = [args[0].clone(), *args[1:]]
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, **dict(zip(names, args, strict=True))}
    given = [
        f"torch.nn.Parameter({name})" if arg.is_floating_point() else name
        for name, arg in zip(names, args, strict=True)
    ]
    lines = constructor(node, tuple(given), types, "layer", float64=True)
    if lines:
        lines.append("layer.eval()")
    exec("\n".join([*lines, *statements(node, names, "layer", float64=True)]), scope)
    made: list[torch.Tensor] = [scope[value.name] for value in node.results]
    return tuple(made)
