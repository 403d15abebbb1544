"""Temporary folders: what a killed process leaves is deleted by the next, and nothing else is."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzzer.system import temporary

CHILD = """
import os, signal, sys
from fuzzer.system import temporary
folder = temporary.new_folder()
(folder / "a").mkdir()
(folder / "a" / "link").symlink_to(sys.argv[1])
print(folder, flush=True)
signal.pause()
"""


@pytest.fixture(autouse=True)
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path / "temporary"


@pytest.fixture
def child(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path / "mine")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def test_a_folder_is_deleted_at_the_end(where: Path) -> None:
    locked = dict(temporary._locks)  # those of fixtures that live as long as this process
    with temporary.folder() as folder:
        (folder / "file").touch()
        assert list(where.iterdir()) == [folder]
        assert temporary._locks.keys() - locked.keys() == {folder}
    assert list(where.iterdir()) == []
    assert temporary._locks == locked


@pytest.mark.slow
def test_what_a_killed_process_leaves_is_deleted_by_the_next(
    where: Path, child: tuple[subprocess.Popen[str], Path], tmp_path: Path
) -> None:
    process, left = child
    with temporary.folder() as folder:
        assert sorted(where.iterdir()) == sorted([folder, left]), "its process runs"
    process.send_signal(signal.SIGKILL)
    process.wait()
    with temporary.folder() as folder:
        assert list(where.iterdir()) == [folder]
    assert (tmp_path / "mine" / "file").exists()


@pytest.mark.slow
def test_an_invisible_process_holds_its_lock(
    where: Path, child: tuple[subprocess.Popen[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, theirs = child
    monkeypatch.setattr("fuzzer.system.processes.start_time", lambda pid: 0)
    with temporary.folder():
        assert theirs.exists()


NAME = "difftvm-scratch-999999999-1-abcdefgh"


@pytest.mark.parametrize("made", ["file", "link", "pipe", "other mode", "other name", "locked"])
def test_what_is_not_such_a_folder_stays(where: Path, tmp_path: Path, made: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o700)
    (outside / "file").touch()
    path = where / ("difftvm-scratch-results" if made == "other name" else NAME)
    match made:
        case "file":
            path.touch()
        case "link":
            path.symlink_to(outside)
        case "pipe":
            os.mkfifo(path)
        case _:
            path.mkdir(mode=0o755 if made == "other mode" else 0o700)
    if made == "locked":
        lock = os.open(path, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
    with temporary.folder():
        assert os.path.lexists(path)
    assert (outside / "file").exists()
    if made == "locked":
        os.close(lock)
        with temporary.folder():
            assert not path.exists()
