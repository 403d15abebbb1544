"""What difftvm itself did wrongly: which folders are kept."""

from __future__ import annotations

import os
from pathlib import Path

import fakes
import pytest

from fuzzer.campaign.store import own_errors
from generators import case_file


def test_many_of_one_sort_hide_none_of_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_errors, "MOST", 2)
    errors = tmp_path / "errors"
    for number in range(4):
        own_errors.keep(errors, own_errors.EVALUATION, number, fakes.CASE, "it is wrong")
    folder = own_errors.keep(errors, own_errors.TEST, 9, None, "KeyError")
    assert sorted(os.listdir(errors)) == ["evaluation-0", "evaluation-1", "test-9"]
    assert folder == errors / "test-9"
    assert (folder / "error.txt").read_text() == "KeyError"
    assert case_file.read(errors / "evaluation-0").graph == fakes.CASE.graph


def test_an_error_names_no_folder_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/jo.doe")
    source = Path(own_errors.__file__)
    text = f'File "{source}", line 3: /home/jo.doe/x: no such file'
    folder = own_errors.keep(tmp_path / "errors", own_errors.TEST, 1, None, text)
    assert (folder / "error.txt").read_text() == 'File "fuzzer/campaign/store/own_errors.py", line 3: ~/x: no such file'
