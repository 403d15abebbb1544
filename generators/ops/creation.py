"""Tensors made from nothing, or in the likeness of another."""

from __future__ import annotations

from generators.ops.base import Op

OPS: tuple[Op, ...] = ()
