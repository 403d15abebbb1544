"""Which cases show a failure: those that the reference accepts, with the types that they declare."""

from __future__ import annotations

import numpy as np
import pytest
from graphs_by_hand import case_of

from fuzzer.lanes import eager_of
from fuzzer.triage.reproduce import gives_declared_types
from generators.graph import Array, Case
from oracles.outcome import Ran, Stage, Unsupported

EAGER = eager_of("torch")
FLOATS = np.ones((2, 1), np.float32)


def by_name(declared: str) -> Case:
    call = {"call": "torch.ops.aten.special_ndtr.default(a0)", "types": (declared,)}
    return case_of({"x0": "float32[2,1]"}, [("v0", "torch_call", "x0", call)], "v0")


@pytest.mark.parametrize(
    ("case", "given", "expected"),
    [
        (by_name("float32[2,1]"), FLOATS, True),
        (by_name("float32[2,3]"), FLOATS, False),
        (by_name("float64[2,1]"), FLOATS, False),
        (case_of({"x0": "float32[2,1]"}, [("v0", "neg", "x0")], "v0"), FLOATS, True),
    ],
)
def test_the_types_of_calls_without_a_row_are_those_that_the_reference_gives(
    case: Case, given: Array, expected: bool
) -> None:
    assert gives_declared_types(case, {EAGER: Ran((given,))}) is expected


def test_a_case_that_the_reference_refuses_gives_no_types() -> None:
    assert not gives_declared_types(by_name("float32[2,1]"), {EAGER: Unsupported(Stage.RUN, "no")})
