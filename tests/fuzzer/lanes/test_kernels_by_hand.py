"""The comparison of numbers on whole kernels: kernels with one small bug are found, right kernels are accepted."""

from __future__ import annotations

import pytest
import torch
from fakes import TORCH, TORCH_ENVELOPE, TORCH_F64
from kernels_by_hand import RIGHT_KERNELS, WRONG_KERNELS, Implementation

from fuzzer.lanes.base.arrays import from_torch, to_torch
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.torch.eager import TorchLane
from generators.graph import Array, Case
from oracles.against_torch import judge
from oracles.finding import Kind
from oracles.reference import Expected, expected


def references(case: Case) -> tuple[Expected, ...]:
    lane = TorchLane()
    right = expected(
        {spec: lane.run(PreparedCase(case, Quiet()), spec, Quiet()) for spec in (TORCH, TORCH_F64, TORCH_ENVELOPE)}
    )
    assert right is not None
    return right


def computed(implementation: Implementation) -> tuple[Array, ...]:
    case = implementation.case
    return (from_torch(implementation.compute(*(to_torch(case.tensors[name]) for name in implementation.inputs))),)


@pytest.mark.parametrize("kernel", WRONG_KERNELS, ids=[kernel.name for kernel in WRONG_KERNELS])
def test_a_kernel_with_a_common_bug_is_found(kernel: Implementation) -> None:
    found = judge(computed(kernel), references(kernel.case))
    assert found is not None
    assert found[0] is Kind.WRONG_VALUE


@pytest.mark.parametrize("kernel", RIGHT_KERNELS, ids=[kernel.name for kernel in RIGHT_KERNELS])
def test_a_kernel_that_computes_the_function_in_another_way_is_accepted(kernel: Implementation) -> None:
    right = references(kernel.case)
    assert judge(computed(kernel), right) is None
    assert not all(r.ill.all() for r in right)


@pytest.mark.slow
def test_pytorchs_own_results_are_accepted_for_the_cases_of_wrong_kernels() -> None:
    for kernel in WRONG_KERNELS:
        right = references(kernel.case)
        assert judge(tuple(r.eager for r in right), right) is None
        with torch.no_grad():
            assert computed(kernel)[0].shape == right[0].eager.shape
