"""Free disk space, as a function of the test reports it, and on a real file system that is full."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from fakes import CASE
from shapes import nested

from fuzzer.campaign.store import index
from fuzzer.campaign.store.disk_space import MEASURE_SECONDS, MOST_FAILURES, PROBE_NAME, DiskSpace, size_of
from fuzzer.campaign.store.index import FEW
from fuzzer.campaign.store.pause_switch import PauseSwitch
from fuzzer.campaign.store.rows import index_row
from fuzzer.campaign.store.store import Store
from fuzzer.lanes import LANES
from fuzzer.seeds import corpus
from fuzzer.system import untrusted_files
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.free_space import GB, free_bytes
from oracles.outcome import Ran

NO_SPACE = OSError(errno.ENOSPC, "No space left on device")
HIDDEN_QUOTA = OSError(errno.EIO, "disk I/O error")
"""What SQLite makes of a quota that is used up."""


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A campaign with ten files of old tests, a finding, and an imported case."""
    corpus.add(tmp_path, "resnet-block", CASE)
    (tmp_path / "crashes").mkdir()
    (tmp_path / "crashes" / "case.json").write_bytes(b"x" * 8000)
    for number in range(10):
        (tmp_path / f"old-{number}").write_bytes(b"x" * 40_000)
    return tmp_path


def size_of_file(path: Path) -> int:
    return 512 * path.stat().st_blocks


def forget(folder: Path) -> bool:
    oldest = min(folder.glob("old-*"), default=None)
    if oldest:
        oldest.unlink()
    return oldest is not None


def test_too_little_is_free(tmp_path: Path) -> None:
    left, reports, switch = [2 * GB], [], PauseSwitch()
    disk_space = DiskSpace(tmp_path, switch, reports.append, reserve=GB, free=lambda folder: left[0])
    assert (disk_space.look(), switch.is_set, reports) == (True, False, [])
    left[0] = GB // 4
    assert [disk_space.look(), disk_space.look(), switch.is_set] == [False, False, True]
    assert reports == [f"paused: {tmp_path}: 0.25 GB are free, --disk-reserve keeps 1; waiting for free space"]
    left[0] = GB
    assert (disk_space.look(), switch.is_set, reports[1:]) == (
        True,
        False,
        ["the disk can be written again: continuing"],
    )


@pytest.mark.parametrize("left", ["file", "link"])
def test_a_trial_that_a_killed_run_has_left_is_no_obstacle(tmp_path: Path, left: str) -> None:
    probe, other = tmp_path / PROBE_NAME, tmp_path / "other"
    other.write_text("mine")
    if left == "file":
        probe.write_text("half")
    else:
        probe.symlink_to(other)
    switch = PauseSwitch()
    disk_space = DiskSpace(tmp_path, switch, lambda text: None, reserve=0)
    disk_space.failed(NO_SPACE)
    assert switch.is_set
    assert disk_space.look()
    assert not switch.is_set
    assert (other.read_text(), probe.exists()) == ("mine", False)


def test_the_oldest_tests_are_forgotten_and_nothing_else(full: Path) -> None:
    taken, one, reports, switch = size_of(full).bytes, size_of_file(full / "old-0"), [], PauseSwitch()
    disk_space = DiskSpace(full, switch, reports.append, limit=taken - one, reserve=0, forget=lambda: forget(full))
    assert disk_space.look()
    gone = 10 - len(list(full.glob("old-*")))
    assert (gone - 1) * one < taken - 0.9 * (taken - one) <= gone * one
    assert (full / "crashes" / "case.json").exists()
    assert corpus.names(full) == ["resnet-block"]
    assert reports == [f"{full} is at its --disk-limit: its oldest tests are forgotten from now on"]
    assert not switch.is_set


def test_where_only_findings_are_left_it_pauses(full: Path) -> None:
    reports, switch, clock = [], PauseSwitch(), Clock()
    disk_space = DiskSpace(
        full, switch, reports.append, limit=4096, reserve=0, clock=clock, forget=lambda: forget(full)
    )
    assert [disk_space.look(), disk_space.look()] == [False, False]
    assert list(full.glob("old-*")) == []
    assert corpus.names(full) == ["resnet-block"]
    assert (full / "crashes" / "case.json").exists()
    assert len(reports) == 2
    assert reports[1].startswith(f"paused: {full} takes ")
    disk_space.limit = GB
    assert not disk_space.look(), "it is measured once a minute"
    clock.now += MEASURE_SECONDS
    assert disk_space.look()
    assert not switch.is_set


