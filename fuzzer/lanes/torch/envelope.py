"""The envelope: how far correct implementations of a case may differ, for each output element (docs/tolerance.md).

The method is Monte Carlo arithmetic. The graph is evaluated in float64, node by node, many times. Each evaluation is a
`Sample`. To push a number means to perturb it by as much as a correct implementation of its operator may be off. The
operator's row says how the operator rounds (`Arithmetic` in `generators/op.py`):

- The result of one step (an operation that IEEE 754 rounds correctly, a cast) or of a sum is pushed by one unit in the
  last place of its dtype (`EPS` x |value|), the result of a function by `FUNCTION_UNITS` units. In half precision one
  unit is enough for all operators: PyTorch computes in float32 and rounds once.
- Each operand of a sum is pushed by sqrt(terms) units of the precision in which the sum accumulates, because the error
  of a sum grows with its terms, not with its result. Half precision accumulates in float32. The results of functions
  that contain a sum are pushed by at least half as much: a normalisation gives the same result however its operands
  are scaled, so pushed operands alone would not show the error of its sum.

A pushed number is rounded to its own dtype. The result of an addition, a product or a cast is not pushed if its dtype
holds it exactly (`Arithmetic.EXACT_WHERE_HELD`): every implementation gives the same number.

Of the samples of `NARROW`, one only rounds, one pushes all values away from zero, one pushes them towards zero, and six
push each value up or down at random. The largest distance from the evaluation without rounding is the spread. The
samples of `WIDER` push `WIDE` times as far. They find elements that are ill-conditioned: integers that change, numbers
that become NaN or infinite, and numbers that move much further than the spread predicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import CodeType
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import torch

from fuzzer.lanes.base.prepared_case import to_torch
from fuzzer.lanes.torch.one_pass import ONE_PASS, rounding_of_a_sum
from fuzzer.lanes.torch.skipped_padding import WITHOUT_ZEROS
from generators.graph import FLOATS, Array, Case, DType, Form, Node, TensorType, holds_floats
from generators.op import Arithmetic
from generators.table import TABLE
from generators.torch.source import constructor, statements

FUNCTION_UNITS = 4.0
"""The largest error of math libraries and of vectorised functions, in units in the last place (docs/tolerance.md)."""

LAST_UNITS = 1.5
"""Units in the last place that are added to the spread of each element that moved. They stand for the last rounding of
two implementations, which the samples seldom show in full."""

WIDE = 4.0
"""How many times as far the samples of `WIDER` push. It is more than the factor C of the tolerance (2), because a lane
within its tolerance may be on the other side of a jump."""

HALVES = (DType.FLOAT16, DType.BFLOAT16)


@dataclass(frozen=True, slots=True)
class Sample:
    """How one evaluation pushes.

    direction     1: every value away from zero, -1: towards zero, 0: up or down at random, from `seed`
    width         how many times as far as usual; 0: nothing is pushed
    one_pass      variances are computed in one pass
    flush         denormal numbers become zero
    skip          products with the zeros of a padding are left out, so NaN x 0 does not occur
    other_layout  the inputs have another layout in memory, which changes results only where PyTorch is wrong
    """

    direction: int
    seed: int = 0
    width: float = 1.0
    one_pass: bool = False
    flush: bool = False
    skip: bool = False
    other_layout: bool = False


PLAIN = Sample(0, width=0.0)
"""The evaluation without rounding. It equals the first sample of `NARROW`, which rounds; `is` tells them apart."""

ONE_PASS_SAMPLES = (Sample(1, width=0.0, one_pass=True), Sample(-1, width=0.0, one_pass=True))
FLUSHED = Sample(0, width=0.0, flush=True)
OTHER_LAYOUT = Sample(0, width=0.0, other_layout=True)
SKIPPED = Sample(0, width=0.0, skip=True)
NARROW = (Sample(0, width=0.0), Sample(1), Sample(-1), *(Sample(0, seed) for seed in range(1, 7)))
WIDER = (Sample(1, 0, WIDE), Sample(-1, 0, WIDE), Sample(0, 11, WIDE), Sample(0, 12, WIDE))


@contextmanager
def double_precision() -> Iterator[None]:
    """Inside the context, the floats that PyTorch makes of integers and Python numbers are float64, not float32."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def double(array: Array) -> Array:
    """The array in float64 if it holds floats, else unchanged."""
    return array.astype(np.float64) if holds_floats(array) else array


