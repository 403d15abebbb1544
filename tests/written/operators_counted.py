"""How many operators can be drawn, as README.md and docs/ say."""

from __future__ import annotations

from written_text import Written

from generators.onnx.rows import OPS as ONNX_OPS
from generators.torch.ops import OPS


def of_torch(_: str) -> str:
    return f"{len(OPS)}"


def of_onnx(_: str) -> str:
    return f"{len({op.name.rpartition('-')[0] for op in ONNX_OPS})} of ONNX in {len(ONNX_OPS)} versions"


ROWS = (
    Written("operators-of-torch", "README.md", of_torch),
    Written("operators-of-onnx", "README.md", of_onnx),
    Written("operators-of-torch", "docs/comparison.md", of_torch),
)
