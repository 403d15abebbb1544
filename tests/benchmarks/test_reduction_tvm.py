"""The bugs that benchmarks/reduction.py measures, with a real TVM."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import reduction

from fuzzer.isolate.executor import Executor
from generators.graph import Case
from oracles.lane import LaneSpec, is_tier_1
from oracles.outcome import Result

pytestmark = pytest.mark.tvm


class Recording:
    """Runs lanes, and keeps which."""

    def __init__(self, executor: Executor) -> None:
        self.run_fresh, self._executor, self.lanes = executor.run_fresh, executor, list[LaneSpec]()

    def run(self, case: Case, lanes: Sequence[LaneSpec], *more: Any) -> Result:
        self.lanes += lanes
        return self._executor.run(case, lanes, *more)


@pytest.mark.long
def test_failures_of_tvm_are_those_of_tests_in_two_tiers(tmp_path: Path) -> None:
    with Executor(tmp_path / "scratch") as executor:
        recording = Recording(executor)
        found = list(reduction.real(recording, 1, 2))
    assert any(map(is_tier_1, recording.lanes))
    assert not any(is_tier_1(sighting.finding.lane) for _, _, sighting in found), "a finding is on a plain lane"
