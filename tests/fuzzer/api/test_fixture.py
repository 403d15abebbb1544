"""What the fixture `difftvm` gives to one test."""

from __future__ import annotations

from pathlib import Path

from fuzzer.api.fixture import Difftvm


def test_each_loop_of_a_test_has_cases(tmp_path: Path) -> None:
    given = Difftvm("name", 1, tmp_path, tests=2)
    assert [len(list(given.cases(ops))) for ops in ("relu", "tanh")] == [2, 2]
    late = Difftvm("name", 1, tmp_path, seconds=0.0)
    assert [len(list(late.cases(ops))) for ops in ("relu", "tanh")] == [1, 1]
