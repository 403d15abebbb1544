"""Tests of a model and of random models with the fixture `difftvm`: `pytest docs/examples/test_my_model.py`."""

import pytest
import torch


def test_my_model(difftvm):
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU())
    difftvm.check(model.eval(), torch.randn(2, 3))


@pytest.mark.difftvm(seconds=20, tests=5)
def test_activations(difftvm):
    for case in difftvm.cases("relu,gelu,sigmoid", max_ops=2):
        difftvm.check(case, lanes="relax-export-llvm")
