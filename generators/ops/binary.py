"""Elementwise operators of two or more operands, and of a tensor and a Python number."""

from __future__ import annotations

from generators.ops.base import Op

OPS: tuple[Op, ...] = ()
