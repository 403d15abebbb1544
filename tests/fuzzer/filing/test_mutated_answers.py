"""The short form of benchmarks/tracker_answers.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutated_runs import runs

from fuzzer.filing.draft import Draft

pytestmark = pytest.mark.slow


def test_no_mutated_answer_harms_a_command(tmp_path: Path, finding: Draft) -> None:
    done = list(runs(3, range(15), tmp_path, finding))
    assert [run for run in done if run.faults] == []
    assert sum(run.changed > 0 for run in done) >= 11
    assert {run.code for run in done} >= {0, 76}
