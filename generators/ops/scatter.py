"""Writing at positions: scatter, index_put, assignment to slices and masks."""

from __future__ import annotations

from generators.ops.base import Op

OPS: tuple[Op, ...] = ()
