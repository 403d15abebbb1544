"""Cases of ONNX that are drawn: some have initializers where others have inputs."""

from __future__ import annotations

import pytest

from generators.builder import Limits
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Case, Role
from generators.onnx.random_graph import CONSTANT_PERCENT, generate
from generators.onnx.rows import OPS

ADDITIONS = tuple(op for op in OPS if op.name.startswith("Add-"))


def of_additions(symbolic: bool) -> list[Case]:
    """Operands of Add are never initializers by themselves."""
    return [generate(NumpySource(1, number), Limits(2), ADDITIONS, symbolic=symbolic) for number in range(400)]


@pytest.mark.slow
def test_some_cases_have_initializers_only_and_some_are_mixed() -> None:
    cases = of_additions(symbolic=False)
    roles = [{item.role for item in case.graph.inputs} for case in cases]
    assert {frozenset(each) for each in roles} == {
        frozenset({Role.INPUT}),
        frozenset({Role.PARAM}),
        frozenset({Role.INPUT, Role.PARAM}),
    }
    changed = sum(Role.PARAM in each for each in roles)
    assert CONSTANT_PERCENT / 200 < changed / len(cases) < CONSTANT_PERCENT / 50


@pytest.mark.slow
def test_they_are_valid_and_named_as_others() -> None:
    for case in of_additions(symbolic=False):
        check(case)
        for item in case.graph.inputs:
            assert item.value.name.startswith("w" if item.role is Role.PARAM else "x")


@pytest.mark.slow
def test_an_input_with_open_sizes_stays_one() -> None:
    cases = of_additions(symbolic=True)
    owned = [item for case in cases for item in case.graph.inputs if item.role is Role.PARAM]
    assert owned, "others become initializers"
    assert not any(item.value.type.symbols for item in owned)
