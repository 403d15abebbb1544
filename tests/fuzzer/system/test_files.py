"""Files on a real disk."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fuzzer.system import files
from fuzzer.system.files import (
    keep_only_tail,
    make_folder,
    opened_folder,
    own_folder,
    remove_folder,
    write_atomically,
    write_folder,
    write_output,
    write_synced,
)
from generators.graph import Invalid


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


def test_only_a_regular_file_is_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    for name in ("pipe", "link"):
        with pytest.raises(OSError, match=name):
            write_atomically(tmp_path / name, b"new")
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "mine").read_bytes() == b"mine"


@pytest.mark.parametrize(
    "what", [lambda at: write_folder(at / "new", {"a": b"a"}), lambda at: remove_folder(at / "mine")]
)
def test_no_folder_is_made_or_removed_behind_a_link(tmp_path: Path, what: Callable[[Path], None]) -> None:
    (tmp_path / "outside" / "mine").mkdir(parents=True)
    (tmp_path / "crashes").symlink_to(tmp_path / "outside")
    with pytest.raises(NotADirectoryError):
        what(tmp_path / "crashes")
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["mine"]


@pytest.mark.parametrize("link", ["fixed", "fixed/a"])
@pytest.mark.parametrize(
    "writes",
    [
        lambda folder, below: make_folder(folder, below),
        lambda folder, below: make_folder(folder / "new", below),
        lambda folder, below: write_atomically(folder / "file", b"new", below),
    ],
)
def test_no_folder_below_a_campaign_is_a_link(tmp_path: Path, link: str, writes: Callable[[Path, Path], None]) -> None:
    campaign, outside = tmp_path / "campaign", tmp_path / "outside"
    make_folder(campaign / "fixed" / "a", campaign)
    (outside / "a").mkdir(parents=True)
    (tmp_path / "named").symlink_to(campaign)
    writes(tmp_path / "named" / "fixed" / "a", tmp_path / "named")  # the campaign itself may be a link
    (campaign / link).rename(tmp_path / "moved")
    (campaign / link).symlink_to(outside)
    with pytest.raises(NotADirectoryError, match="nothing is written through one") as caught:
        writes(campaign / "fixed" / "a", campaign)
    assert caught.value.filename == str(campaign / link)
    assert [path.name for path in outside.rglob("*")] == ["a"]


def test_a_device_or_a_pipe_that_the_user_names_is_written_and_stays(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_output(Path("/dev/full"), b"new")
    assert Path("/dev/full").is_char_device()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match=str(pipe)):
        write_output(pipe, b"nobody reads it")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for path in (pipe, Path(f"/dev/fd/{os.open(pipe, os.O_WRONLY)}")):
        write_output(path, b"new")
        assert os.read(reader, 9) == b"new"
    assert pipe.is_fifo()


def test_an_output_that_is_a_link_of_the_user_is_refused(tmp_path: Path) -> None:
    write_output(tmp_path / "new", b"new")
    assert (tmp_path / "new").read_bytes() == b"new"
    (tmp_path / "link").symlink_to("/dev/null")
    with pytest.raises(OSError, match="link"):
        write_output(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()


def test_an_opened_folder_stays_the_same(tmp_path: Path) -> None:
    for name in ("crashes", "outside"):
        (tmp_path / name).mkdir()
    with opened_folder(tmp_path / "crashes") as crashes:
        (tmp_path / "crashes").rename(tmp_path / "moved")
        (tmp_path / "crashes").symlink_to(tmp_path / "outside")
        write_synced(crashes / "file", b"")
        with pytest.raises(FileExistsError) as caught, opened_folder(tmp_path / "moved") as moved:
            write_synced(moved / "file", b"")
    assert caught.value.filename == str(tmp_path / "moved" / "file")
    assert [path.name for path in (tmp_path / "moved").iterdir()] == ["file"]
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_default_folder_that_is_a_link_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever checks a model in the checkout of somebody else named no folder."""
    monkeypatch.chdir(tmp_path)
    default = Path(".difftvm")
    assert own_folder(default, default) == default
    default.symlink_to(tmp_path)
    with pytest.raises(Invalid, match=r"^\.difftvm: it is a link, .*; remove it, or name a folder$"):
        own_folder(default, default)
    assert own_folder(tmp_path / default, default) == tmp_path / default
