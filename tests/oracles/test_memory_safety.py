from __future__ import annotations

from dataclasses import replace

import fakes
import pytest
from fakes import CASE, TORCH, TVM, TVM_ONNX

from oracles.finding import Component, Finding, Kind
from oracles.memory_access import Access, MemoryAccess, Side
from oracles.memory_safety import memory_safety
from oracles.outcome import Facts, Outcome, Ran, Stage

RIGHT = fakes.correct(fakes.TWO_OUTPUTS)
READ = MemoryAccess(Access.READ, "input x0", Side.BEFORE, 2, "float32")
WRITE = MemoryAccess(Access.WRITE, "output 0", Side.AFTER, 1, "int8")
EMPTY = MemoryAccess(Access.READ, "an intermediate tensor", Side.INSIDE, 0, "bool")


def with_accesses(*accesses: MemoryAccess) -> Ran:
    return replace(RIGHT, facts=Facts(accesses=accesses))


@pytest.mark.parametrize(
    ("accesses", "kind", "worst"),
    [
        ([READ], Kind.OUT_OF_BOUNDS_READ, READ),
        ([WRITE], Kind.OUT_OF_BOUNDS_WRITE, WRITE),
        ([EMPTY], Kind.UNINITIALISED_READ, EMPTY),
        ([READ, WRITE], Kind.OUT_OF_BOUNDS_WRITE, WRITE),
        ([READ, EMPTY], Kind.OUT_OF_BOUNDS_READ, READ),
    ],
)
def test_an_access_is_found_though_the_result_is_right(
    accesses: list[MemoryAccess], kind: Kind, worst: MemoryAccess
) -> None:
    found = list(memory_safety(CASE, {TORCH: RIGHT, TVM_ONNX: RIGHT, TVM: with_accesses(*accesses)}))
    assert found == [Finding(kind, Component.TVM, TVM, Stage.RUN, worst)]


@pytest.mark.parametrize("eager", [fakes.raised(Stage.RUN), *fakes.NO_VERDICT.values()])
def test_a_case_that_pytorch_does_not_run_is_not_judged(eager: Outcome) -> None:
    assert list(memory_safety(CASE, {TORCH: eager, TVM: with_accesses(READ)})) == []


def test_what_a_lane_did_before_it_died_is_the_death() -> None:
    died = replace(fakes.segfault(Stage.RUN), facts=Facts(accesses=(READ,)))
    assert list(memory_safety(CASE, {TORCH: RIGHT, TVM: died})) == []


@pytest.mark.parametrize(
    ("access", "does"),
    [
        (READ, "reads out of bounds, 2 elements before input x0"),
        (WRITE, "writes out of bounds, 1 element after output 0"),
        (EMPTY, "uses elements of an intermediate tensor that nothing has written"),
    ],
)
def test_what_the_model_does_in_words(access: MemoryAccess, does: str) -> None:
    assert access.does == does
