"""A pytest plugin that writes how each test ended into a file, a line of JSON for each. The file is complete up to the
last test that ended, however pytest itself ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO

import pytest


class OutcomeLog:
    """Writes the reports of tests and of modules that cannot be collected, as they come."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self._write(report, report.outcome)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.outcome == "failed":
            self._write(report, "uncollected")

    def _write(self, report: pytest.TestReport | pytest.CollectReport, outcome: str) -> None:
        line = {"test": report.nodeid, "outcome": outcome, "message": message(report.longrepr)}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


def message(longrepr: Any) -> str:
    """What a report says: the exception or assertion with its place, or the reason of a skip. Without one, nothing."""
    match longrepr:
        case None:
            return ""
        case (_, _, str(reason)):
            return reason.removeprefix("Skipped: ")
    crash = getattr(longrepr, "reprcrash", None)
    if crash is None:
        return str(longrepr).strip()
    return f"{crash.message}\n{crash.path}:{crash.lineno}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--outcome-log", type=Path, metavar="FILE", help="write how each test ended, as lines of JSON")


def pytest_configure(config: pytest.Config) -> None:
    path: Path | None = config.getoption("--outcome-log")
    if path is not None and not hasattr(config, "workerinput"):  # workers report to the process that started them
        file = path.open("w")
        config.add_cleanup(file.close)
        config.pluginmanager.register(OutcomeLog(file))
