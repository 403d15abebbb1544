"""The envelope: how far honest implementations of a case lie apart, per output element (DESIGN section 5).

Monte Carlo arithmetic. The graph is evaluated in float64, node by node, many times; each time every rounded result is
pushed by as much as an honest implementation of its operator may be off:

- an operation that IEEE 754 rounds correctly, a cast and a sum by one unit in the last place of the result's dtype
  (`EPS` x |value|), a function or a small formula by `FUNCTION_UNITS` of them. In half precision one unit is for all:
  PyTorch computes in float32 and rounds once;
- the operands of a sum, each by itself, by sqrt(terms) units of the precision that it accumulates in: the rounding of a
  sum goes with its terms, not with its result. Half precision accumulates in float32. The results of functions that
  sum on their way, by half as much at least: a normalisation is the same however its operands are scaled.

What was pushed is rounded to its own dtype. Sums, products and casts whose result the dtype holds are not pushed at
all: there every implementation gives the same number. One sample only rounds, two push all values away from zero or
towards it, others each value up or down at random. What moves most is the spread. The samples of `WIDER` push `WIDE`
times as far; they find what is near a jump: integers that change, numbers that become NaN or infinite, and numbers that
move much further than the spread foretells are ill-conditioned.
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

from fuzzer.lanes.base import to_torch
from fuzzer.lanes.one_pass import ONE_PASS, rounding_of_a_sum
from fuzzer.lanes.skipped_padding import without_padding
from generators.graph import FLOATS, Array, Case, DType, Form, Node, TensorType, holds_floats
from generators.ops import TABLE
from generators.torch_source import constructor, statements


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_UNITS = 4.0
"""Of libm and of vectorised functions."""

LAST_UNITS = 1.5
"""Added where anything moved at all: last roundings of two implementations, which samples seldom show in full."""

WIDE = 4.0
"""More than C: a lane that is within its tolerance before a jump may be on the other side of it."""

ROUNDED_ONCE = _names(
    "add sub rsub mul div sqrt reciprocal square to to_float type_as add_scalar sub_scalar mul_scalar rsub_scalar "
    "rdiv_scalar div_scalar deg2rad rad2deg leaky_relu prelu outer kron ldexp full full_like new_full fill fill_tensor "
    "constant scalar_tensor times_size over_size over_numel"
)
"""Operators that are one operation of IEEE 754 per element."""

EXACT_WHERE_HELD = _names(
    "add sub rsub mul square to to_float type_as add_scalar sub_scalar mul_scalar rsub_scalar outer kron ldexp "
    "full full_like new_full fill fill_tensor constant scalar_tensor"
)
"""Of these, those that nobody computes by a detour (a division may become a product with the reciprocal)."""

SUMS = _names(
    "sum nansum mean nanmean cumsum linear matmul mm bmm mv dot vdot inner tensordot tensordot_dims einsum "
    "linalg_vecdot addmm addbmm baddbmm addmv addr trace conv1d conv2d conv3d conv1d_padded conv2d_padded "
    "conv3d_padded conv_transpose1d conv_transpose2d conv_transpose3d avg_pool1d avg_pool2d avg_pool3d "
    "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d embedding_bag col2im diff"
)
"""Operators that add products or numbers and round once: in half precision they accumulate in float32."""

SUMS_IN_HALF = _names("addbmm conv_transpose1d conv_transpose2d conv_transpose3d adaptive_avg_pool3d col2im diff")
"""Of these, those that PyTorch itself accumulates in half precision: off by 1.3 to 32 units where the others are by
half a unit."""

CONVOLUTIONS = _names("conv1d conv2d conv3d")

DROPOUT = "dropout_training"

HALVES = (DType.FLOAT16, DType.BFLOAT16)


@dataclass(frozen=True, slots=True)
class Sample:
    """How one evaluation pushes: every value away from zero (1) or towards it (-1), or by a seed of its own (0).

    Those of width 0 push nothing. one_pass: variances in one pass; flush: denormal numbers are zero; skip: nothing is
    multiplied by a zero that is not a number of the case's, and what NaN x 0 gives is not there; other_layout: inputs
    lie otherwise in memory, which changes nothing but where PyTorch is wrong.
    """

    direction: int
    seed: int = 0
    width: float = 1.0
    one_pass: bool = False
    flush: bool = False
    skip: bool = False
    other_layout: bool = False


PLAIN = Sample(0, width=0.0)
ONE_PASS_SAMPLES = (Sample(1, width=0.0, one_pass=True), Sample(-1, width=0.0, one_pass=True))
FLUSHED = Sample(0, width=0.0, flush=True)
OTHER_LAYOUT = Sample(0, width=0.0, other_layout=True)
SKIPPED = Sample(0, width=0.0, skip=True)
NARROW = (Sample(0, width=0.0), Sample(1), Sample(-1), *(Sample(0, seed) for seed in range(1, 7)))
WIDER = (Sample(1, 0, WIDE), Sample(-1, 0, WIDE), Sample(0, 11, WIDE), Sample(0, 12, WIDE))


@contextmanager
def double_precision() -> Iterator[None]:
    """float64 for what PyTorch makes of integers and Python numbers, too."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def double(array: Array) -> Array:
    return array.astype(np.float64) if holds_floats(array) else array