def envelope(case: Case) -> list[Array]:
    """The envelope of each output (float64), and then for each output which elements are ill-conditioned (bool)."""
    program = Program(case)
    truth = program.run(PLAIN)
    dtypes = [type.dtype for type in case.bound.output_types]
    spread = [np.zeros(array.shape) for array in truth]
    ill_conditioned = [np.zeros(array.shape, np.bool_) for array in truth]
    extra = ONE_PASS_SAMPLES * program.has_variance + (FLUSHED,) * program.saw_denormals
    for sample in (*extra, *(() if program.exact else NARROW)):
        for i, moved in enumerate(program.run(sample)):
            distance, jumped = _compare(moved, truth[i], dtypes[i])
            spread[i] = np.maximum(spread[i], distance)
            ill_conditioned[i] |= jumped
    if program.saw_denormals:  # then any difference below the smallest normal number is allowed
        for i, dtype in enumerate(dtypes):
            spread[i] = np.maximum(spread[i], tiny(dtype)) if flushes(dtype) else spread[i]
    for outputs in program.run_otherwise():
        for i, moved in enumerate(outputs):
            distance, jumped = _compare(moved, truth[i], dtypes[i])
            ill_conditioned[i] |= jumped | (distance > 2 * WIDE * (spread[i] + 1e-9 * np.abs(truth[i])))
    unit = [_unit(array, dtype) for array, dtype in zip(truth, dtypes, strict=True)]
    for sample in () if program.exact else WIDER:
        for i, moved in enumerate(program.run(sample)):
            distance, jumped = _compare(moved, truth[i], dtypes[i])
            ill_conditioned[i] |= jumped | (distance > 2 * WIDE * (spread[i] + unit[i]))
    for i, units in enumerate(unit):
        spread[i] = np.where(spread[i] > 0, spread[i] + LAST_UNITS * units, 0.0)
    return [*spread, *ill_conditioned]


def _compare(moved: Array, truth: Array, dtype: DType) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """The distance of each number from the truth, and which numbers jumped: another integer, or NaN or infinite in only
    one of the two."""
    if not dtype.is_float:
        return np.zeros(truth.shape), np.asarray(moved != truth)
    with np.errstate(invalid="ignore", over="ignore"):
        own, right = moved.astype(dtype.numpy), truth.astype(dtype.numpy)  # infinite where too large for the dtype
        finite = np.isfinite(own) & np.isfinite(right)
        same = finite | (own == right) | (np.isnan(own) & np.isnan(right))
        return np.where(finite, np.abs(moved - truth), 0.0), ~same


def _unit(truth: Array, dtype: DType) -> Array:
    """One unit in the last place of each number; 0 for integers and booleans."""
    if not dtype.is_float:
        return np.zeros(truth.shape)
    return dtype.eps * np.maximum(np.abs(np.where(np.isfinite(truth), truth, 0.0)), tiny(dtype))


def tiny(dtype: DType) -> float:
    """The smallest normal number."""
    return float(ml_dtypes.finfo(dtype.numpy).smallest_normal)


