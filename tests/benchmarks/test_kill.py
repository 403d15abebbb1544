"""The checks of benchmarks/kill.py, on directories made by hand."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import kill
import pytest
from folders_by_hand import add, error, wrong_value

from fuzzer.campaign.store import Store
from generators import case_file


def books(campaign: Path, next_test: int, **found: int) -> None:
    (campaign / "campaign.json").write_text(json.dumps({"next_test": next_test, "seen": found}))


def move(campaign: Path, name: str, place: str) -> None:
    (campaign / place).mkdir(exist_ok=True)
    (campaign / "waiting" / name).rename(campaign / place / name)


def save(campaign: Path, message: str) -> Path:
    """Save a finding as a campaign does; return its folder."""
    found = error(message)
    with Store(campaign, 1) as store:
        doc = store.save(found, {"tvm": "0.27.0"})
    assert doc is not None
    return campaign / "crashes" / doc.slug


def lost(before: kill.Left, campaign: Path) -> list[str]:
    return list(kill.lost(before, kill.left_in(campaign)))


def test_a_whole_directory_has_nothing_wrong(tmp_path: Path) -> None:
    add(tmp_path, "crashes", error("no layout"))
    add(tmp_path, "waiting", error("no memory"))
    add(tmp_path, "parked", wrong_value())
    left = kill.left_in(tmp_path)
    assert list(kill.torn(tmp_path, left.folders)) == []
    assert lost(left, tmp_path) == []


def test_missing_files_and_unreadable_folders_are_noticed(tmp_path: Path) -> None:
    (saved,) = add(tmp_path, "crashes", error("no layout"))
    (waiting,) = add(tmp_path, "waiting", error("no memory"))
    (tmp_path / "crashes" / saved / "repro.py").unlink()
    (tmp_path / "waiting" / waiting / case_file.JSON_NAME).unlink()
    unreadable, incomplete = kill.torn(tmp_path, kill.left_in(tmp_path).folders)
    assert waiting in unreadable
    assert incomplete == f"crashes/{saved}: repro.py is missing"


def test_a_finding_that_is_gone_or_changed_is_noticed(tmp_path: Path) -> None:
    one, two = sorted(add(tmp_path, "crashes", error("no layout"), error("no kernel")))
    before = kill.left_in(tmp_path)
    (tmp_path / "crashes" / one / "log.txt").write_text("more")
    (tmp_path / "crashes" / two).rename(tmp_path / "two")
    assert sorted(lost(before, tmp_path)) == sorted([f"crashes/{one}: changed", f"crashes/{two}: gone"])


def test_a_sighting_may_become_a_finding_or_be_parked(tmp_path: Path) -> None:
    one, two, three = add(tmp_path, "waiting", error("no layout"), error("no memory"), wrong_value("abs"))
    before = kill.left_in(tmp_path)
    move(tmp_path, one, "parked")
    for name in (two, three):
        move(tmp_path, name, "elsewhere")
    add(tmp_path, "crashes", error("no memory", op="neg"), wrong_value("neg"))  # the reduced cases are others
    assert lost(before, tmp_path) == []


def test_a_sighting_may_be_counted_and_may_not_vanish(tmp_path: Path) -> None:
    one, two = sorted(add(tmp_path, "waiting", error("no layout"), error("no memory")))
    books(tmp_path, 3, ab=1)
    before = kill.left_in(tmp_path)
    for name in (one, two):
        move(tmp_path, name, "elsewhere")
    books(tmp_path, 3, ab=2)
    assert lost(before, tmp_path) == [
        f"waiting/{name}: gone, and neither found, parked nor counted" for name in (one, two)
    ]
    books(tmp_path, 3, ab=2, cd=1)
    assert lost(before, tmp_path) == []


def test_a_parked_sighting_may_wait_again_and_may_not_vanish(tmp_path: Path) -> None:
    one, two = add(tmp_path, "parked", error("no layout"), error("no memory"))
    before = kill.left_in(tmp_path)
    (tmp_path / "waiting").mkdir()
    (tmp_path / "parked" / one).rename(tmp_path / "waiting" / one)
    (tmp_path / "parked" / two).rename(tmp_path / "two")
    assert lost(before, tmp_path) == [f"parked/{two}: gone"]


def test_a_campaign_that_went_back_is_noticed(tmp_path: Path) -> None:
    books(tmp_path, 5)
    before = kill.left_in(tmp_path)
    books(tmp_path, 4)
    assert lost(before, tmp_path) == ["the next test was 5, and is 4 now"]


def test_an_index_that_is_damaged_or_knows_too_much_is_noticed(tmp_path: Path) -> None:
    assert list(kill.unsound(tmp_path)) == []
    folder = save(tmp_path, "no layout")
    assert list(kill.unsound(tmp_path)) == []
    folder.rename(tmp_path / "gone")
    assert list(kill.unsound(tmp_path)) == [f"index.sqlite: it has {folder.name}, which is not in crashes/"]


@pytest.mark.slow
def test_fuzz_status_must_read_every_finding(tmp_path: Path) -> None:
    folder = save(tmp_path, "no layout")
    assert list(kill.wrong_status(tmp_path, 1)) == []
    (folder / "finding.json").write_text("{}")
    unreadable, count = kill.wrong_status(tmp_path, 1)
    assert folder.name in unreadable
    assert count == "fuzz status: 0 findings, and 1 in crashes/"


def test_moments_depend_on_the_seed_alone() -> None:
    drawn = list(kill.moments(1, 50, 10.0))
    assert drawn == list(kill.moments(1, 50, 10.0))
    assert drawn != list(kill.moments(2, 50, 10.0))
    assert [each.how for each in drawn] == [signal.SIGKILL] * 50 + [signal.SIGINT]
    assert sum(not each.of_tests for each in drawn) == 10
    assert all(0.5 <= each.seconds <= 10.0 for each in drawn)


@pytest.mark.slow
def test_processes_that_survive_are_noticed() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        family = kill.family_of(os.getpid())
        assert process.pid in family.started
        assert process.pid in family.alive()
        process.communicate(b"\n")
    assert process.pid not in family.alive()
