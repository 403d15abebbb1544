"""Live progress: a panel on a terminal, else one plain line every `LINE_SECONDS`."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from fuzzer.system.terminal import say
from fuzzer.watching.news import News
from fuzzer.watching.panel import line, panel
from fuzzer.watching.snapshot import Observer, Snapshot

LINE_SECONDS = 10.0
FRAME_SECONDS = 1.0


class Screen:
    """Shows a campaign while its context is open. Writes to stderr: stdout is for results. `stats` adds the numbers for
    those who develop difftvm."""

    def __init__(self, observer: Observer, console: Console | None = None, *, stats: bool = False) -> None:
        self._observer, self._stats = observer, stats
        self._console = console or Console(stderr=True)
        self._shown: list[Text] = []
        self._news = News()
        self._over = threading.Event()
        self._errors: set[str] = set()
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
                if snapshot := self._snapshot():
                    for news in self._news.since(snapshot):
                        say(news)
                    say(line(snapshot))
            return
        with self.live() as live:
            last = False
            while not last:
                if snapshot := self._snapshot():
                    self.draw(live, snapshot)
                last = self._over.is_set()
                self._over.wait(FRAME_SECONDS)

    def live(self) -> Live:
        return Live(console=self._console, auto_refresh=False)

    def draw(self, live: Live, snapshot: Snapshot) -> None:
        """Draw a frame in the place of the last one."""
        width, height = self._console.size
        self._erase_wrapped(width)
        self._shown = panel(snapshot, time.monotonic(), width, height, stats=self._stats)
        live.update(Group(*self._shown), refresh=True)

    def _erase_wrapped(self, width: int) -> None:
        """Erase a frame whose lines a terminal has wrapped, because its window got narrower. The cursor is in the last
        of these rows, and is left as many lines below the first as the next frame goes up."""
        rows = sum(max(1, -(-text.cell_len // width)) for text in self._shown)
        if rows > len(self._shown):
            self._console.file.write(f"\r\x1b[{rows - 1}A\x1b[J" + "\n" * (len(self._shown) - 1))
            self._console.file.flush()

    def _snapshot(self) -> Snapshot | None:
        """What the campaign is doing; None where that cannot be read now, as on a disk that fails. Each error is
        printed once."""
        try:
            return self._observer.snapshot()
        except Exception as error:  # the display must neither end nor hide the campaign
            text = f"{type(error).__name__}: {error}"
            if text not in self._errors:
                self._errors.add(text)
                say(f"there is nothing new to show: {text}")
            return None
