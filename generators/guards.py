"""Which operators rows add before their own call, so that a computed value is in the range that it is defined for."""

from __future__ import annotations

from generators.torch.ops.guard import GUARDS

ONNX_GUARDS = ("Clip",)


def is_guard(op: str) -> bool:
    """Whether rows of its dialect add this operator before their own call."""
    return op in GUARDS or op.partition("-")[0] in ONNX_GUARDS
