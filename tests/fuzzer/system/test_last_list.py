"""The list that was shown last: numbers never name what another list has."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fuzzer.system import last_list, state_folder
from fuzzer.system.last_list import keep, read


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return state_folder.state_folder() / last_list.NAME


def _no_disk(path: Path, data: bytes) -> None:
    raise OSError(28, "No space left on device", str(path))


def test_numbers_of_a_list_that_cannot_be_written_name_nothing(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of the list before would name other findings, which the user would file."""
    keep([tmp_path / "earlier"])
    monkeypatch.setattr(last_list, "write_atomically", _no_disk)
    keep([tmp_path / "later"])
    assert (read(), file.exists(), capsys.readouterr().err) == ([], False, "")


def test_numbers_of_an_earlier_list_come_with_a_warning(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keep([tmp_path / "earlier"])
    monkeypatch.setattr(last_list, "write_atomically", _no_disk)
    monkeypatch.setattr(Path, "unlink", lambda path, missing_ok=False: _no_disk(path, b""))
    keep([tmp_path / "later"])
    why = "No space left on device; numbers are those of an earlier list, so name folders instead"
    assert capsys.readouterr().err == f"{file}: {why}\n"


def test_a_folder_whose_name_is_no_text_is_in_no_list(file: Path, tmp_path: Path) -> None:
    keep([tmp_path / "earlier"])
    keep([tmp_path / os.fsdecode(b"a\xff")])
    assert read() == []


@pytest.mark.parametrize("names", [["/a\0b"], ["a/b"], [""], ["--trust"], [1], {}, "/a"])
def test_a_file_that_keep_did_not_write_is_no_list(file: Path, names: object) -> None:
    file.parent.mkdir(parents=True)
    for document in (names, {os.getcwd(): names}):
        file.write_text(json.dumps(document))
        assert read() == []


def test_a_list_of_another_folder_changes_no_number_here(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two shells show the lists of two campaigns: `fuzz file 1` must not file a finding of the other one."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        monkeypatch.chdir(folder)
        keep([folder / "crashes" / "x"])
    assert read() == [there / "crashes" / "x"]
    monkeypatch.chdir(here)
    assert read() == [here / "crashes" / "x"]


def test_lists_of_few_folders_are_kept(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(last_list.MOST + 1):
        (tmp_path / str(number)).mkdir()
        monkeypatch.chdir(tmp_path / str(number))
        keep([tmp_path])
    assert len(json.loads(file.read_text())) == last_list.MOST
    monkeypatch.chdir(tmp_path / "0")
    assert read() == []


def test_no_pipe_is_waited_for_and_nothing_is_written_through_a_link(file: Path, tmp_path: Path) -> None:
    file.parent.mkdir(parents=True)
    os.mkfifo(file)
    keep([tmp_path])
    assert read() == []
    file.unlink()
    (tmp_path / "mine").write_text("[]")
    file.symlink_to(tmp_path / "mine")
    keep([tmp_path])
    assert ((tmp_path / "mine").read_text(), read()) == ("[]", [])
