"""Rows of `sparse`: they give the results of dense matrices if all numbers are finite."""

from __future__ import annotations

import pytest
import torch
from eager import inferred, run_case, types_of
from random_calls import compare_calls

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attrs, Invalid, Profile
from generators.random_graph import with_values
from generators.torch.ops import TABLE, Op, sparse

EACH_ROW = pytest.mark.parametrize("op", sparse.OPS, ids=lambda op: op.name)
PLAIN: Attrs = {"beta": 1.0, "alpha": 1.0}


@EACH_ROW
@pytest.mark.exhaustive
def test_pytorch_accepts_every_random_call_that_the_row_accepts(op: Op) -> None:
    assert compare_calls(op, 200).keys() <= {"accepted", "refused", "stricter"}


@pytest.mark.parametrize(
    ("op", "types", "attrs", "message"),
    [
        ("sparse_mm", "bool[2,3] bool[3,2]", {}, "is not defined for bool"),
        ("sparse_mm", "float32[2,3] float64[3,2]", {}, "must share one dtype"),
        ("sparse_mm", "float32[2,3] float32[3]", {}, "takes matrices"),
        ("sparse_mm", "float32[2,3] float32[2,3]", {}, "have no product"),
        ("sparse_addmm", "int64[2,3] int64[3,2] int64[2,2]", PLAIN, "is not defined for int64"),
        ("sparse_addmm", "float32[2,3] float32[3,2] float32[2]", PLAIN, "only float32[2,2] is added"),
    ],
)
def test_inference_refuses(op: str, types: str, attrs: Attrs, message: str) -> None:
    with pytest.raises(Invalid) as error:
        inferred(op, types_of(types), attrs)
    assert message in str(error.value)


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
