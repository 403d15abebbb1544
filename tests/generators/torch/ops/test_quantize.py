"""The row of `quantize`: eight bits, and steps for which all implementations agree on ties."""

from __future__ import annotations

import torch
from conformance.torch.quantize import GRID

from generators.torch.ops import TABLE


def test_source_text_and_results() -> None:
    text = TABLE["fake_quantize"].render(("x",), GRID)
    assert text == "torch.fake_quantize_per_tensor_affine(x, 0.5, 3, 0, 255)"
    x = torch.tensor([0.2, 0.25, 0.75, -9.0, 1e6])
    assert eval(text, {"torch": torch, "x": x}).tolist() == [0.0, 0.0, 1.0, -1.5, 126.0]
