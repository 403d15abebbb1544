"""Reading at positions: indexing syntax, gather, masks."""

from __future__ import annotations

from generators.ops.base import Op

OPS: tuple[Op, ...] = ()
