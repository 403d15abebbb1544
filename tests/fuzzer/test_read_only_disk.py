"""Verbs on a campaign whose disk is read-only or full, as with a real file system: they read, or end with one
sentence."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from fakes import CASE

from fuzzer.campaign.store.rows import index_row
from fuzzer.campaign.store.store import Store
from fuzzer.lanes import LANES
from fuzzer.system.free_space import free_bytes
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Ran, Result

pytestmark = [pytest.mark.slow, pytest.mark.programs("mount", "umount")]

SHIPPED = Path(__file__).parents[2] / "crashes" / "wrong-dtype-softsign-3b0e52a5b390"


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """On a read-only disk."""
    where = tmp_path_factory.mktemp("disk")
    with mounted(where):
        subprocess.run(["mount", "-o", "remount,ro", where], check=True)
        yield where


@pytest.fixture(scope="module")
def on_full_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    where = tmp_path_factory.mktemp("full")
    with mounted(where):
        with (where / "of-others").open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(4096))
        assert free_bytes(where) == 0
        yield where


@contextmanager
def mounted(where: Path) -> Iterator[None]:
    """A campaign on a disk of its own."""
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=9m", "none", where], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")
    with Store(where, 1) as store:
        ran: dict[LaneSpec, Outcome] = {LANES[0]: Ran(())}
        store.finish_test(index_row(0, 1.0, ran, CASE.graph.ops), Result(ran), 1, invalid=False)
    shutil.copytree(SHIPPED, where / "crashes" / SHIPPED.name)
    try:
        yield
    finally:
        subprocess.run(["umount", where], check=True)


def fuzz(*words: object) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "fuzzer.cli", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("disk", ["campaign", "on_full_disk"])
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["status"], "1 test"),
        (["triage"], SHIPPED.name),
        (["dashboard", "--out", "{elsewhere}/page.html"], "1 confirmed cause"),
    ],
    ids=["status", "triage", "dashboard"],
)
def test_verbs_that_read_do_so(
    request: pytest.FixtureRequest, tmp_path: Path, disk: str, words: list[str], shown: str
) -> None:
    campaign = request.getfixturevalue(disk)
    words = [word.format(elsewhere=tmp_path) for word in words]
    code, out, err = fuzz(*words, "--campaign", campaign)
    assert (code, err) == (0, "")
    assert shown in out


@pytest.mark.parametrize("disk", ["campaign", "on_full_disk"])
def test_it_can_be_merged(request: pytest.FixtureRequest, tmp_path: Path, disk: str) -> None:
    campaign = request.getfixturevalue(disk)
    code, out, _ = fuzz("merge", campaign, "--into", tmp_path / "merged")
    assert code == 0
    assert f"{campaign}: 1 test and 1 finding added" in out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["run", "--tests", "1"], 69),
        (["status", "--repair"], 69),
        (["dashboard"], 64),
    ],
    ids=["run", "repair", "dashboard"],
)
def test_verbs_that_write_end_with_a_sentence(campaign: Path, words: list[str], expected: int) -> None:
    code, out, err = fuzz(*words, "--campaign", campaign)
    assert (code, out) == (expected, "")
    (line,) = err.splitlines()
    assert line.startswith("fuzz: ")
    assert "Read-only file system" in line


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["status", "--repair", "--campaign", "{full}"], 69),
        (["merge", "{full}", "--into", "{full}/merged"], 69),
        (["dashboard", "--campaign", "{full}"], 64),
    ],
    ids=["repair", "merge", "dashboard"],
)
def test_verbs_that_write_to_a_full_disk_end_with_a_sentence(
    on_full_disk: Path, words: list[str], expected: int
) -> None:
    code, out, err = fuzz(*(word.format(full=on_full_disk) for word in words))
    assert (code, out) == (expected, "")
    (line,) = err.splitlines()
    assert line.startswith("fuzz: ")
    assert re.search("No space left on device|disk is full|disk I/O error", line)
    assert not (on_full_disk / "merged").exists() or not list((on_full_disk / "merged").glob("crashes/*"))


def test_a_journal_that_nobody_can_read_is_named(campaign: Path) -> None:
    journal = campaign / "index.sqlite-wal"
    subprocess.run(["mount", "-o", "remount,rw", campaign], check=True)
    journal.write_bytes(b"x")
    subprocess.run(["mount", "-o", "remount,ro", campaign], check=True)
    try:
        assert fuzz("status", "--campaign", campaign) == (
            64,
            "",
            f"fuzz: {campaign}/index.sqlite: a killed run has left index.sqlite-wal; copy the folder to where it can be"
            " written\n",
        )
    finally:
        subprocess.run(["mount", "-o", "remount,rw", campaign], check=True)
        journal.unlink()
        subprocess.run(["mount", "-o", "remount,ro", campaign], check=True)
