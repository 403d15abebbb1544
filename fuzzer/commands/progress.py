"""The progress line of commands that take long, and the message about what is kept when SIGINT ends one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from fuzzer.isolate.counting_lab import CountingLab
from fuzzer.isolate.fleet import Lab
from fuzzer.system.exit_codes import Exit
from fuzzer.system.terminal import echo, say


class ProgressLine:
    """A line on stderr: the work, a count of what is done, and the time that has passed."""

    def __init__(self, progress: Progress, what: str) -> None:
        self._progress, self._what = progress, what
        self._line = progress.add_task(what)

    def count(self, number: int, of: str) -> None:
        self._progress.update(self._line, description=f"{self._what}: {number} {of}")

    def print(self, *lines: str) -> None:
        """Print results on stdout. The progress line is removed meanwhile, because both may be on the same terminal."""
        self._progress.stop()
        echo(*lines, sep="\n", flush=True)
        self._progress.start()


@contextmanager
def working(what: str, kept: Callable[[], str]) -> Iterator[ProgressLine]:
    """Show `what` while the context is open. On SIGINT, print what is kept in one line, and exit with 130."""
    console = Console(stderr=True)
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    try:
        with Progress(
            *columns, console=console, transient=True, disable=not console.is_terminal, redirect_stdout=False
        ) as progress:
            yield ProgressLine(progress, what)
    except KeyboardInterrupt:
        say(f"interrupted: {kept()}")
        raise typer.Exit(Exit.INTERRUPTED) from None


def counting(lab: Lab, shown: ProgressLine) -> CountingLab:
    """A lab that counts its runs on the progress line."""
    return CountingLab(lab, lambda runs: shown.count(runs, "runs"))
