"""Rows of `unique`: the shape of the result does not depend on the numbers."""

from __future__ import annotations

import pytest
import torch
from eager import inferred, types_of
from random_calls import compare_calls

from generators.graph import Attrs, Invalid
from generators.torch.ops import TABLE, Op, unique

EACH_ROW = pytest.mark.parametrize("op", unique.OPS, ids=lambda op: op.name)
ALL: Attrs = {"dim": None}


@EACH_ROW
@pytest.mark.exhaustive
def test_random_calls_are_accepted_and_refused_as_by_pytorch(op: Op) -> None:
    """The row refuses floats and empty slices, which PyTorch accepts."""
    assert compare_calls(op, 200).keys() <= {"accepted", "refused", "stricter"}


@pytest.mark.parametrize(
    ("op", "types", "attrs", "message"),
    [
        ("unique_sum", "float32[2]", {"sorted": True, **ALL}, "is not defined for float32"),
        ("unique_sum", "int64[2]", {"sorted": True, "dim": 1}, "dim 1 is out of range for rank 1"),
        ("unique_inverse", "int64[]", {"dim": 0}, "a 0-d tensor has no slices"),
        ("unique_consecutive_sum", "int64[2,0]", {"dim": 0}, "slices of int64[2,0] are all alike"),
    ],
)
def test_inference_refuses(op: str, types: str, attrs: Attrs, message: str) -> None:
    with pytest.raises(Invalid) as error:
        inferred(op, types_of(types), attrs)
    assert message in str(error.value)


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
