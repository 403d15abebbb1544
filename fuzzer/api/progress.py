"""What a check of a model does, on one line of the terminal or notebook, as soon as it has taken two seconds."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fuzzer.isolate.counting_lab import CountingLab
from fuzzer.isolate.fleet import Lab
from fuzzer.isolate.reports import ScriptRun
from fuzzer.system.terminal import number_of
from oracles.lane import LaneSpec

WAIT_SECONDS = 2.0
"""A check that takes less shows nothing."""

TELL_SECONDS = 5.0
"""After this time, what watches in place of a terminal gets a line."""

tell: Callable[[str], None] | None = None
"""Gets a line about a check that takes long: the plugin of pytest sets it, because pytest captures what tests print."""

STARTING = "starting a process with PyTorch and TVM, which later checks share"


@dataclass
class Shown:
    """The line. It appears when `WAIT_SECONDS` have passed, and disappears at the end."""

    what: str
    doing: str = STARTING
    _display: Any = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def does(self, doing: str) -> None:
        with self._lock:
            self.doing = doing
            if self._display:
                self._display.update(self.text)

    @property
    def text(self) -> str:
        return f"{self.what}: {self.doing}"

    def begin(self) -> None:
        from rich.console import Console
        from rich.status import Status
        from rich.text import Text

        with self._lock:
            console = Console(file=sys.stderr)
            self._display = Status(Text(self.text), console=console)
            self._display.start()

    def end(self) -> None:
        with self._lock:
            if self._display:
                self._display.stop()
            self._display = None


@contextmanager
def shown(what: str) -> Iterator[Shown]:
    """Show `what` and what it does while the context is open, where somebody watches: on a terminal, or in a
    notebook. Elsewhere nothing is written."""
    line, listener = Shown(what), tell
    if listener is None and not _is_watched():
        yield line
        return
    if listener is None:
        timer = threading.Timer(WAIT_SECONDS, line.begin)
    else:
        timer = threading.Timer(TELL_SECONDS, lambda: listener(line.text))
    timer.daemon = True
    timer.start()
    try:
        yield line
    finally:
        timer.cancel()
        timer.join()
        line.end()


def _is_watched() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


class WatchedLab(CountingLab):
    """A lab that tells the line what it runs."""

    def __init__(self, lab: Lab, line: Shown) -> None:
        super().__init__(lab, lambda runs: line.does(f"{number_of(runs, 'run')} of the model or of parts of it"))
        self._line = line

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        self._line.does("running the script of the finding")
        return super().run_script(source, lane)
