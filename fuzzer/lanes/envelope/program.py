"""The nodes of a case in float64, and their evaluation with numbers that are pushed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from fuzzer.lanes.base.arrays import to_torch
from fuzzer.lanes.envelope.compared import ComparedFloats
from fuzzer.lanes.envelope.devices import Accuracy, Call
from fuzzer.lanes.envelope.layouts import other_layout
from fuzzer.lanes.envelope.push import Push, flushes, tiny
from fuzzer.lanes.envelope.sample import OTHER_LAYOUT, PLAIN, SKIPPED, UNDEFINED, Sample
from fuzzer.lanes.envelope.sizes import sizes_of
from fuzzer.lanes.envelope.undefined import UndefinedResults
from generators.graph import Array, Case, DType, Graph, Node, TensorType, holds_floats
from generators.op import Types
from generators.table import TABLE

Tensors = tuple[torch.Tensor, ...]


class Kernel(Protocol):
    """Computes one node. Floats are float64 in operands and results."""

    has_variance: bool
    """Whether the node computes a variance, so that `in_one_pass` exists."""
    may_be_in_half: bool
    """Whether an implementation may compute the node in float16, so that `in_half` exists."""

    def __call__(self, args: Sequence[torch.Tensor]) -> Tensors: ...

    def in_one_pass(self, args: Sequence[torch.Tensor], direction: int) -> Tensors:
        """The results where variances are computed in one pass over the data. Floats have the dtype of the first
        result. `direction` says where E[x^2] is off: upwards (1) or downwards (-1)."""

    def in_half(self, args: Sequence[torch.Tensor]) -> Tensors:
        """The results where each step is computed in float16."""

    def without_zeros(self, args: Sequence[torch.Tensor]) -> Tensors:
        """The results where products with the zeros of a padding, or with an attribute that is 0, are left out."""


@dataclass(frozen=True, slots=True)
class Kernels:
    """How the nodes of a dialect are computed.

    kernel            the kernel of a node of a graph without symbols, for operands of these types
    double_precision  the context of an evaluation
    has_layouts       whether the layout of an input in memory may change a result
    """

    kernel: Callable[[Node, Graph, Types], Kernel]
    double_precision: Callable[[], AbstractContextManager[None]] = nullcontext
    has_layouts: bool = False


def double(array: Array) -> Array:
    """The array in float64 if it holds floats, else unchanged."""
    return array.astype(np.float64) if holds_floats(array) else array


class Program:
    """The nodes of a case in float64. They are compiled once, and run for every sample.

    accuracy  what the language of a device permits, for an envelope of lanes that run there
    """

    def __init__(self, case: Case, kernels: Kernels, accuracy: Accuracy | None = None) -> None:
        self.graph = case.bound
        self.accuracy = accuracy
        types = self.graph.types
        self._kernels = kernels
        self._steps = [_step(kernels, node, self.graph, types) for node in self.graph.nodes]
        self._inputs = {name: to_torch(double(array)) for name, array in case.tensors.items()}
        self._types = types
        self.exact = all(step.sizes.exact for step in self._steps)
        self.has_variance = any(step.kernel.has_variance for step in self._steps)
        self.may_be_in_half = any(step.kernel.may_be_in_half for step in self._steps)
        self.has_many_sums = sum(step.sizes.is_long_sum for step in self._steps) > 1
        self.compares_floats = any(step.compared.is_one for step in self._steps)
        self.saw_denormals = self.saw_nan_times_zero = self.saw_not_finite = False
        self.overflow = ""
        """The first value with a finite number that is too large for its dtype."""

    def run(self, sample: Sample) -> list[Array]:
        with torch.no_grad(), self._kernels.double_precision():
            return [value.contiguous().numpy() for value in self._run(sample)]

    def run_otherwise(self) -> Iterator[list[Array]]:
        """Yield the results of evaluations that may differ from the truth only by rounding. An element that differs by
        more has no truth: correct implementations disagree, or one of PyTorch's own implementations is wrong."""
        if self.saw_nan_times_zero:
            yield self.run(SKIPPED)
        if self._kernels.has_layouts:
            with suppress(RuntimeError):  # PyTorch cannot view every layout
                yield self.run(OTHER_LAYOUT)

    @property
    def undefined(self) -> tuple[str, ...]:
        """The names of the rows of `generators.undefined` that held for a node of an evaluation so far."""
        return tuple(sorted({name for step in self._steps for name in step.undefined.met}))

    def run_undefined(self) -> Iterator[list[Array] | None]:
        """Yield the results with other numbers in place of those that no framework defines; None where the graph cannot
        be evaluated with them. There are none where all is defined."""
        for sample in UNDEFINED if self.undefined else ():
            try:
                yield self.run(sample)
            except Exception:  # whatever PyTorch and onnx raise about an index out of range, or a quotient by 0
                yield None

    def _run(self, sample: Sample) -> Iterable[torch.Tensor]:
        push = Push(sample)
        values = dict(self._inputs)
        if sample.other_layout:
            values = {name: other_layout(value) for name, value in values.items()}
        if sample.flush:
            values = {name: push.flushed(value, self._types[name].dtype) for name, value in values.items()}
        if sample is PLAIN:
            for name, value in values.items():
                self._look_at(value, self._types[name].dtype)
        for step in self._steps:
            args = [values[name] for name in step.node.args]
            if sample.by_sum and step.sizes.is_long_sum:
                push.turn()
            if sample.width and any(step.sizes.operands):
                args = [push(arg, size) if size else arg for arg, size in zip(args, step.sizes.operands, strict=True)]
            if step.compared.is_one:
                args = step.compared.made_equal(args) if sample.made_equal else args
                args = step.compared.made_zero(args) if sample.made_zero else args
                step.compared.note(args)
            results = step(args, sample)
            if sample is PLAIN or sample.undefined:
                masks = step.undefined.masks(args, step.kernel)
                results = step.undefined.replaced(results, masks, sample.undefined) if sample.undefined else results
            for result, made, size in zip(step.node.results, results, step.sizes.results, strict=True):
                dtype = result.type.dtype
                if sample.flush:
                    made = push.flushed(made, dtype, step.flushes_below(args, dtype))
                elif size and not (sample.one_pass or sample.other_layout or sample.undefined) and sample is not PLAIN:
                    reach = step.reach(self.accuracy, args, made, dtype) if self.accuracy and sample.width else None
                    made = push.rounded(made, dtype, size, step.scale, step.arithmetic, reach)
                values[result.name] = made
            if sample is PLAIN:
                self.saw_nan_times_zero |= step.multiplies_by_zero and not all(map(_all_finite, args))
                for result in step.node.results:
                    dtype = result.type.dtype
                    self._look_at(values[result.name], dtype, step.flushes_below(args, dtype))
                    if not self.overflow and _overflows(values[result.name], dtype):
                        self.overflow = result.name
        return [values[name] for name in self.graph.outputs]

    def _look_at(self, value: torch.Tensor, dtype: DType, below: float = 0.0) -> None:
        if dtype.is_float and not self.saw_not_finite:
            self.saw_not_finite = not _all_finite(value.to(getattr(torch, dtype)))
        if not self.saw_denormals and flushes(dtype):
            size = value.abs()
            self.saw_denormals = bool(((size > 0) & (size < max(below, tiny(dtype)))).any())


