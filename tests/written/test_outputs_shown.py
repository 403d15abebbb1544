"""How an output is written whose figures are partly those of a run."""

from __future__ import annotations

import pytest
from outputs_shown import SECONDS, SPEED, output, shown, with_measured
from written_text import ROOT


def test_measured_figures_stay() -> None:
    now = "5 cases in 35 s\n1424 graphs of 5 operators per CPU second"
    new = "6 cases in 9 s\n2000 graphs of 5 operators per CPU second"
    assert with_measured(new, now, SECONDS, SPEED) == "6 cases in 35 s\n1424 graphs of 5 operators per CPU second"


def test_what_is_measured_for_the_first_time_is_written() -> None:
    assert with_measured("6 cases in 9 s", "", SECONDS) == "6 cases in 9 s"


def test_a_command_runs_beside_the_findings_and_its_errors_are_shown() -> None:
    *slugs, error = output("cat crashes/SHIPPED docs/examples/nothing.py", 1)
    assert slugs == (ROOT / "crashes" / "SHIPPED").read_text().splitlines()
    assert error.startswith("cat: docs/examples/nothing.py: ")


def test_a_command_is_shown_with_its_output() -> None:
    command = "python -c \"print('5 cases in 9 s')\" in 9 s"
    now = f"```\n$ {command}\n4 cases in 35 s\n```"
    assert shown(command, SECONDS, 0, now) == f"```\n$ {command}\n5 cases in 35 s\n```"


def test_the_output_of_a_command_that_fails_is_not_written() -> None:
    with pytest.raises(ValueError, match="import nowhere' ends with 1, not 0:\nTraceback"):
        output("python -c 'import nowhere'")
