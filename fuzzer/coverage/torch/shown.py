"""Which converters of TVM's importers programs of PyTorch reach."""

from __future__ import annotations

from rich.console import Console
from rich.progress import Progress

from fuzzer.coverage import report
from fuzzer.coverage.measure import CoverageOptions, measure, number_of_trials
from fuzzer.coverage.shown import Shown


def shown(options: CoverageOptions, console: Console) -> Shown:
    with Progress(console=console) as progress:
        task = progress.add_task("exporting programs", total=number_of_trials(options))
        found = measure(options, lambda coverage: progress.update(task, completed=coverage.trials))
    return Shown(report.document(found), report.text(found))
