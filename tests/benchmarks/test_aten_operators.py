"""generators/torch/ops/aten.json, which `make docs` writes, has what the installed PyTorch says."""

from __future__ import annotations

import aten_operators
import pytest
import torch

from generators.torch.ops.aten import ATEN, PREFIX


def operator(name: str) -> torch._ops.OpOverload:
    packet, _, overload = name.removeprefix(PREFIX).partition(".")
    found: torch._ops.OpOverload = getattr(getattr(torch.ops.aten, packet), overload)
    return found


@pytest.mark.slow
def test_no_listed_operator_changes_an_operand_or_draws_random_numbers() -> None:
    wrong = [
        name
        for name in sorted(ATEN)
        if operator(name)._schema.is_mutable or aten_operators.is_random(operator(name)) or name.endswith("_out")
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "name",
    [
        *("empty.memory_format", "empty_like.default", "new_empty.default", "resize.default", "from_file.default"),
        *("add_.Tensor", "add.out", "rand.default", "dropout.default", "_copy_from.default", "batch_norm.default"),
        *("convolution_backward.default", "_reshape_alias.default", "_fused_adam.default", "set.source_Storage"),
    ],
)
def test_what_must_not_be_called_is_not_listed(name: str) -> None:
    assert f"{PREFIX}{name}" not in ATEN
