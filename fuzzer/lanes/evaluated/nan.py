"""Operators through which NaN is unspecified: TVM's maintainers say so (apache/tvm, pull request 19847)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

COMPARING = frozenset(
    {
        *("maximum", "minimum", "max", "min", "clip", "sign", "nn.relu", "nn.relu6"),
        *(f"nn.max_pool{rank}d" for rank in (1, 2, 3)),
    }
)
"""Names in Relax, without `relax.`."""


def takes_nan(name: str, args: Sequence[Any]) -> bool:
    """Whether `relax.<name>` compares elements, and one of them is NaN."""
    return name in COMPARING and any(isinstance(arg, Tensor) and bool(arg.isnan().any()) for arg in args)