@pytest.mark.slow
def test_a_real_index_becomes_smaller(tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        for number in range(4000):
            store.record(index_row(number, 0.5, {lane: Ran(()) for lane in LANES}))
        store.finished(4000)
        store.save_state()
        before = size_of(tmp_path).bytes
        disk_space = DiskSpace(tmp_path, PauseSwitch(), lambda text: None, int(0.9 * before), 0, store.forget_oldest)
        assert disk_space.look()
        assert size_of(tmp_path).bytes < 0.81 * before
        assert store.ask(lambda index: index.rows(tuple, "SELECT min(number), max(number) FROM tests")) == [
            (2000, 3999)
        ]
        assert store.state.next_test == 4000
        while store.forget_oldest():
            pass
        assert 50 <= store.ask(lambda index: index.tests) < FEW, "some are always left"


def test_the_numbers_of_merged_tests_do_not_decide_which_own_ones_are_forgotten(tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        for number in range(2 * FEW):
            store.record(index_row(number, 0.5, {lane: Ran(()) for lane in LANES}))
        store.save_state()
    with closing(sqlite3.connect(tmp_path / index.NAME)) as db:
        db.execute("INSERT INTO tests VALUES (2, ?, 1)", ((1 << 63) - 1,))
        db.commit()
    with Store(tmp_path, 1) as store:
        assert store.forget_oldest()
        query = "SELECT origin, count(number) FROM tests GROUP BY origin"
        assert store.ask(lambda index: index.rows(tuple, query)) == [(1, FEW), (2, 1)]


@pytest.mark.slow
def test_an_index_of_a_version_that_never_freed_space_becomes_smaller_too(tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        store.save_state()
    with closing(sqlite3.connect(tmp_path / index.NAME)) as db:
        db.executescript("PRAGMA auto_vacuum = NONE; VACUUM;")
        assert db.execute("PRAGMA auto_vacuum").fetchone() == (0,)
    with Store(tmp_path, 1) as store:
        for number in range(4000):
            store.record(index_row(number, 0.5, {lane: Ran(()) for lane in LANES}))
        store.save_state()
        before = size_of(tmp_path).bytes
        assert DiskSpace(tmp_path, PauseSwitch(), lambda text: None, int(0.9 * before), 0, store.forget_oldest).look()
        assert store.ask(lambda index: index.tests) == 2000
        assert size_of(tmp_path).bytes < 0.81 * before


def test_where_nothing_is_gained_no_more_is_forgotten(full: Path) -> None:
    """A reader that holds on to an old state of the index keeps its room."""
    calls: list[int] = []

    def forget() -> bool:
        calls.append(1)
        return True

    disk_space = DiskSpace(full, PauseSwitch(), lambda text: None, limit=4096, reserve=0, forget=forget)
    assert not disk_space.look()
    assert len(calls) == 1


def test_deep_folders_of_a_lane_are_measured(tmp_path: Path) -> None:
    folder = tmp_path / "campaign"
    deepest = nested(str(folder), "d", 1200)
    before = size_of(folder, 600.0).bytes
    with open(os.open("large", os.O_CREAT | os.O_WRONLY, dir_fd=deepest), "wb") as file:
        file.write(bytes(1 << 20))
    os.close(deepest)
    assert size_of(folder, 600.0).bytes - before >= 1 << 20
    reports: list[str] = []
    assert not DiskSpace(folder, PauseSwitch(), reports.append, limit=1 << 20, reserve=0).look()
    assert untrusted_files.remove(untrusted_files.real(folder))


def test_a_folder_that_takes_too_long_to_measure(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted_files, "MOST_LISTED", 2)
    reports, clock = [], Clock()
    disk_space = DiskSpace(full, PauseSwitch(), reports.append, limit=GB, reserve=0, clock=clock)
    for _ in range(2):
        assert disk_space.look()
        clock.now += MEASURE_SECONDS
    assert reports == [
        f"{full} has too many files to measure in 5 s: --disk-limit counts a part of them from now on",
    ]


def test_a_worker_that_runs_out_of_space_during_a_check_does_not_wait_for_ever(tmp_path: Path) -> None:
    """Workers run out of space again and again, and each check finds enough of it."""
    reports: list[str] = []
    disk_space = DiskSpace(tmp_path, PauseSwitch(), reports.append, reserve=0)
    with ThreadPoolExecutor(4) as pool:
        for running in [pool.submit(disk_space.failed, NO_SPACE) for _ in range(400)]:
            disk_space.look()
            running.result()
    assert disk_space.look()
    assert not disk_space.switch.is_set
    assert reports[::2] == [f"paused: {NO_SPACE}"] * (len(reports) // 2)


def test_a_disk_that_ran_out_between_two_looks(tmp_path: Path) -> None:
    reports, switch = [], PauseSwitch()
    disk_space = DiskSpace(tmp_path, switch, reports.append, reserve=0)
    disk_space.failed(NO_SPACE)
    disk_space.failed(NO_SPACE)
    assert (switch.is_set, reports) == (True, [f"paused: {NO_SPACE}"])
    assert disk_space.look()
    assert not switch.is_set


def test_a_quota_that_does_not_show_in_what_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[str] = []
    disk_space = DiskSpace(tmp_path, switch := PauseSwitch(), reports.append, reserve=0)
    disk_space.failed(HIDDEN_QUOTA)
    with monkeypatch.context() as context:
        context.setattr("fuzzer.campaign.store.disk_space.write_synced", out_of_quota)
        assert [disk_space.look(), disk_space.look()] == [False, False]
    assert disk_space.look()
    assert (switch.is_set, reports) == (
        False,
        [f"paused: {HIDDEN_QUOTA}", "the disk can be written again: continuing"],
    )


def out_of_quota(path: Path, data: bytes) -> None:
    raise OSError(errno.EDQUOT, "Disk quota exceeded")


@pytest.mark.parametrize("where", ["free", "forget"])
def test_a_disk_that_cannot_be_looked_at_pauses(tmp_path: Path, where: str) -> None:
    reports: list[str] = []
    disk_space = DiskSpace(tmp_path, switch := PauseSwitch(), reports.append, reserve=0)

    def broken(*_: object) -> int:
        raise OSError(errno.EIO, "Input/output error")

    if where == "free":
        disk_space.free = broken
    else:
        (tmp_path / "large").write_bytes(b"x" * 8000)
        disk_space.limit, disk_space.forget = 1, lambda: bool(broken())
    assert not disk_space.look()
    assert reports == [f"paused: {tmp_path}: [Errno {errno.EIO}] Input/output error; waiting"]
    disk_space.free, disk_space.limit = free_bytes, None
    assert disk_space.look()
    assert not switch.is_set


def test_a_disk_that_fails_again_and_again_ends_the_campaign(tmp_path: Path) -> None:
    disk_space = DiskSpace(tmp_path, PauseSwitch(), lambda text: None, reserve=0)
    for _ in range(2 * MOST_FAILURES):
        disk_space.failed(NO_SPACE)  # a full disk is waited for
        assert disk_space.look()
    for _ in range(MOST_FAILURES - 1):
        disk_space.failed(HIDDEN_QUOTA)
    disk_space.succeeded()
    for _ in range(MOST_FAILURES - 1):
        disk_space.failed(HIDDEN_QUOTA)
    with pytest.raises(EnvironmentMissing, match=r"12 writes failed in turn, .*; what was saved before is intact"):
        disk_space.failed(HIDDEN_QUOTA)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    where = tmp_path / "disk"
    where.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", where], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    yield where
    subprocess.run(["umount", where], check=True)


@pytest.mark.programs("mount", "umount")
def test_a_real_file_system(small_disk: Path) -> None:
    switch = PauseSwitch()
    disk_space = DiskSpace(small_disk, switch, lambda text: None, reserve=1 << 20)
    assert disk_space.look()
    (small_disk / "other").write_bytes(b"x" * (3 << 19))
    assert free_bytes(small_disk) <= 1 << 19
    assert not disk_space.look()
    (small_disk / "other").unlink()
    assert disk_space.look()
