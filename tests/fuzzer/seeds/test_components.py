"""Strongly connected components."""

from __future__ import annotations

import pytest

from fuzzer.seeds.components import components


def found(edges: dict[int, set[int]]) -> list[list[int]]:
    return sorted(sorted(each) for each in components(edges))


def test_each_circle_is_a_component_and_each_other_vertex() -> None:
    assert found({}) == []
    assert found({0: {1}, 1: {2}, 2: set()}) == [[0], [1], [2]]
    assert found({0: {1}, 1: {2}, 2: {0, 3}, 3: {4}, 4: {3}, 5: {5}}) == [[0, 1, 2], [3, 4], [5]]
    assert found({0: {2}, 1: {2}, 2: {3}, 3: {1}}) == [[0], [1, 2, 3]]


@pytest.mark.slow
def test_a_long_way_does_not_exceed_the_stack() -> None:
    way = {vertex: {vertex + 1} for vertex in range(20_000)}
    assert found({**way, 20_000: {0}}) == [list(range(20_001))]
