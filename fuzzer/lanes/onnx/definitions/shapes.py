"""What the interpreter of the onnx package lacks: operators that newer opsets replace, and legal calls that it refuses
or misreads. Each is the definition of onnx's Operators.md (Changelog.md for Scatter), for all versions at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_scatter_elements import scatter_elements

from generators.graph import Array


class Scatter(OpRun):  # type: ignore[misc]
    """Scatter of opset 9 means what ScatterElements of opset 11 means. The interpreter does not have it."""

    op_domain = ""

    def _run(self, data: Array, indices: Array, updates: Array, axis: int = 0) -> tuple[Array, ...]:
        return (scatter_elements(data, indices, updates, axis=axis),)


class GatherElements(OpRun):  # type: ignore[misc]
    """The interpreter takes only indices that are as large as the data beside the axis, and 31 positions along it."""

    op_domain = ""

    def _run(self, data: Array, indices: Array, axis: int = 0) -> tuple[Array, ...]:
        axis %= data.ndim
        beside = tuple(slice(None) if at == axis else slice(size) for at, size in enumerate(indices.shape))
        return (np.take_along_axis(data[beside], indices, axis),)


class Slice(OpRun):  # type: ignore[misc]
    """With a negative step, the start is clamped to the first element; numpy, and so the interpreter, begins before it
    and takes nothing."""

    op_domain = ""

    def _run(
        self,
        data: Array,
        *inputs: Array | None,
        starts: Sequence[int] = (),
        ends: Sequence[int] = (),
        axes: Sequence[int] | None = None,
    ) -> tuple[Array, ...]:
        """The bounds are attributes in version 1, and inputs later."""
        given = [starts, ends, axes] if not inputs else [None if each is None else each.tolist() for each in inputs]
        first, last, named, steps = (*given, None, None)[:4]
        assert first is not None
        assert last is not None
        parts = [slice(None)] * data.ndim
        for place, (start, end) in enumerate(zip(first, last, strict=True)):
            axis = place if named is None else named[place]
            step = 1 if steps is None else steps[place]
            parts[axis] = slice(max(start, -data.shape[axis]) if step < 0 else start, end, step)
        return (data[tuple(parts)],)


class Pad(OpRun):  # type: ignore[misc]
    """The interpreter takes no negative pads, which remove elements. What is left is padded."""

    op_domain = ""

    def _run(
        self,
        data: Array,
        *inputs: Array | None,
        mode: str = "constant",
        pads: Sequence[int] = (),
        value: float = 0.0,
    ) -> tuple[Array, ...]:
        """Pads and value are attributes in version 2, and inputs later."""
        widths, number, axes = (*inputs, None, None, None)[:3]
        wanted = [int(each) for each in (pads if widths is None else widths)]
        named = range(data.ndim) if axes is None else [int(axis) for axis in axes]
        count = len(named)
        around = [(0, 0)] * data.ndim
        for place, axis in enumerate(named):
            around[axis] = wanted[place], wanted[place + count]
        kept = tuple(
            slice(max(-before, 0), size + min(after, 0))
            for (before, after), size in zip(around, data.shape, strict=True)
        )
        added = [(max(before, 0), max(after, 0)) for before, after in around]
        if mode != "constant":
            return (np.pad(data[kept], added, mode).astype(data.dtype),)  # type: ignore[call-overload]
        fill = np.asarray(value if number is None else number).astype(data.dtype)
        return (np.pad(data[kept], added, constant_values=fill),)


class ReduceSumSquare(OpRun):  # type: ignore[misc]
    """The interpreter gives int64 for int32. Axes are an attribute before opset 18, and an input since."""

    op_domain = ""

    def _run(
        self, data: Array, axes: Sequence[int] | None = None, keepdims: int = 1, noop_with_empty_axes: int = 0
    ) -> tuple[Array, ...]:
        over = _reduced(axes, noop_with_empty_axes)
        return (np.asarray(np.sum(np.square(data), over, data.dtype, keepdims=bool(keepdims))),)


class ReduceLogSumExp(OpRun):  # type: ignore[misc]
    """The interpreter refuses 0-d tensors, and gives NaN for an infinity alone."""

    op_domain = ""

    def _run(
        self, data: Array, axes: Sequence[int] | None = None, keepdims: int = 1, noop_with_empty_axes: int = 0
    ) -> tuple[Array, ...]:
        over = _reduced(axes, noop_with_empty_axes)
        largest = np.max(data, over, keepdims=True, initial=-np.inf).astype(data.dtype)
        shift = np.where(np.isfinite(largest), largest, np.zeros_like(largest))
        sums = np.log(np.sum(np.exp(data - shift), over, data.dtype, keepdims=True)) + shift
        return (np.asarray(sums if keepdims or over == () else np.squeeze(sums, over)),)


def _reduced(axes: Sequence[int] | None, noop: int) -> tuple[int, ...] | None:
    """The axes that a reduction names; None for all. An empty list is none for noop_with_empty_axes, and all else."""
    named = () if axes is None else tuple(int(axis) for axis in axes)
    return named if named or noop else None


class Unique(OpRun):  # type: ignore[misc]
    """Where the values are not sorted, the interpreter takes those of a flat tensor along the first axis."""

    op_domain = ""

    def _run(self, data: Array, axis: int | None = None, sorted: int = 1) -> tuple[Array, ...]:
        values, first, inverse, counts = np.unique(data, True, True, True, axis)
        inverse = inverse.reshape(-1)
        if not sorted:
            order = np.argsort(first)
            values, first, counts = np.take(values, order, axis or 0), first[order], counts[order]
            inverse = np.argsort(order)[inverse]
        return (values, first, inverse, counts)[: len(self.onnx_node.output)]


class OneHot(OpRun):  # type: ignore[misc]
    """The interpreter computes the values from their difference, which rounds them."""

    op_domain = ""

    def _run(self, indices: Array, depth: Array, values: Array, axis: int = -1) -> tuple[Array]:
        size, indices = int(depth.reshape(-1)[0]), indices.astype(np.int64)
        hot = np.expand_dims(np.where(indices < 0, indices + size, indices), axis)
        places = np.arange(size).reshape([size if at == axis % hot.ndim else 1 for at in range(hot.ndim)])
        return (np.where(hot == places, values[1], values[0]),)


DEFINITIONS: tuple[type[OpRun], ...] = (
    Scatter,
    GatherElements,
    Slice,
    Pad,
    ReduceSumSquare,
    ReduceLogSumExp,
    Unique,
    OneHot,
)
