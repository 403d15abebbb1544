"""Files that may come from elsewhere: only regular ones of a bounded size are read, and nobody waits for them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from generators import plain_file
from generators.plain_file import LINK, NO_FILE, plain_files, read_plain


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"123")
    assert read_plain(tmp_path / "a") == b"123"
    assert read_plain(tmp_path / "a", 3) == b"123"


@pytest.mark.parametrize("most", [0, 2])
def test_a_larger_file_is_not_read(tmp_path: Path, most: int) -> None:
    (tmp_path / "a").write_bytes(b"123")
    with pytest.raises(OSError, match=f"it has more than {most} bytes") as caught:
        read_plain(tmp_path / "a", most)
    assert caught.value.errno == errno.EFBIG


def test_a_file_that_consists_of_a_hole_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as file:
        file.truncate(20 << 30)
    with pytest.raises(OSError, match="it has more than 167,772,160 bytes"):
        read_plain(tmp_path / "a")


@pytest.mark.parametrize("made", ["folder", "pipe", "device"])
def test_something_else_in_its_place_is_not_read(tmp_path: Path, made: str) -> None:
    path = tmp_path / "a"
    if made == "folder":
        path.mkdir()
    elif made == "pipe":
        os.mkfifo(path)
    else:
        path = Path("/dev/zero")
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match=NO_FILE):
        read_plain(path)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_name_with_a_null_byte_is_no_file() -> None:
    with pytest.raises(OSError, match="null byte") as caught:
        read_plain(Path("a\0b") / "c")
    assert caught.value.errno == errno.EINVAL


def test_the_files_of_a_folder_are_bounded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "ab":
        (tmp_path / name).write_bytes(b"123")
    monkeypatch.setattr(plain_file, "MOST_BYTES", 6)
    assert plain_files(tmp_path, "ab") == {"a": b"123", "b": b"123"}
    monkeypatch.setattr(plain_file, "MOST_BYTES", 5)
    with pytest.raises(OSError, match="it has more than 2 bytes"):
        plain_files(tmp_path, "ab")


def test_only_files_of_the_list_are_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "notes.txt").write_bytes(b"2")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    assert plain_files(tmp_path, {"a", "b"}) == {"a": b"1"}


def test_a_link_is_refused_whatever_its_name_is(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").symlink_to("/etc/passwd")
    with pytest.raises(OSError, match=LINK):
        plain_files(tmp_path, {"a"})
