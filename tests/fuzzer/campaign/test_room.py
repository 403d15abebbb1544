"""Room on the disk, counted by a function of the test's and on a real file system that is full."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes import CASE

from fuzzer.campaign import corpus
from fuzzer.campaign.gate import Gate
from fuzzer.campaign.room import GB, MEASURE_SECONDS, Room, free_bytes, size_of

KEPT = [f"{number:016x}" for number in range(10)]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A campaign that kept ten cases, the first the oldest; with a finding, and an imported case older than all."""
    for age, name in enumerate(["resnet-block", *KEPT]):
        corpus.add(tmp_path, name, CASE)
        os.utime(tmp_path / corpus.FOLDER / name, (age, age))
    (tmp_path / "crashes").mkdir()
    (tmp_path / "crashes" / "case.json").write_bytes(b"x" * 8000)
    return tmp_path


def test_too_little_is_free(tmp_path: Path) -> None:
    left, told, gate = [2 * GB], [], Gate()
    room = Room(tmp_path, gate, told.append, reserve=GB, free=lambda folder: left[0])
    assert (room.look(), gate.is_shut, told) == (True, False, [])
    left[0] = GB // 4
    assert [room.look(), room.look(), gate.is_shut] == [False, False, True]
    assert told == [f"paused: {tmp_path}: 0.25 GB are free, --disk-reserve keeps 1; waiting for room"]
    left[0] = GB
    assert (room.look(), gate.is_shut, told[1:]) == (True, False, ["there is room again: going on"])


def test_the_oldest_kept_cases_go_and_nothing_else(kept: Path) -> None:
    taken, told, gate = size_of(kept), [], Gate()
    one = size_of(kept / corpus.FOLDER / KEPT[0])
    room = Room(kept, gate, told.append, limit=taken - one, reserve=0)
    assert room.look()
    gone = 10 - (len(corpus.names(kept)) - 1)
    assert corpus.names(kept) == [*KEPT[gone:], "resnet-block"]
    assert (gone - 1) * one < taken - 0.9 * (taken - one) <= gone * one
    assert (kept / "crashes" / "case.json").exists()
    assert told == [f"{kept} is at its --disk-limit: its oldest kept cases are removed from now on"]
    assert not gate.is_shut


def test_where_only_findings_are_left_it_pauses(kept: Path) -> None:
    told, gate, clock = [], Gate(), Clock()
    room = Room(kept, gate, told.append, limit=4096, reserve=0, clock=clock)
    assert [room.look(), room.look()] == [False, False]
    assert corpus.names(kept) == ["resnet-block"]
    assert (kept / "crashes" / "case.json").exists()
    assert len(told) == 2
    assert told[1].startswith(f"paused: {kept} takes ")
    room.limit = GB
    assert not room.look(), "it is measured once a minute"
    clock.now += MEASURE_SECONDS
    assert room.look()
    assert not gate.is_shut


def test_a_disk_that_ran_out_between_two_looks(tmp_path: Path) -> None:
    told, gate = [], Gate()
    room = Room(tmp_path, gate, told.append, reserve=0)
    room.ran_out("no space")
    room.ran_out("no space")
    assert (gate.is_shut, told) == (True, ["paused: no space"])
    assert room.look()
    assert not gate.is_shut


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    where = tmp_path / "disk"
    where.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", where], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    yield where
    subprocess.run(["umount", where], check=True)


def test_a_real_file_system(small_disk: Path) -> None:
    gate = Gate()
    room = Room(small_disk, gate, lambda text: None, reserve=1 << 20)
    assert room.look()
    (small_disk / "other").write_bytes(b"x" * (3 << 19))
    assert free_bytes(small_disk) <= 1 << 19
    assert not room.look()
    (small_disk / "other").unlink()
    assert room.look()
