"""Nothing private is read where a file is swapped between the check and the use: another process puts a link to a
private file, a pipe and a folder in the place of a file, and the file back, as fast as it can."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fuzzer.campaign.run.merge import merge
from fuzzer.cli import main
from fuzzer.dashboard.data import gather
from fuzzer.findings import record
from fuzzer.system.files import copy_folder, open_plain
from generators import case_file
from generators.graph import Invalid
from generators.plain_file import LINK, plain_files, read_plain

pytestmark = pytest.mark.slow

SECRET = "CANARY-of-a-private-file"
LEAST, MOST_SECONDS = 300, 40.0
"""Each reader reads so often, and until it has met a file, and something else in its place."""

SWAP = """
import ctypes, os, sys

exchange = ctypes.CDLL(None, use_errno=True).renameat2  # both names exist at each moment
path, parent, *others = (os.fsencode(word) for word in sys.argv[1:])
while os.getppid() == int(parent):
    for other in others:
        for _ in range(2):
            if exchange(-100, path, -100, other, 2):
                raise OSError(ctypes.get_errno(), "renameat2")
"""


@contextmanager
def swapped(path: Path, *others: Path) -> Iterator[None]:
    """Meanwhile, a process exchanges a path and each of the others, there and back."""
    words = map(str, (path, os.getpid(), *others))
    process = subprocess.Popen([sys.executable, "-c", SWAP, *words], stderr=subprocess.PIPE)
    try:
        yield
        assert process.poll() is None, process.stderr and process.stderr.read()
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def others(tmp_path: Path) -> Iterator[list[Path]]:
    """A link to a private file, a pipe and a folder. A test that waits for the pipe fails."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private").write_text(SECRET)
    (outside / "link").symlink_to(outside / "private")
    os.mkfifo(outside / "pipe")
    (outside / "folder").mkdir()

    def hangs(*_: object) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(int(3 * MOST_SECONDS))
    yield [outside / name for name in ("link", "pipe", "folder")]
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def read_often(read: Callable[[], bytes], least: int = LEAST) -> Counter[bool]:
    """Read again and again. Return how often there was a file, and how often a reader refused what was there."""
    ended: Counter[bool] = Counter()
    end = time.monotonic() + MOST_SECONDS
    while (ended.total() < least or len(ended) < 2) and time.monotonic() < end:
        try:
            data, was_read = read(), True
        except (Invalid, OSError) as error:
            data, was_read = str(error).encode(), False
        assert SECRET.encode() not in data
        ended[was_read] += 1
    assert len(ended) == 2, ended  # else nothing was swapped in time
    return ended


def test_a_reader_that_checks_first_is_caught(tmp_path: Path, others: list[Path]) -> None:
    """What these tests look for does happen."""
    path = tmp_path / "a"
    path.write_text("mine")

    def read() -> bytes:
        if path.is_symlink() or not path.is_file():
            raise Invalid("no file")
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            return os.read(descriptor, 100)
        finally:
            os.close(descriptor)

    with swapped(path, *others), pytest.raises(AssertionError, match=SECRET):
        read_often(read, 10**6)


def opened(path: Path) -> bytes:
    with open_plain(path, "rb") as file:
        return bytes(file.read())


@pytest.mark.parametrize("read", [read_plain, opened, lambda path: b"".join(plain_files(path.parent, "a").values())])
def test_one_file(tmp_path: Path, others: list[Path], read: Callable[[Path], bytes]) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "a").write_text("mine")
    with swapped(folder / "a", *others):
        read_often(lambda: read(folder / "a"), 10 * LEAST)


def text_of(folder: Path) -> bytes:
    """All that is in a folder, which is removed. It has nothing private."""
    found = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    shutil.rmtree(folder)
    assert SECRET.encode() not in found
    return found


@pytest.mark.parametrize("name", ["ir-before.txt", "finding.json", "tensors.safetensors"])
def test_a_finding(saved: Path, tmp_path: Path, others: list[Path], name: str) -> None:
    (saved / "ir-before.txt").write_text("# mine\n")

    def read() -> bytes:
        found = record.read(saved)
        return found.before.encode() + b"".join(case_file.encode(found.case))

    def copied() -> bytes:
        copy_folder(saved, tmp_path / "copy", {name, "case.json"})
        return text_of(tmp_path / "copy")

    with swapped(saved / name, *others):
        read_often(read)
        read_often(copied, LEAST // 3)


def test_the_folder_of_a_finding(saved: Path, tmp_path: Path, others: list[Path]) -> None:
    """The link leads to a finding that is valid, and has a private text."""
    shutil.copytree(saved, tmp_path / "outside" / "finding")
    (saved / "ir-before.txt").write_text("# mine\n")
    (tmp_path / "outside" / "finding" / "ir-before.txt").write_text(SECRET)
    link = tmp_path / "outside" / "link-to-finding"
    link.symlink_to(tmp_path / "outside" / "finding")
    with pytest.raises(Invalid, match=LINK):
        record.read(link)
    with swapped(saved, link):
        read_often(lambda: record.read(saved).before.encode())


def test_commands(
    saved: Path,
    tmp_path: Path,
    others: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A report is written, or there is one sentence; a merge and the dashboard have nothing private."""
    path = saved / "ir-before.txt"
    path.write_text("# mine\n")
    monkeypatch.setattr("sys.argv", ["fuzz", "report", str(saved)])

    def report() -> bytes:
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        if ended.value.code:
            assert ended.value.code == 64
            assert (err.count("\n"), err[:6], out) == (1, "fuzz: ", "")
            raise Invalid(err)
        return f"{out}{err}".encode()

    def merged() -> bytes:
        try:
            merge([tmp_path], tmp_path / "outside" / "into")
        finally:
            if (tmp_path / "outside" / "into").exists():
                found = text_of(tmp_path / "outside" / "into")
        return found

    def shown() -> bytes:
        data = gather(tmp_path)
        if data.unreadable:
            raise Invalid(str(data.unreadable))
        return str(data).encode()

    with swapped(path, *others):
        for read in (report, merged, shown):
            read_often(read, LEAST // 15)
