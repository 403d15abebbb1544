"""Rows of `unique`: the shape of the result does not depend on the numbers."""

from __future__ import annotations

import pytest
import torch
from conformance.torch.unique import ALL
from eager import inferred, types_of

from generators.graph import Attrs
from generators.torch.ops import TABLE


@pytest.mark.parametrize(
    ("op", "attrs", "text", "result"),
    [
        ("unique_sum", {"sorted": True, **ALL}, "torch.unique(x).sum()", 6),
        ("unique_sum", {"sorted": False, "dim": -1}, "torch.unique(x, sorted=False, dim=-1).sum()", 8),
        ("unique_inverse", ALL, "torch.unique(x, return_inverse=True)[1]", [[1, 1, 0], [1, 1, 2]]),
        ("unique_inverse", {"dim": 1}, "torch.unique(x, return_inverse=True, dim=1)[1]", [1, 1, 0]),
        ("unique_consecutive_sum", ALL, "torch.unique_consecutive(x).sum()", 8),
        ("unique_consecutive_sum", {"dim": 0}, "torch.unique_consecutive(x, dim=0).sum()", 12),
    ],
)
def test_source_text_and_results(op: str, attrs: Attrs, text: str, result: object) -> None:
    x = torch.tensor([[2, 2, 1], [2, 2, 3]])
    assert TABLE[op].render(("x",), attrs) == text
    result_of_text = eval(text, {"torch": torch, "x": x})
    assert result_of_text.tolist() == result
    assert inferred(op, types_of("int64[2,3]"), attrs) == f"int64[{','.join(map(str, result_of_text.shape))}]"
