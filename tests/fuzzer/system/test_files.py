"""Files on a real disk."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from fuzzer.system import files
from fuzzer.system.files import keep_only_tail, write_atomically, write_folder


def failing(*_: object) -> None:
    raise OSError(errno.EIO, "Input/output error")


@pytest.mark.parametrize("at", ["write_synced", "sync_folder"])
def test_a_folder_that_could_not_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """The caller tries again, also where only the last sync failed."""
    with monkeypatch.context() as context:
        context.setattr(files, at, failing)
        with pytest.raises(OSError, match="Input/output"):
            write_folder(tmp_path / "finding", {"case.json": b"{}"})
    assert list(tmp_path.iterdir()) == []
    write_folder(tmp_path / "finding", {"case.json": b"{}"})
    assert (tmp_path / "finding" / "case.json").read_bytes() == b"{}"


def test_a_file_that_could_not_be_written_is_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_atomically(tmp_path / "state", b"old")
    monkeypatch.setattr("os.fsync", failing)
    with pytest.raises(OSError, match="Input/output"):
        write_atomically(tmp_path / "state", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("state", b"old")]


def test_a_link_in_the_place_of_the_temporary_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / f".tmp-state-{os.getpid()}").symlink_to(tmp_path / "mine")
    write_atomically(tmp_path / "state", b"new")
    assert (tmp_path / "mine").read_bytes() == b"mine"
    assert (tmp_path / "state").read_bytes() == b"new"


def test_what_a_long_log_takes_on_the_disk_is_given_back() -> None:
    with tempfile.TemporaryFile() as log:
        log.write(b"a" * 3_000_000)
        log.flush()
        keep_only_tail(log.fileno(), 5000, 4_000_000)
        assert os.pread(log.fileno(), 3, 0) == b"aaa", "there is room"
        keep_only_tail(log.fileno(), 5000, 1_000_000)
        status = os.fstat(log.fileno())
        assert status.st_size == 3_000_000
        assert 512 * status.st_blocks < 20_000
        log.write(b"the end")
        log.flush()
        assert os.pread(log.fileno(), 6000, 3_000_000 - 5000) == b"a" * 5000 + b"the end"
        assert os.pread(log.fileno(), 3, 0) == b"\0\0\0"


def test_a_new_folder_and_those_above_it_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(files, "sync_folder", synced.append)
    files.make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    assert synced == [tmp_path, tmp_path / "a"]
    files.make_folder(tmp_path / "a" / "b")
    assert synced == [tmp_path, tmp_path / "a"], "it was there"
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        files.make_folder(tmp_path / "file")


def test_a_folder_is_renamed_and_synced_before_its_files_are_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[list[str]] = []
    monkeypatch.setattr(files, "sync_folder", lambda path: names.append(sorted(os.listdir(path))))
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "file").touch()
    files.remove_folder(tmp_path / "one")
    assert names == [[".tmp-one"]]
    assert os.listdir(tmp_path) == []
    with pytest.raises(FileNotFoundError):
        files.remove_folder(tmp_path / "one")


@pytest.mark.parametrize("place", ["scratch", "scratch/host"])
@pytest.mark.parametrize("made", ["nothing", "file", "pipe", "dangling", "link"])
def test_a_folder_of_children_replaces_what_they_put_in_its_place(tmp_path: Path, place: str, made: str) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "scratch" / "host"
    outside.mkdir()
    (tmp_path / place).parent.mkdir(exist_ok=True)
    makes = {
        "nothing": lambda path: None,
        "file": lambda path: path.write_text("x"),
        "pipe": os.mkfifo,
        "dangling": lambda path: path.symlink_to("nowhere"),
        "link": lambda path: path.symlink_to(outside),
    }
    makes[made](tmp_path / place)
    files.make_own_folder(folder)
    (folder / "log").touch()
    assert not folder.is_symlink()
    if place == "scratch/host":
        assert os.listdir(outside) == []
    files.make_own_folder(folder)
    assert os.listdir(folder) == ["log"], "a folder stays"
