"""Activations."""

from __future__ import annotations

from generators.ops.base import Op

OPS: tuple[Op, ...] = ()
