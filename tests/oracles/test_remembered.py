"""Results are remembered by the identity of the arguments."""

from __future__ import annotations

from threading import Thread

import numpy as np

from generators.graph import Array
from oracles.remembered import remembered


def test_a_result_is_computed_once_for_the_same_objects_and_again_for_equal_ones() -> None:
    calls: list[float] = []

    @remembered(2, of=1)
    def total(array: Array, right: Array) -> float:
        calls.append(float(array.sum() + right.sum()))
        return calls[-1]

    ones, others, rights = np.ones(2), np.ones(2), [np.full(1, float(number)) for number in range(3)]
    assert [total(ones, rights[0]), total(ones, rights[0]), total(others, rights[0])] == [2.0, 2.0, 2.0]
    assert calls == [2.0, 2.0], "the arrays are equal, and not the same"
    assert [total(ones, rights[1]), total(ones, rights[0]), total(ones, rights[2])] == [3.0, 2.0, 4.0]
    assert len(calls) == 4
    total(others, rights[0])
    assert len(calls) == 4, "all results for one of the last two right ones are kept"
    total(ones, rights[1])
    assert len(calls) == 5, "it was the third last"


def test_arguments_live_as_long_as_their_results() -> None:
    @remembered(1)
    def first(array: Array) -> float:
        return float(array[0])

    assert [first(np.full(1, float(number))) for number in range(100)] == [float(number) for number in range(100)]


def test_each_thread_has_its_own() -> None:
    calls: list[int] = []

    @remembered(1)
    def called(argument: object) -> None:
        calls.append(1)

    threads = [Thread(target=called, args=(calls,)) for _ in range(3)]
    for thread in threads:
        thread.start()
        thread.join()
    assert len(calls) == 3
