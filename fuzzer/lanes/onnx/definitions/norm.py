"""Normalisations. onnx 1.23 takes BatchNormalization before version 14 for its training mode, has the statistics of
LayerNormalization in the dtype of the data, knows one stash_type of RMSNormalization, takes the batch for the channels
in LRN, and finds no GroupNormalization in a function of the model."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from fuzzer.lanes.onnx.definitions.wide import wide
from generators.graph import Array


class BatchNormalization(OpRun):  # type: ignore[misc]
    op_domain = ""

    def _run(
        self,
        x: Array,
        scale: Array,
        bias: Array,
        mean: Array,
        var: Array,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        training_mode: int = 0,
        spatial: int = 1,
    ) -> tuple[Any, ...]:
        data = wide(x)
        used = [wide(mean), wide(var)]
        results = []
        if training_mode:
            others = tuple(each for each in range(x.ndim) if each != 1)
            batch = [data.mean(others), data.var(others)]
            moved = [a * momentum + c * (1 - momentum) for a, c in zip(used, batch, strict=True)]
            results, used = [array.astype(mean.dtype) for array in moved], batch
        per_channel = mean.ndim == 1 and (spatial or x.ndim == 2)
        shape = (-1, *(1,) * (x.ndim - 2)) if per_channel else mean.shape
        scale, bias, center, spread = (each.reshape(shape) for each in (wide(scale), wide(bias), *used))
        return (scale * (data - center) / np.sqrt(spread + epsilon) + bias).astype(x.dtype), *results


class LayerNormalization(OpRun):  # type: ignore[misc]
    op_domain = ""

    def _run(
        self,
        x: Array,
        scale: Array,
        bias: Array | None = None,
        axis: int = -1,
        epsilon: float = 1e-5,
        stash_type: int = 1,
    ) -> tuple[Any, ...]:
        """The statistics are in float32; in float64 where the operand is."""
        return layer_norm(x, scale, bias, axis % x.ndim, epsilon)[: len(self.output)]


def layer_norm(x: Array, scale: Array, bias: Array | None, axis: int, epsilon: float) -> tuple[Array, Array, Array]:
    """The result, the mean and the inverse of the standard deviation of all dimensions from `axis` on."""
    data, over = wide(x), tuple(range(axis, x.ndim))
    mean = data.mean(over, keepdims=True)
    inverse = 1 / np.sqrt(((data - mean) ** 2).mean(over, keepdims=True) + epsilon)
    found = (data - mean) * inverse * wide(scale) + (0 if bias is None else wide(bias))
    return found.astype(x.dtype), mean, inverse


class RMSNormalization(OpRun):  # type: ignore[misc]
    op_domain = ""

    def _run(
        self, x: Array, scale: Array, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
    ) -> tuple[Any, ...]:
        data, over = wide(x), tuple(range(axis % x.ndim, x.ndim))
        found = data / np.sqrt((data**2).mean(over, keepdims=True) + epsilon)
        return ((found * wide(scale)).astype(scale.dtype),)


class GroupNormalization(OpRun):  # type: ignore[misc]
    op_domain = ""

    def _run(
        self, x: Array, scale: Array, bias: Array, num_groups: int = 1, epsilon: float = 1e-5, stash_type: int = 1
    ) -> tuple[Any, ...]:
        groups = wide(x).reshape(x.shape[0], num_groups, -1)
        ones = np.ones((), groups.dtype)
        result, _, _ = layer_norm(groups, ones, None, 2, epsilon)
        each = (-1, *(1,) * (x.ndim - 2))
        found = result.reshape(x.shape) * wide(scale).reshape(each) + wide(bias).reshape(each)
        return (found.astype(x.dtype),)


class LRN(OpRun):  # type: ignore[misc]
    op_domain = ""

    def _run(
        self, x: Array, size: int = 1, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0
    ) -> tuple[Any, ...]:
        data, before = wide(x), (size - 1) // 2
        sums = np.zeros_like(data)
        for channel in range(x.shape[1]):
            near = data[:, max(0, channel - before) : channel + size - before]
            sums[:, channel] = (near**2).sum(1)
        return ((data / (bias + alpha / size * sums) ** beta).astype(x.dtype),)


DEFINITIONS: tuple[type[OpRun], ...] = (
    BatchNormalization,
    LayerNormalization,
    RMSNormalization,
    GroupNormalization,
    LRN,
)
