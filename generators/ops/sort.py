"""Orders: sort, topk, medians, searches and running extremes."""

from __future__ import annotations

from generators.ops.base import Op

OPS: tuple[Op, ...] = ()
