"""The display goes on when a campaign cannot be read for a while, and when the window changes."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from typing import Any, cast

import pytest
from reflowing import Reflowing
from rich.console import Console
from snapshots import snapshot

from fuzzer.watching import screen
from fuzzer.watching.panel import panel
from fuzzer.watching.screen import Screen
from fuzzer.watching.snapshot import Snapshot


class Observed:
    """Fails in the first three looks."""

    def __init__(self) -> None:
        self.looks = 0

    def snapshot(self) -> Snapshot:
        self.looks += 1
        if self.looks <= 3:
            raise OSError(5, "Input/output error", "/campaigns/night")
        return snapshot()


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not true() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert true()


@pytest.mark.parametrize("terminal", [False, True])
def test_an_error_is_printed_once_and_the_display_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool
) -> None:
    monkeypatch.setattr(screen, "LINE_SECONDS", 0.01)
    monkeypatch.setattr(screen, "FRAME_SECONDS", 0.01)
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    observed = Observed()
    with Screen(cast(Any, observed)):
        until(lambda: observed.looks > 5)
        assert any(thread.name == "screen" for thread in threading.enumerate())
    shown = capsys.readouterr().err
    assert shown.count("there is nothing new to show: OSError: [Errno 5]") == 1
    assert "1,850 in this run" in shown if terminal else "1,850 tests" in shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_of_a_frame_stays_behind_when_the_window_gets_narrower() -> None:
    """The terminal has wrapped the lines of the last frame, so it takes more rows than were drawn."""
    written, terminal = Terminal(), Reflowing(80)
    console = Console(file=written, force_terminal=True, width=80, height=24, color_system=None)
    terminal.write("a line from before\r\n")
    drawn = Screen(cast(Any, Observed()), console)
    with drawn.live() as live:
        for width in (80, 80, 47, 60, 30):
            terminal.resize(width)
            console.width = width
            drawn.draw(live, snapshot())
            terminal.write(written.getvalue().replace("\n", "\r\n"))
            written.seek(0)
            written.truncate()
            expected = [text.plain.rstrip() for text in panel(snapshot(), time.monotonic(), width, 24)]
            kept = [row for row in terminal.rows if row]
            assert kept[0] == "a line from before"
            assert [row[:9] for row in kept[1:]] == [row[:9] for row in expected]
