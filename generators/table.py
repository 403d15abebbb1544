"""The rows of all dialects, by name."""

from __future__ import annotations

from collections.abc import Mapping

from generators.op import Op
from generators.torch.ops import TABLE as TORCH_ROWS

TABLE: Mapping[str, Op] = TORCH_ROWS
