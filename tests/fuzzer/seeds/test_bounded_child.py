"""What the reader of a model's file may take."""

from __future__ import annotations

import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from fuzzer.seeds.archive import ALWAYS, MOST_ARCHIVE, Archive
from fuzzer.seeds.bounded_child import limits_of
from generators.graph import Invalid

SMALL = b"m" * 1000


def zipped(path: Path, member: bytes) -> bytes:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", member)
    return path.read_bytes()


def behind_a_hole(path: Path, data: bytes, hole: int) -> Path:
    with path.open("wb") as file:
        file.seek(hole)
        file.write(data)
    return path


def test_a_hole_permits_no_more_memory_and_time(tmp_path: Path) -> None:
    small, holed = tmp_path / "small", behind_a_hole(tmp_path / "holed", SMALL, 300 << 30)
    small.write_bytes(SMALL)
    assert holed.stat().st_size > 300 << 30
    assert limits_of(holed).cpu_seconds == limits_of(small).cpu_seconds == 30
    assert limits_of(holed).memory < (2 << 30) + (1 << 20)


def test_an_archive_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = behind_a_hole(tmp_path / "m.pt2", zipped(tmp_path / "small", SMALL), MOST_ARCHIVE)
    with pytest.raises(Invalid, match=r"m\.pt2: it has 17,179,869,\d+ bytes, more than 17,179,869,184$"):
        Archive(path)


def test_a_member_behind_a_hole_is_no_larger_than_in_a_small_archive(tmp_path: Path) -> None:
    data = zipped(tmp_path / "small", b"\0" * (2 * ALWAYS))
    with (
        Archive(behind_a_hole(tmp_path / "m.pt2", data, 1 << 30)) as archive,
        pytest.raises(Invalid, match="a is larger than 1 MiB"),
    ):
        archive.read("a", 1 << 30)


@pytest.mark.parametrize(
    ("kind", "lower"), [(resource.RLIMIT_CPU, 20), (resource.RLIMIT_AS, 1 << 30), (resource.RLIMIT_CPU, 10**6)]
)
def test_the_lower_limit_holds(kind: int, lower: int) -> None:
    program = "import os, resource, sys; from fuzzer.seeds.bounded_child import Limits, limit_child\n"
    program += "with limit_child(os.getppid(), Limits(2 << 30, 60)) as out:\n"
    program += f"    out.write(str(resource.getrlimit({kind})).encode())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(kind, (lower, lower)),
    )
    expected = min(lower, 60 if kind == resource.RLIMIT_CPU else 2 << 30)
    assert done.stdout == f"({expected}, {expected})", done.stderr
