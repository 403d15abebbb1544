"""Moves numbers by as much as a sample says."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import torch

from fuzzer.lanes.envelope.sample import Sample
from generators.graph import DType
from generators.op import Arithmetic

Reached = torch.Tensor | None
"""How far each number may be off on a device."""


def tiny(dtype: DType) -> float:
    """The smallest normal number."""
    return float(ml_dtypes.finfo(dtype.numpy).smallest_normal)


def flushes(dtype: DType) -> bool:
    """Whether a correct implementation may replace denormal numbers of this dtype by zero. It may not in float16:
    processors compute with float16 in float32, where these numbers are normal."""
    return dtype.is_float and dtype is not DType.FLOAT16


class Push:
    """Pushes the numbers of one evaluation."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._direction = sample.direction
        self._noise = torch.Generator().manual_seed(sample.seed)

    def __call__(
        self, value: torch.Tensor, size: float, scale: float = 0.0, least: float = 0.0, reach: Reached = None
    ) -> torch.Tensor:
        """Move each number by `size` times its magnitude, or times `scale` or `least` if that is larger; by `reach` if
        that is still larger."""
        if self._direction:
            push: Any = torch.where(value < 0, -1.0, 1.0) * self._direction
        elif self._sample.partly:
            push = 2 * torch.rand(value.shape, generator=self._noise, dtype=torch.float64) - 1
        else:
            push = 2 * torch.randint(0, 2, value.shape, generator=self._noise, dtype=torch.float64) - 1
        length = value.abs()
        if scale:
            length = length.clamp(min=scale)
        elif least:  # below the smallest normal number, units do not get smaller; zero is exact
            length = torch.where(value == 0, 0.0, length.clamp(min=least))
        distance = size * length
        if reach is not None:
            distance = torch.maximum(distance, reach)
        moved = value + push * self._sample.width * distance
        return torch.where(torch.isfinite(value), moved, value)  # an infinity pushed towards zero would be NaN

    def turn(self) -> None:
        """Push the other way from now on."""
        self._direction = -self._direction

    def rounded(
        self,
        value: torch.Tensor,
        dtype: DType,
        size: float,
        scale: float,
        arithmetic: Arithmetic,
        reach: Reached = None,
    ) -> torch.Tensor:
        """The pushed result, rounded to its dtype. `scale` and `arithmetic` are those of its operator, `reach` is what
        a device permits."""
        own = getattr(torch, dtype)
        if not self._sample.width:
            return value.to(own).to(torch.float64)
        moved = self(value, size, scale, tiny(dtype), reach).to(own).to(torch.float64)
        if arithmetic is Arithmetic.EXACT_WHERE_HELD and dtype is not DType.FLOAT64:
            return torch.where(value.to(own).to(torch.float64) == value, value, moved)
        return moved

    def flushed(self, value: torch.Tensor, dtype: DType, below: float = 0.0) -> torch.Tensor:
        return torch.where(value.abs() < max(below, tiny(dtype)), 0.0, value) if flushes(dtype) else value