def _step(kernels: Kernels, node: Node, graph: Graph, types: Mapping[str, TensorType]) -> _Step:
    operands = tuple([types[name] for name in node.args])
    return _Step(node, operands, kernels.kernel(node, graph, operands))


class _Step:
    """One node: its kernel, and how far to push its operands and results."""

    def __init__(self, node: Node, types: Types, kernel: Kernel) -> None:
        op = TABLE[node.op]
        self.node, self.scale, self.arithmetic, self.kernel = node, op.scale, op.arithmetic, kernel
        self.multiplies_by_zero = op.multiplies_by_zero(types, node.attrs)
        self.sizes = sizes_of(node, types)
        self.undefined = UndefinedResults(node, types)
        self.compared = ComparedFloats(node, types)

    def __call__(self, args: Sequence[torch.Tensor], sample: Sample) -> Tensors:
        if sample.one_pass and self.kernel.has_variance:
            own = getattr(torch, self.node.results[0].type.dtype)
            made = self.kernel.in_one_pass([_floats_to(own, arg) for arg in args], sample.direction)
            return tuple(_floats_to(torch.float64, result) for result in made)
        if sample.in_half and self.kernel.may_be_in_half:
            return self.kernel.in_half(args)
        if sample.skip and self.multiplies_by_zero:
            return self.kernel.without_zeros(args)
        return self.kernel(args)

    def reach(
        self, accuracy: Accuracy, args: Sequence[torch.Tensor], made: torch.Tensor, dtype: DType
    ) -> torch.Tensor | None:
        """How far a device permits a result to be off."""
        if not dtype.is_float:
            return None
        call = Call(args, made, self.node.attrs, dtype.eps)
        return accuracy.reach(self.node.op, call, is_function=self.arithmetic.is_function)

    def flushes_below(self, args: Sequence[torch.Tensor], dtype: DType) -> float:
        """The number below which a correct implementation may give zero, because it replaced denormal numbers by zero:
        the terms of a sum, or a factor by which a function multiplies an operand."""
        if not self.sizes.terms or not flushes(dtype):
            return 0.0
        numbers = (
            ()
            if not self.arithmetic.is_function
            else (arg.abs() for arg in args if arg.is_floating_point() and arg.numel())
        )
        largest = max((float(torch.where(torch.isfinite(each), each, 0.0).max()) for each in numbers), default=1.0)
        return tiny(dtype) * self.sizes.terms * max(1.0, largest)


def _overflows(made: torch.Tensor, dtype: DType) -> bool:
    """Whether a finite number is too large for the dtype."""
    return dtype.is_float and bool((torch.isfinite(made) & ~torch.isfinite(made.to(getattr(torch, dtype)))).any())


def _floats_to(dtype: torch.dtype, values: torch.Tensor) -> torch.Tensor:
    return values.to(dtype) if values.is_floating_point() else values


def _all_finite(values: torch.Tensor) -> bool:
    return bool(torch.isfinite(values).all())