def other_layout(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers in another layout: channels last for ranks 4 and 5, else with reversed dimensions in memory."""
    match tensor.dim():
        case 4:
            return tensor.contiguous(memory_format=torch.channels_last)
        case 5:
            return tensor.contiguous(memory_format=torch.channels_last_3d)
        case rank:
            order = tuple(reversed(range(rank)))
            return tensor.permute(order).contiguous().permute(order)


class Program:
    """The nodes of a case in float64. They are compiled once, and run for every sample."""

    def __init__(self, case: Case) -> None:
        self.graph = case.bound
        types = self.graph.types
        self._steps = [_Step(node, tuple([types[name] for name in node.args])) for node in self.graph.nodes]
        self._inputs = {name: to_torch(double(array)) for name, array in case.tensors.items()}
        self._types = types
        self.exact = all(step.exact for step in self._steps)
        self.has_variance = any(step.node.op in ONE_PASS for step in self._steps)
        self.saw_denormals = self.saw_nan_times_zero = False

    def run(self, sample: Sample) -> list[Array]:
        with torch.no_grad(), double_precision():
            return [value.contiguous().numpy() for value in self._run(sample)]

    def run_otherwise(self) -> Iterator[list[Array]]:
        """Yield the results of evaluations that may differ from the truth only by rounding. An element that differs by
        more has no truth: correct implementations disagree, or one of PyTorch's own implementations is wrong."""
        if self.saw_nan_times_zero:
            yield self.run(SKIPPED)
        with suppress(RuntimeError):  # PyTorch cannot view every layout
            yield self.run(OTHER_LAYOUT)

    def _run(self, sample: Sample) -> Iterable[torch.Tensor]:
        push = _Push(sample)
        values = dict(self._inputs)
        if sample.other_layout:
            values = {name: other_layout(value) for name, value in values.items()}
        if sample.flush:
            values = {name: push.flushed(value, self._types[name].dtype) for name, value in values.items()}
        if sample is PLAIN:
            for name, value in values.items():
                self._look_for_denormals(value, self._types[name].dtype)
        for step in self._steps:
            args = [values[name] for name in step.node.args]
            if sample.width and step.operand_size:
                args = [push(arg, size) if size else arg for arg, size in zip(args, step.operand_sizes, strict=True)]
            for result, made, size in zip(step.node.results, step(args, sample), step.result_sizes, strict=True):
                dtype = result.type.dtype
                if sample.flush:
                    made = push.flushed(made, dtype, step.flushes_below(args, dtype))
                elif size and not sample.one_pass and not sample.other_layout and sample is not PLAIN:
                    made = push.rounded(made, dtype, size, step)
                values[result.name] = made
            if sample is PLAIN:
                self.saw_nan_times_zero |= step.multiplies_by_zero and not all(map(_all_finite, args))
                for result in step.node.results:
                    dtype = result.type.dtype
                    self._look_for_denormals(values[result.name], dtype, step.flushes_below(args, dtype))
        return [values[name] for name in self.graph.outputs]

    def _look_for_denormals(self, value: torch.Tensor, dtype: DType, below: float = 0.0) -> None:
        if not self.saw_denormals and flushes(dtype):
            size = value.abs()
            self.saw_denormals = bool(((size > 0) & (size < max(below, tiny(dtype)))).any())


def flushes(dtype: DType) -> bool:
    """Whether a correct implementation may replace denormal numbers of this dtype by zero. It may not in float16:
    processors compute with float16 in float32, where these numbers are normal."""
    return dtype.is_float and dtype is not DType.FLOAT16


class _Push:
    """Pushes the numbers of one evaluation."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._noise = torch.Generator().manual_seed(sample.seed)

    def __call__(self, value: torch.Tensor, size: float, scale: float = 0.0, least: float = 0.0) -> torch.Tensor:
        """Move each number by `size` times its magnitude, or times `scale` or `least` if that is larger."""
        if self._sample.direction:
            push: Any = torch.where(value < 0, -1.0, 1.0) * self._sample.direction
        else:
            push = 2 * torch.randint(0, 2, value.shape, generator=self._noise, dtype=torch.float64) - 1
        length = value.abs()
        if scale:
            length = length.clamp(min=scale)
        elif least:  # below the smallest normal number, units do not get smaller; zero is exact
            length = torch.where(value == 0, 0.0, length.clamp(min=least))
        moved = value + push * (size * self._sample.width) * length
        return torch.where(torch.isfinite(value), moved, value)  # an infinity pushed towards zero would be NaN

    def rounded(self, value: torch.Tensor, dtype: DType, size: float, step: _Step) -> torch.Tensor:
        """The pushed result, rounded to its dtype."""
        own = getattr(torch, dtype)
        if not self._sample.width:
            return value.to(own).to(torch.float64)
        moved = self(value, size, step.scale, tiny(dtype)).to(own).to(torch.float64)
        if step.arithmetic is Arithmetic.EXACT_WHERE_HELD and dtype is not DType.FLOAT64:
            return torch.where(value.to(own).to(torch.float64) == value, value, moved)
        return moved

    def flushed(self, value: torch.Tensor, dtype: DType, below: float = 0.0) -> torch.Tensor:
        return torch.where(value.abs() < max(below, tiny(dtype)), 0.0, value) if flushes(dtype) else value


class _Step:
    """One node: its code, and how far to push its operands and results, relative to their magnitude."""

    def __init__(self, node: Node, types: tuple[TensorType, ...]) -> None:
        op = TABLE[node.op]
        self.node, self.scale, self.arithmetic = node, op.scale, op.arithmetic
        self.multiplies_by_zero = op.multiplies_by_zero(types, node.attrs)
        self._code, self._names = _compiled(node, types)
        count = op.terms(types, node.attrs) if op.terms else 0
        count += count > 0 and op.arithmetic.is_sum and len(types) > 2  # a bias, or a tensor that the sum is added to
        results = [result.type.dtype for result in node.results]
        floats = [dtype for dtype in results if dtype in FLOATS]
        self.result_sizes = [
            _result_size(op.arithmetic, dtype, count) if count and dtype in FLOATS else 0.0 for dtype in results
        ]
        self.operand_sizes = [0.0] * len(types)
        if count > 1:
            coarsest = max([dtype.eps for dtype in floats], default=0.0)
            self.operand_sizes = [
                _operand_size(op.arithmetic, type.dtype, coarsest, count) if type.dtype in FLOATS else 0.0
                for type in types
            ]
        self.operand_size = max(self.operand_sizes, default=0.0)
        self._terms = count
        self.exact = not self.operand_size and not any(self.result_sizes)

    def __call__(self, args: Sequence[torch.Tensor], sample: Sample) -> tuple[torch.Tensor, ...]:
        if sample.one_pass and self.node.op in ONE_PASS:
            own = getattr(torch, self.node.results[0].type.dtype)
            made = ONE_PASS[self.node.op]([arg.to(own) for arg in args], self.node.attrs, sample.direction)
            return tuple(result.to(torch.float64) for result in made)
        if sample.skip and self.multiplies_by_zero:
            return WITHOUT_ZEROS[self.node.op](args, self.node.attrs)
        return self._run(args)

    def flushes_below(self, args: Sequence[torch.Tensor], dtype: DType) -> float:
        """The number below which a correct implementation may give zero, because it replaced denormal numbers by zero:
        the terms of a sum, or a factor by which a function multiplies an operand."""
        if not self._terms or not flushes(dtype):
            return 0.0
        numbers = (
            ()
            if self.arithmetic is not Arithmetic.FUNCTION
            else (arg.abs() for arg in args if arg.is_floating_point() and arg.numel())
        )
        largest = max((float(torch.where(torch.isfinite(each), each, 0.0).max()) for each in numbers), default=1.0)
        return tiny(dtype) * self._terms * max(1.0, largest)

    def _run(self, args: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        if self.node.form is Form.INPLACE:  # the caller still needs the operand
            args = [args[0].clone(), *args[1:]]
        scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, **dict(zip(self._names, args, strict=True))}
        exec(self._code, scope)
        return tuple([scope[value.name] for value in self.node.results])


def _all_finite(values: torch.Tensor) -> bool:
    return bool(torch.isfinite(values).all())


def _compiled(node: Node, types: tuple[TensorType, ...]) -> tuple[CodeType, tuple[str, ...]]:
    """Compile the statements that compute the node's results. Return the code and the names of its operands."""
    names = tuple(f"a{i}" for i in range(len(types)))
    given = [
        f"torch.nn.Parameter({name})" if type.dtype.is_float else name for name, type in zip(names, types, strict=True)
    ]
    lines = constructor(node, tuple(given), types, "layer", float64=True)
    if lines:
        lines.append("layer.eval()")
    return compile("\n".join([*lines, *statements(node, names, "layer", float64=True)]), "<node>", "exec"), names


def _result_size(arithmetic: Arithmetic, dtype: DType, count: int) -> float:
    """How far to push a result, relative to its magnitude. A function that divides by a sum, or by its root, has at
    least half the relative error of the sum."""
    one_unit = arithmetic is not Arithmetic.FUNCTION or dtype in HALVES
    own = dtype.eps * (1.0 if one_unit else FUNCTION_UNITS)
    return own if arithmetic.is_sum else max(own, rounding_of_a_sum(dtype.eps, count) / 2)


def _operand_size(arithmetic: Arithmetic, dtype: DType, coarsest: float, count: int) -> float:
    """How far to push an operand, relative to its magnitude.

    `coarsest` is the largest epsilon of the results. Operands of a finer dtype may be cast to that dtype first.
    """
    eps = max(dtype.eps, coarsest)
    cast = coarsest if coarsest > dtype.eps else 0.0
    steps = 0.0 if arithmetic is Arithmetic.SUM else eps  # intermediate results are rounded too
    return max(rounding_of_a_sum(eps, count), cast, steps)
