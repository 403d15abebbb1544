from __future__ import annotations

from itertools import product

import pytest
import torch
from eager import ones

from generators.graph import DRAWN, DType, TensorType
from generators.torch.ops.rules import Number, floating, join, promote, summed

KINDS = [TensorType(dtype, shape) for dtype in DRAWN for shape in ((), (2,))]


def name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@pytest.mark.parametrize("a", KINDS, ids=str)
def test_two_operands(a: TensorType) -> None:
    for b in KINDS:
        assert promote((a, b)) == name(torch.result_type(ones(a), ones(b))), b


@pytest.mark.parametrize("number", [True, 2, 0.5], ids=str)
def test_a_tensor_and_a_python_number(number: Number) -> None:
    for a in KINDS:
        assert promote((a,), number) == name(torch.result_type(ones(a), number)), a


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", KINDS, ids=str)
def test_three_operands(first: TensorType) -> None:
    """torch.result_type accepts two operands only. addcmul promotes three by the same rule (bool on meta tensors)."""
    for types in product([first], KINDS, KINDS):
        assert promote(types) == name(torch.addcmul(*(ones(t).to("meta") for t in types)).dtype), types


def test_two_dtypes() -> None:
    for a, b in product(DRAWN, DRAWN):
        assert join(a, b) == name(torch.promote_types(getattr(torch, a.value), getattr(torch, b.value))), (a, b)


def test_a_number_alone_has_the_dtype_of_a_tensor_made_of_it() -> None:
    for number in (True, 2, 0.5):
        assert promote((), number) == name(torch.tensor(number).dtype)


@pytest.mark.parametrize("dtype", DRAWN)
def test_one_operand_keeps_its_dtype(dtype: DType) -> None:
    assert promote([TensorType(dtype, ())]) == promote([TensorType(dtype, (2,))]) == dtype


@pytest.mark.parametrize("dtype", DRAWN)
def test_float_functions(dtype: DType) -> None:
    assert floating(dtype) == name(torch.sin(ones(TensorType(dtype, (2,)))).dtype)


@pytest.mark.parametrize("dtype", DRAWN)
def test_sums(dtype: DType) -> None:
    assert summed(dtype) == name(torch.sum(ones(TensorType(dtype, (2,)))).dtype)
    assert summed(dtype) == name(torch.prod(ones(TensorType(dtype, (2,)))).dtype)
