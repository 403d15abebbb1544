"""Live progress: a panel on a terminal, else one plain line every `LINE_SECONDS`."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from rich.console import Console
from rich.live import Live

from fuzzer.system.terminal import say
from fuzzer.watching.panel import Panel, line
from fuzzer.watching.snapshot import Observer

LINE_SECONDS = 10.0
FRAME_SECONDS = 1.0


class Screen:
    """Shows a campaign while its context is open. Writes to stderr: stdout is for results."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._console = Console(stderr=True)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._show, name="screen", daemon=True)

    def __enter__(self) -> Screen:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def _show(self) -> None:
        if not self._console.is_terminal:
            while not self._over.wait(LINE_SECONDS):
                say(line(self._observer.snapshot()))
            return
        with Live(self._panel(), console=self._console, auto_refresh=False) as live:
            while not self._over.wait(FRAME_SECONDS):
                live.update(self._panel(), refresh=True)
            live.update(self._panel(), refresh=True)

    def _panel(self) -> Panel:
        return Panel(self._observer.snapshot(), time.monotonic())
