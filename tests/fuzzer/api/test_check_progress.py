"""A check says what it does, on a terminal and after two seconds."""

from __future__ import annotations

import io
import threading

import pytest
from graphs_by_hand import case_of
from labs import FakeLab

from fuzzer.api import progress
from fuzzer.api.progress import STARTING, WatchedLab, shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_written_where_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    monkeypatch.setattr(progress, "WAIT_SECONDS", 0.0)
    with shown("check") as line:
        assert line.doing == STARTING
    assert written.getvalue() == ""


def test_a_terminal_shows_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Terminal()
    monkeypatch.setattr("sys.stderr", written)
    monkeypatch.setenv("TERM", "xterm")
    with shown("check") as line:
        line.begin()
        lab = WatchedLab(FakeLab(lambda *_: None), line)
        lab.run(case_of({"x0": "float32[2]"}, [("v0", "Relu-14", "x0")], "v0", opset=17), ())
        assert line.doing == "1 run of the model or of parts of it"
    assert "check: 1 run of the model or of parts of it" in written.getvalue()


def test_what_watches_in_place_of_a_terminal_gets_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()
    lines: list[str] = []

    def tell(line: str) -> None:
        lines.append(line)
        done.set()

    monkeypatch.setattr(progress, "tell", tell)
    monkeypatch.setattr(progress, "TELL_SECONDS", 0.0)
    with shown("check"):
        assert done.wait(120)
    assert lines == [f"check: {STARTING}"]
