"""The cases of a model in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from fuzzer.api import written_cases
from fuzzer.api.model_cases import cases_of
from generators import case_file
from generators.graph import Invalid


class Cut(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.bernoulli(x.exp()).relu()


@pytest.mark.slow
@pytest.mark.parametrize("model", [torch.nn.Linear(3, 2), Cut()])
def test_what_is_read_is_what_was_written(model: torch.nn.Module, tmp_path: Path) -> None:
    found = cases_of(model, torch.zeros(4, 3))
    written_cases.write(found, tmp_path / "cases")
    read = written_cases.read(tmp_path / "cases")
    assert [case_file.encode(each) for each in read.cases] == [case_file.encode(each) for each in found.cases]
    assert (read.not_covered, read.not_given, read.drawn) == (found.not_covered, found.not_given, found.drawn)
    assert (read.samples, read.forms) == (found.samples, ())


@pytest.mark.slow
def test_cases_that_were_changed_are_refused(tmp_path: Path) -> None:
    written_cases.write(cases_of(torch.nn.ReLU(), torch.zeros(2)), tmp_path / "cases")
    (tmp_path / "cases" / "0" / case_file.JSON_NAME).write_text("{}")
    with pytest.raises(Invalid):
        written_cases.read(tmp_path / "cases")
