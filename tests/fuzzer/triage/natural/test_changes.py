"""Changes towards what people write."""

from __future__ import annotations

import pytest
from graphs_by_hand import case_of
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzer.triage.natural.changes import CHANGES, changed, less_odd
from fuzzer.triage.natural.oddity import oddity
from fuzzer.triage.scope.neighbours import is_valid
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Case
from generators.torch.random_graph import generate


def types(case: Case) -> list[str]:
    return [str(item.value.type) for item in case.graph.inputs]


@pytest.mark.slow
@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_changed_cases_are_valid_and_no_odder(seed: int) -> None:
    source, case = NumpySource(0), generate(NumpySource(seed), Limits(max_nodes=3), symbolic=False)
    assert oddity(changed(source, case)) <= oddity(case)
    for change in CHANGES:
        for proposal in less_odd(source, change, case):
            assert is_valid(proposal)
            assert oddity(proposal) < oddity(case)
            assert proposal.graph.ops == case.graph.ops


@pytest.mark.parametrize(
    ("inputs", "op", "attrs", "expected"),
    [
        (("int64[1]",), "neg", {}, ["float32[2,3]"]),
        (("bfloat16[1]", "bfloat16[1]"), "add", {}, ["float32[2,3]", "float32[2,3]"]),
        (("float32[1,1,1]",), "max_pool2d", {"kernel_size": 1}, ["float32[2,3,4,5]"]),
        (("float16[1,2]", "float16[2]"), "group_norm", {"num_groups": 1}, ["float32[2,3]", "float32[3]"]),
        (("float32[]",), "softmax", {"dim": 0}, ["float32[2,3]"]),
    ],
)
def test_small_cases_become_usual_ones(
    inputs: tuple[str, ...], op: str, attrs: dict[str, int], expected: list[str]
) -> None:
    named = {f"x{index}": type for index, type in enumerate(inputs)}
    case = case_of(named, [("v0", op, " ".join(named), attrs)], "v0")
    assert types(changed(NumpySource(0), case)) == expected


def test_indices_stay_integers() -> None:
    case = case_of({"x0": "float64[1]", "x1": "int64[1]"}, [("v0", "gather", "x0 x1", {"dim": 0})], "v0")
    assert types(changed(NumpySource(0), case))[1].startswith("int64")