def envelope(case: Case) -> list[Array]:
    """The spread of each output (float64), then which elements of each are ill-conditioned (bool)."""
    program = Program(case)
    truth = program.run(PLAIN)
    dtypes = [type.dtype for type in case.bound.output_types]
    spread = [np.zeros(array.shape) for array in truth]
    ill = [np.zeros(array.shape, np.bool_) for array in truth]
    extra = ONE_PASS_SAMPLES * program.has_variance + (FLUSHED,) * program.saw_denormals
    for sample in (*extra, *(() if program.exact else NARROW)):
        for i, moved in enumerate(program.run(sample)):
            distance, jumped = _compare(moved, truth[i], dtypes[i])
            spread[i] = np.maximum(spread[i], distance)
            ill[i] |= jumped
    if program.saw_denormals:  # then numbers below the smallest normal one say nothing
        for i, dtype in enumerate(dtypes):
            spread[i] = np.maximum(spread[i], tiny(dtype)) if flushes(dtype) else spread[i]
    for outputs in program.run_otherwise():
        for i, moved in enumerate(outputs):
            distance, jumped = _compare(moved, truth[i], dtypes[i])
            ill[i] |= jumped | (distance > 2 * WIDE * (spread[i] + 1e-9 * np.abs(truth[i])))
    unit = [_unit(array, dtype) for array, dtype in zip(truth, dtypes, strict=True)]
    for sample in () if program.exact else WIDER:
        for i, moved in enumerate(program.run(sample)):
            distance, jumped = _compare(moved, truth[i], dtypes[i])
            ill[i] |= jumped | (distance > 2 * WIDE * (spread[i] + unit[i]))
    for i, units in enumerate(unit):
        spread[i] = np.where(spread[i] > 0, spread[i] + LAST_UNITS * units, 0.0)
    return [*spread, *ill]


def _compare(moved: Array, truth: Array, dtype: DType) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """How far each number lies from the truth, and where it is another integer, or infinite or NaN instead."""
    if not dtype.is_float:
        return np.zeros(truth.shape), np.asarray(moved != truth)
    with np.errstate(invalid="ignore", over="ignore"):
        own, right = moved.astype(dtype.numpy), truth.astype(dtype.numpy)  # infinite where too large for the dtype
        finite = np.isfinite(own) & np.isfinite(right)
        same = finite | (own == right) | (np.isnan(own) & np.isnan(right))
        return np.where(finite, np.abs(moved - truth), 0.0), ~same


def _unit(truth: Array, dtype: DType) -> Array:
    if not dtype.is_float:
        return np.zeros(truth.shape)
    return dtype.eps * np.maximum(np.abs(np.where(np.isfinite(truth), truth, 0.0)), tiny(dtype))


def tiny(dtype: DType) -> float:
    """The smallest normal number."""
    return float(ml_dtypes.finfo(dtype.numpy).smallest_normal)


