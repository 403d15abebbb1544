"""The row of `quantize`: eight bits, and steps for which all implementations agree on ties."""

from __future__ import annotations

import pytest
import torch
from eager import inferred, types_of

from generators.graph import Attrs, Invalid
from generators.torch.ops import TABLE

GRID: Attrs = {"scale": 0.5, "zero_point": 3, "quant_min": 0, "quant_max": 255}


@pytest.mark.parametrize(
    ("types", "given", "message"),
    [
        ("int64[2]", {}, "is not defined for int64"),
        ("float32[2]", {"scale": 0.1}, "steps are powers of two"),
        ("float32[2]", {"zero_point": -1}, "zero_point -1 is not within 0 and 255"),
        ("float32[2]", {"quant_min": -1}, "eight bits at most"),
    ],
)
def test_inference_refuses(types: str, given: Attrs, message: str) -> None:
    with pytest.raises(Invalid) as error:
        inferred("fake_quantize", types_of(types), {**GRID, **given})
    assert message in str(error.value)


def test_source_text_and_results() -> None:
    text = TABLE["fake_quantize"].render(("x",), GRID)
    assert text == "torch.fake_quantize_per_tensor_affine(x, 0.5, 3, 0, 255)"
    x = torch.tensor([0.2, 0.25, 0.75, -9.0, 1e6])
    assert eval(text, {"torch": torch, "x": x}).tolist() == [0.0, 0.0, 1.0, -1.5, 126.0]
