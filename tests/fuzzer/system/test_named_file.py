"""Files that the user names: links are followed, and nobody waits for a pipe."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from fuzzer.system.named_file import parsed, read_named
from generators.graph import Invalid
from generators.plain_file import NO_FILE


def test_a_file_is_read_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"123")
    (tmp_path / "b").symlink_to("a")
    assert read_named(tmp_path / "b", 3) == b"123"
    with pytest.raises(OSError, match="it has more than 2 bytes"):
        read_named(tmp_path / "b", 2)


@pytest.mark.parametrize("made", ["pipe", "device", "folder", "hole"])
def test_nothing_but_a_regular_file_of_a_bounded_size_is_read(tmp_path: Path, made: str) -> None:
    path, why = tmp_path / "a.py", NO_FILE
    if made == "pipe":
        os.mkfifo(path)
    elif made == "device":
        path.symlink_to("/dev/zero")
    elif made == "folder":
        path.mkdir()
        why = "Is a directory"
    else:
        with path.open("wb") as file:
            file.truncate(20 << 30)
        why = "it has more than 9 bytes"
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match=why):
        read_named(path, 9)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_device_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To open one may start it, as a watchdog or a tape."""
    path = tmp_path / "a.py"
    path.symlink_to("/dev/zero")
    opened: list[tuple[Path, int]] = []
    really_open = os.open

    def noted(name: Path, flags: int) -> int:
        opened.append((name, flags))
        return really_open(name, flags)

    monkeypatch.setattr(os, "open", noted)
    with pytest.raises(OSError, match=NO_FILE):
        read_named(path, 9)
    assert opened == [(path, os.O_PATH | os.O_CLOEXEC)]


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    really_open = os.open

    def denied(name: object, flags: int) -> int:  # root may read each file
        if flags & os.O_PATH:
            return really_open(path, flags)
        raise PermissionError(errno.EACCES, "Permission denied", str(name))

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(PermissionError, match=r"Permission denied: '.*a\.py'$"):
        read_named(path, 9)


@pytest.mark.parametrize(
    "source", [b"x = " + b"-" * 200_000 + b"1", b"x = " + b"+".join([b"1"] * 100_000)], ids=["signs", "sum"]
)
def test_a_program_that_the_compiler_gives_up(source: bytes) -> None:
    with pytest.raises(Invalid, match=r"^a\.py: an expression in it is nested too deeply$"):
        parsed(source, Path("a.py"))


def test_a_program_that_is_none() -> None:
    assert len(parsed(b"# -*- coding: latin-1 -*-\nx = '\xe9'\ny = 2\n", Path("a.py")).body) == 2
    for source in (b"x = (", b"return", b"x = '\xe9'"):
        with pytest.raises(SyntaxError):
            parsed(source, Path("a.py"))
    with pytest.raises((SyntaxError, Invalid), match="null bytes"):  # before Python 3.11.4, a ValueError
        parsed(b"x = 1\0", Path("a.py"))
