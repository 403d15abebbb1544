"""The row of `quantize`."""

from __future__ import annotations

from conformance import Table
from generators.graph import Attrs

GRID: Attrs = {"scale": 0.5, "zero_point": 3, "quant_min": 0, "quant_max": 255}

NOT_ASKED: Table = [
    ("fake_quantize", "int64[2]", GRID, "is not defined for int64"),
    ("fake_quantize", "float32[2]", {**GRID, "scale": 0.1}, "steps are powers of two"),
    ("fake_quantize", "float32[2]", {**GRID, "zero_point": -1}, "zero_point -1 is not within 0 and 255"),
    ("fake_quantize", "float32[2]", {**GRID, "quant_min": -1}, "eight bits at most"),
]
