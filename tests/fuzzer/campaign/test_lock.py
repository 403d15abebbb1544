"""Who runs a campaign, and what a folder is that has no index."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fuzzer.campaign.store import index, state
from fuzzer.campaign.store.lock import LOCK, Busy, holder, locked, require_free
from fuzzer.campaign.store.presence import is_campaign, why_no_index
from generators.graph import Invalid


def test_the_holder_is_named_while_it_holds_the_lock(tmp_path: Path) -> None:
    assert holder(tmp_path) is None
    with locked(tmp_path):
        assert (tmp_path / LOCK).read_text() == str(os.getpid())
        assert holder(tmp_path) == os.getpid()
        with pytest.raises(Busy, match=f"^{tmp_path}: process {os.getpid()} runs this campaign$"):
            locked(tmp_path)
    assert holder(tmp_path) is None


def test_a_holder_that_has_not_written_its_number_yet_is_a_holder(tmp_path: Path) -> None:
    with locked(tmp_path) as file:
        file.truncate(0)
        assert holder(tmp_path) == 0
        with pytest.raises(Busy, match=r"process \? runs this campaign"):
            locked(tmp_path)


def test_the_number_of_an_earlier_holder_is_replaced(tmp_path: Path) -> None:
    (tmp_path / LOCK).write_text("12345678901234567890")
    with locked(tmp_path):
        assert (tmp_path / LOCK).read_text() == str(os.getpid())


def test_a_file_with_a_second_name_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / LOCK).hardlink_to(tmp_path / "mine")
    with pytest.raises(Invalid, match=r"campaign\.lock: the file has a second name, a hard link"):
        locked(tmp_path)
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize("name", [index.NAME, state.NAME])
def test_a_folder_with_a_state_is_a_campaign(tmp_path: Path, name: str) -> None:
    assert not is_campaign(tmp_path)
    (tmp_path / name).touch()
    assert is_campaign(tmp_path)


def test_a_campaign_that_starts_the_compilers_is_one(tmp_path: Path) -> None:
    with locked(tmp_path):
        assert is_campaign(tmp_path)
        assert why_no_index(tmp_path) == (
            f"{tmp_path}: process {os.getpid()} is just starting this campaign; nothing of it is written yet"
        )


def test_why_a_folder_has_no_index(tmp_path: Path) -> None:
    assert why_no_index(tmp_path) == f"{tmp_path}: no campaign; `fuzz run --campaign {tmp_path}` starts one"
    (tmp_path / state.NAME).touch()
    remedy = f"`fuzz status --repair --campaign {tmp_path}` makes one"
    assert why_no_index(tmp_path) == f"{tmp_path}: this campaign has no index; {remedy}"
    file = tmp_path / state.NAME
    assert why_no_index(file) == f"{file}: no campaign, but a file"


def test_a_campaign_is_free_until_another_process_locks_it(tmp_path: Path) -> None:
    require_free(tmp_path / "nothing")
    file = locked(tmp_path)
    with pytest.raises(Busy, match=f"{tmp_path}: process {os.getpid()} runs this campaign"):
        require_free(tmp_path)
    file.close()
    require_free(tmp_path)
