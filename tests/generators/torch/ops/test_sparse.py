"""Rows of `sparse`: they give the results of dense matrices if all numbers are finite."""

from __future__ import annotations

import pytest
import torch
from conformance.torch.sparse import PLAIN
from eager import run_case

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Profile
from generators.random_graph import with_values
from generators.torch.ops import TABLE, Op, sparse

EACH_ROW = pytest.mark.parametrize("op", sparse.OPS, ids=lambda op: op.name)


def test_source_texts() -> None:
    assert TABLE["sparse_mm"].render(("a", "b"), {}) == "torch.sparse.mm(a.to_sparse(), b)"
    assert TABLE["sparse_addmm"].render(("a", "b", "c"), PLAIN) == "torch.sparse.addmm(c, a.to_sparse(), b)"
    scaled = TABLE["sparse_addmm"].render(("a", "b", "c"), {**PLAIN, "alpha": 0.5})
    assert scaled == "torch.sparse.addmm(c, a.to_sparse(), b, alpha=0.5)"
    assert TABLE["to_sparse"].render(("a",), {}) == "a.to_sparse().to_dense()"


@EACH_ROW
def test_results_in_the_special_profile_are_finite(op: Op) -> None:
    """The operands of products are clamped."""
    if op.arity == (1, 1):
        return
    for index in range(30):
        builder = Builder(NumpySource(5, index), Limits(max_numel=64), profile=Profile.SPECIAL)
        if builder.grow(op):
            assert torch.isfinite(run_case(with_values(builder))[0]).all()
