"""Many numbers that must be odd, but need not be those: they end as those of a seed, and that is tried, not guessed."""

from __future__ import annotations

import numpy as np
import pytest
from fakes import TVM
from graphs_by_hand import case_of

from fuzzer.report import repro_values
from fuzzer.triage.reduce import reduce
from fuzzer.triage.reducers import Subject
from fuzzer.triage.reducers.plain_values import plain_values
from fuzzer.triage.reproduce import Reproduction
from generators.graph import Array, Case, DType
from generators.values import seeded
from oracles.lane import LaneSpec

RANDOM = np.random.default_rng(3)


def reduced(array: Array, kept: str) -> Array:
    """By a predicate that holds as long as the numbers are `kept`."""
    sizes = ",".join(map(str, array.shape))
    case = case_of({"x0": f"{array.dtype}[{sizes}]"}, [("v0", "neg", "x0")], "v0", lambda item: array)

    def interesting(smaller: Case, lane: LaneSpec) -> Reproduction:
        numbers = smaller.tensors["x0"].astype(np.float64)
        odd = bool(np.any(numbers != np.rint(numbers)))
        return Reproduction({"anything": True, "odd": odd, "these": bool(np.array_equal(numbers, array))}[kept])

    return reduce(Subject(case, TVM, {}), interesting, lambda whole: {}, reducers=(plain_values,)).case.tensors["x0"]


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT64])
def test_numbers_that_must_be_odd_are_those_of_a_seed(dtype: DType) -> None:
    made = reduced(RANDOM.normal(size=(5, 6)).astype(dtype.numpy), "odd")
    assert made.tobytes() == seeded((5, 6), dtype).tobytes()
    assert "RandomState(0)" in repro_values.literal(made)


def test_numbers_that_matter_stay() -> None:
    array = RANDOM.normal(size=(5, 6)).astype(np.float32)
    assert reduced(array, "these").tobytes() == array.tobytes()
    assert "RandomState" not in repro_values.literal(array)


def test_where_zeros_do_zeros_are_taken() -> None:
    assert not reduced(RANDOM.normal(size=(5, 6)).astype(np.float32), "anything").any()


def test_few_numbers_are_read_by_people() -> None:
    few = RANDOM.normal(size=(2, 3)).astype(np.float32)
    assert reduced(few, "odd").tobytes() == few.tobytes()
