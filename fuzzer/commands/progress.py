"""The progress line of commands that take long, and the message about what is kept when SIGINT ends one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from fuzzer.system.exit_codes import Exit
from fuzzer.system.terminal import echo, say

if TYPE_CHECKING:
    from fuzzer.isolate.fleet import Lab
    from fuzzer.isolate.reports import SanitizerReport, ScriptRun
    from generators.graph import Case
    from oracles.lane import LaneSpec
    from oracles.outcome import Result


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


@dataclass
class Counted:
    """A lab that counts its runs on the progress line."""

    lab: Lab
    shown: ProgressLine
    runs: int = 0

    @property
    def versions(self) -> dict[str, str]:
        return self.lab.versions

    @property
    def cpu_seconds(self) -> float:
        return self.lab.cpu_seconds

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return self._counted(self.lab.run(case, lanes))

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return self._counted(self.lab.run_fresh(case, lanes))

    def _counted(self, result: Result) -> Result:
        self.runs += 1
        self.shown.count(self.runs, "runs")
        return result

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        return self.lab.run_script(source, lane)

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        return self.lab.examine(case, lane)
