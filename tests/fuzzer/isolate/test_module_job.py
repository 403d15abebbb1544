"""What a process that checks modules may leave in the place of its answers."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fuzzer.isolate.module_job import ANSWERS, MOST_STAGE, STAGES, ModuleAnswer, last_stage, read_answers

RIGHT = b'{"kind":""}\n'


def pipe(path: Path) -> None:
    os.mkfifo(path)


def link(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(RIGHT)
    path.symlink_to(other)


def folder(path: Path) -> None:
    path.mkdir()


def large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


@pytest.mark.parametrize("made", [pipe, link, folder, large])
def test_what_is_no_file_has_no_answers(tmp_path: Path, made: Callable[[Path], None]) -> None:
    for name in (ANSWERS, STAGES):
        made(tmp_path / name)
        (tmp_path / "other").unlink(missing_ok=True)
    assert (read_answers(tmp_path, 2), last_stage(tmp_path)) == ([], "load")


@pytest.mark.parametrize(
    "line",
    [
        b"{broken\n",
        b"\xff\n",
        b"\n",
        b"[" * 100_000 + b"\n",
        b'{"kind":1}\n',
        b'{"kind":"../../x"}\n',
        b'{"kind":"","stage":"' + b"x" * 201 + b'"}\n',
        RIGHT[:-1],
    ],
)
def test_what_comes_after_a_line_that_is_no_answer_is_left_out(tmp_path: Path, line: bytes) -> None:
    (tmp_path / ANSWERS).write_bytes(RIGHT + line + RIGHT)
    assert read_answers(tmp_path, 3) == [ModuleAnswer("")]


def test_no_more_answers_than_jobs(tmp_path: Path) -> None:
    (tmp_path / ANSWERS).write_bytes(RIGHT * 3)
    assert len(read_answers(tmp_path, 3)) == 3
    assert len(read_answers(tmp_path, 2)) == 2


def test_a_stage_has_a_bounded_length(tmp_path: Path) -> None:
    (tmp_path / STAGES).write_text(f"load\n{'x' * 1000}\n")
    assert last_stage(tmp_path) == "x" * MOST_STAGE
