"""The numeric equation on real programs: one small bug is caught, the same function computed in another way is not."""

from __future__ import annotations

import pytest
import torch
from fakes import TORCH, TORCH_ENVELOPE, TORCH_F64
from kernels_by_hand import HONEST, LIES, Implementation

from fuzzer.lanes.base.bench import Bench, Quiet, from_torch, to_torch
from fuzzer.lanes.torch.eager import TorchLane
from generators.graph import Array, Case
from oracles.against_torch import judge
from oracles.finding import Kind
from oracles.reference import Expected, expected


def references(case: Case) -> tuple[Expected, ...]:
    lane = TorchLane()
    right = expected(
        {spec: lane.run(Bench(case, Quiet()), spec, Quiet()) for spec in (TORCH, TORCH_F64, TORCH_ENVELOPE)}
    )
    assert right is not None
    return right


def computed(implementation: Implementation) -> tuple[Array, ...]:
    case = implementation.case
    return (from_torch(implementation.compute(*(to_torch(case.tensors[name]) for name in implementation.inputs))),)


@pytest.mark.parametrize("lie", LIES, ids=[lie.name for lie in LIES])
def test_a_bug_that_people_write_is_caught(lie: Implementation) -> None:
    found = judge(computed(lie), references(lie.case))
    assert found is not None
    assert found[0] is Kind.WRONG_VALUE


@pytest.mark.parametrize("honest", HONEST, ids=[honest.name for honest in HONEST])
def test_another_way_to_compute_it_is_not(honest: Implementation) -> None:
    right = references(honest.case)
    assert judge(computed(honest), right) is None
    assert not all(r.ill.all() for r in right)


def test_the_cases_of_the_lies_have_right_answers() -> None:
    for lie in LIES:
        right = references(lie.case)
        assert judge(tuple(r.eager for r in right), right) is None
        with torch.no_grad():
            assert computed(lie)[0].shape == right[0].eager.shape
