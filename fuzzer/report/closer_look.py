"""What is found out about a saved finding when there is time: its scope, its natural case, and its regression test."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from fuzzer.findings.record import FindingRecord, read
from fuzzer.isolate.fleet import Lab
from fuzzer.report.add_to import add_natural, add_scope, add_test
from fuzzer.report.natural import natural_to_show
from fuzzer.report.regression_test import test_to_show
from fuzzer.triage.scope.find import WHOLE_EFFORT, Effort, scope_of


def look_closer(
    lab: Lab,
    folder: Path,
    effort: Effort = WHOLE_EFFORT,
    writing: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> FindingRecord:
    """Write what is found into the finding's folder, each as soon as it is known. `effort` is for the scope. Files are
    written inside `writing()`. Raise `Invalid` if the folder is not valid."""
    record = read(folder)
    scope = scope_of(lab, record.case, record.finding, effort)
    with writing():
        record = add_scope(folder, scope)
    if natural := natural_to_show(lab, record):
        with writing():
            record = add_natural(folder, natural)
    if source := test_to_show(lab.run_script, record):
        with writing():
            add_test(folder, source)
    return record