def other_layout(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers, channels last where there are channels, else with the dimensions the other way round."""
    match tensor.dim():
        case 4:
            return tensor.contiguous(memory_format=torch.channels_last)
        case 5:
            return tensor.contiguous(memory_format=torch.channels_last_3d)
        case rank:
            order = tuple(reversed(range(rank)))
            return tensor.permute(order).contiguous().permute(order)


class Program:
    """The nodes of a case in double precision, compiled once, run as often as there are samples."""

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
        """What must be the same but for rounding; where it is not, there is no truth: honest implementations differ, or
        one of PyTorch's own is wrong. Not with inputs in another layout where PyTorch has no views of it."""
        if self.saw_nan_times_zero:
            yield self.run(SKIPPED)
        with suppress(RuntimeError):
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
    """Denormal numbers of float16 are normal ones of float32, in which processors compute."""
    return dtype.is_float and dtype is not DType.FLOAT16


class _Push:
    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._noise = torch.Generator().manual_seed(sample.seed)

    def __call__(self, value: torch.Tensor, size: float, scale: float = 0.0, least: float = 0.0) -> torch.Tensor:
        if self._sample.direction:
            push: Any = torch.where(value < 0, -1.0, 1.0) * self._sample.direction
        else:
            push = 2 * torch.randint(0, 2, value.shape, generator=self._noise, dtype=torch.float64) - 1
        length = value.abs()
        if scale:
            length = length.clamp(min=scale)
        elif least:  # below, units have one size; zero is exact
            length = torch.where(value == 0, 0.0, length.clamp(min=least))
        moved = value + push * (size * self._sample.width) * length
        return torch.where(torch.isfinite(value), moved, value)  # an infinity pushed towards zero would be NaN

    def rounded(self, value: torch.Tensor, dtype: DType, size: float, step: _Step) -> torch.Tensor:
        """A result, pushed, as its dtype holds it."""
        own = getattr(torch, dtype)
        if not self._sample.width:
            return value.to(own).to(torch.float64)
        moved = self(value, size, step.scale, tiny(dtype)).to(own).to(torch.float64)
        if step.exact_where_held and dtype is not DType.FLOAT64:
            return torch.where(value.to(own).to(torch.float64) == value, value, moved)
        return moved

    def flushed(self, value: torch.Tensor, dtype: DType, below: float = 0.0) -> torch.Tensor:
        return torch.where(value.abs() < max(below, tiny(dtype)), 0.0, value) if flushes(dtype) else value


class _Step:
    """One node: its code, and how far its operands and results are pushed, relative to their size."""

    def __init__(self, node: Node, types: tuple[TensorType, ...]) -> None:
        op = TABLE[node.op]
        self.node, self.scale = node, op.scale
        self.exact_where_held = node.op in EXACT_WHERE_HELD
        self.multiplies_by_zero = (
            node.attrs["p"] == 1 if node.op == DROPOUT else node.op in CONVOLUTIONS and _some(node.attrs["padding"])
        )
        self._code, self._names = _compiled(node, types)
        count = op.terms(types, node.attrs) if op.terms else 0
        count += count > 0 and node.op in SUMS and len(types) > 2  # a bias, or what the sum is added to
        results = [result.type.dtype for result in node.results]
        floats = [dtype for dtype in results if dtype in FLOATS]
        self.result_sizes = [
            _result_size(node.op, dtype, count) if count and dtype in FLOATS else 0.0 for dtype in results
        ]
        self.operand_sizes = [0.0] * len(types)
        if count > 1:
            coarsest = max([dtype.eps for dtype in floats], default=0.0)
            self.operand_sizes = [
                _operand_size(node.op, type.dtype, coarsest, count) if type.dtype in FLOATS else 0.0 for type in types
            ]
        self.operand_size = max(self.operand_sizes, default=0.0)
        self._terms, self._is_one_step = count, node.op in ROUNDED_ONCE or node.op in SUMS
        self.exact = not self.operand_size and not any(self.result_sizes)

    def __call__(self, args: Sequence[torch.Tensor], sample: Sample) -> tuple[torch.Tensor, ...]:
        if sample.one_pass and self.node.op in ONE_PASS:
            own = getattr(torch, self.node.results[0].type.dtype)
            made = ONE_PASS[self.node.op]([arg.to(own) for arg in args], self.node.attrs, sample.direction)
            return tuple(result.to(torch.float64) for result in made)
        if sample.skip and self.multiplies_by_zero:
            x, *rest = args
            if self.node.op == DROPOUT:
                return (torch.zeros_like(x),)
            weight, *bias = rest
            return (without_padding(x, weight, bias, self.node.attrs),)
        return self._run(args)

    def flushes_below(self, args: Sequence[torch.Tensor], dtype: DType) -> float:
        """Smaller results may be zero, where each of the terms, or what a function multiplies an operand by, was
        denormal and is zero."""
        if not self._terms or not flushes(dtype):
            return 0.0
        numbers = () if self._is_one_step else (arg.abs() for arg in args if arg.is_floating_point() and arg.numel())
        largest = max((float(torch.where(torch.isfinite(each), each, 0.0).max()) for each in numbers), default=1.0)
        return tiny(dtype) * self._terms * max(1.0, largest)

    def _run(self, args: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        if self.node.form is Form.INPLACE:  # the operand belongs to the caller
            args = [args[0].clone(), *args[1:]]
        scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, **dict(zip(self._names, args, strict=True))}
        exec(self._code, scope)
        return tuple([scope[value.name] for value in self.node.results])


def _all_finite(values: torch.Tensor) -> bool:
    return bool(torch.isfinite(values).all())


def _some(padding: object) -> bool:
    return any(padding) if isinstance(padding, tuple) else bool(padding)


def _compiled(node: Node, types: tuple[TensorType, ...]) -> tuple[CodeType, tuple[str, ...]]:
    """Statements that define the node's results from operands of these names."""
    names = tuple(f"a{i}" for i in range(len(types)))
    given = [
        f"torch.nn.Parameter({name})" if type.dtype.is_float else name for name, type in zip(names, types, strict=True)
    ]
    lines = constructor(node, tuple(given), types, "layer", float64=True)
    if lines:
        lines.append("layer.eval()")
    return compile("\n".join([*lines, *statements(node, names, "layer", float64=True)]), "<node>", "exec"), names


def _result_size(op: str, dtype: DType, count: int) -> float:
    """A function that divides by a sum or a root of one is as far off as that is, however its operands are scaled."""
    one = op in ROUNDED_ONCE or op in SUMS or dtype in HALVES
    own = dtype.eps * (1.0 if one else FUNCTION_UNITS)
    return own if op in SUMS else max(own, rounding_of_a_sum(dtype.eps, count) / 2)


def _operand_size(op: str, dtype: DType, coarsest: float, count: int) -> float:
    """`coarsest` is the unit of the results: operands of a finer dtype may be cast first."""
    eps = max(dtype.eps, coarsest)
    cast = coarsest if coarsest > dtype.eps else 0.0
    steps = 0.0 if op in SUMS and op not in SUMS_IN_HALF else eps  # its intermediate results are rounded too
    return max(rounding_of_a_sum(eps, count), cast, steps)
