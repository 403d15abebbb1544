from __future__ import annotations

from itertools import product

import pytest
import torch
from eager import ones

from generators.graph import DType, TensorType
from generators.ops.rules import floating, promote

KINDS = [TensorType(dtype, shape) for dtype in DType for shape in ((), (2,))]


def name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@pytest.mark.parametrize(("a", "b"), list(product(KINDS, KINDS)), ids=str)
def test_two_operands(a: TensorType, b: TensorType) -> None:
    assert promote((a, b)) == name(torch.result_type(ones(a), ones(b)))


@pytest.mark.parametrize("first", KINDS, ids=str)
def test_three_operands(first: TensorType) -> None:
    """torch.result_type takes two; addcmul promotes three by the same rule, on meta tensors for bool as well."""
    for types in product([first], KINDS, KINDS):
        assert promote(types) == name(torch.addcmul(*(ones(t).to("meta") for t in types)).dtype), types


@pytest.mark.parametrize("dtype", DType)
def test_one_operand_keeps_its_dtype(dtype: DType) -> None:
    assert promote([TensorType(dtype, ())]) == promote([TensorType(dtype, (2,))]) == dtype


@pytest.mark.parametrize("dtype", DType)
def test_float_functions(dtype: DType) -> None:
    assert floating(dtype) == name(torch.sin(ones(TensorType(dtype, (2,)))).dtype)
