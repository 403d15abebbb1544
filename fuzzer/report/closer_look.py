"""What is found out about a saved finding when there is time: its scope, its natural case, and its regression test."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from fuzzer.findings import record
from fuzzer.findings.record import FindingRecord
from fuzzer.isolate.fleet import Lab
from fuzzer.report.add_to import Read, add_natural, add_scope, add_test
from fuzzer.report.natural import natural_to_show
from fuzzer.report.regression_test import test_to_show
from fuzzer.triage.scope.find import WHOLE_EFFORT, Effort, scope_of


def look_closer(
    lab: Lab,
    folder: Path,
    effort: Effort = WHOLE_EFFORT,
    writing: Callable[[], AbstractContextManager[None]] = nullcontext,
    read: Read = record.read,
) -> FindingRecord:
    """Write what is found into the finding's folder, each as soon as it is known. `effort` is for the scope. Files are
    written inside `writing()`. The folder is read by `read` each time: another process may change it meanwhile. Raise
    `Invalid` if it is not valid."""
    known = read(folder)
    scope = scope_of(lab, known.case, known.finding, effort)
    with writing():
        known = add_scope(folder, scope, read)
    if natural := natural_to_show(lab, known):
        with writing():
            known = add_natural(folder, natural, read)
    if source := test_to_show(lab.run_script, known):
        with writing():
            add_test(folder, source)
    return known
