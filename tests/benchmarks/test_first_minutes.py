"""The recording of benchmarks/first_minutes.py, and the live screen that benchmarks/recorded_campaign.py draws."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from first_minutes import Recording
from in_a_terminal import written
from recorded_campaign import live_screen

FRAMES = (
    b"\r\x1b[2Kfuzzing    0 s\r\nnew        nothing is confirmed yet\r\n"
    b"not confirmed yet: 1 cause\r\n  `relu` fails\r\ntests      1",
    b"\r\x1b[2K\x1b[1A\x1b[2Kfuzzing    1 s\r\n\x1b[1mnew        1 high\x1b[0m\r\ntests      2",
)
"""Two frames of the live screen, as a terminal gets them."""


def test_each_event_has_the_second_in_which_it_is_shown() -> None:
    recording = Recording()
    recording.add(0.5, b"1. installing\r\n")
    recording.add(7.0, b"")
    recording.add(9.0, b"3. starting the compilers\r\n" + FRAMES[0])
    recording.add(10.0, FRAMES[1])
    assert recording.at == {
        "first sign of life": 0.5,
        "installed": 9.0,
        "first test begins": 9.0,
        "first new failure with a name": 9.0,
        "first confirmed finding": 10.0,
    }
    assert (recording.silence, recording.silent_from) == (8.5, 0.5)
    assert [line.split(maxsplit=1)[1] for line in recording.lines[:2]] == ["1. installing", "1. installing"]
    assert recording.lines[-1] == "    10  fuzzing 1 s | new 1 high | tests 2"


def test_the_picture_is_of_the_last_frame_in_which_something_is_confirmed() -> None:
    picture = live_screen(b"1. installing\r\n" + b"".join((*FRAMES, FRAMES[0])))
    assert "high" in picture
    assert "nothing" not in picture
    with pytest.raises(SystemExit, match="the campaign confirmed nothing"):
        live_screen(FRAMES[0])


def test_what_a_command_writes_to_its_terminal_is_read_to_the_end(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("fuzz:\n\t@test -t 1 && test -t 2 && echo a terminal\n")
    parts = list(written(["make", "fuzz"], tmp_path, os.environ, joins_output=True))
    assert b"".join(part for _, part in parts) == b"a terminal\r\n"
    assert [second for second, _ in parts] == sorted(second for second, _ in parts)
