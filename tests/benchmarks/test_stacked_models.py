"""The models of stacked layers that the comparison of `difftvm.check` with TVM by hand draws."""

from __future__ import annotations

import pytest
import torch
from stacked.layers import LAYERS
from stacked_models import model_of


@pytest.mark.slow
def test_models_run_and_are_those_of_their_seed_and_number() -> None:
    drawn = set()
    for number in range(60):
        layers, model, inputs, _ = model_of(3, number)
        _, again, same, shapes = model_of(3, number)
        with torch.no_grad():
            found, other = model(inputs), again(same)
        assert found.isfinite().all(), number
        assert torch.equal(found, other), number
        assert shapes is None or inputs.shape[0] == 2, "torch.export takes an open size of 1 for a fixed one"
        drawn |= {layer.name for layer in layers}
    assert {layer.name for layer in LAYERS} <= drawn
