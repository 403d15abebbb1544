"""A pytest plugin: `--dearest N` prints the CPU seconds of the collection and of each folder of tests, and the N tests
that took the most. Those of child processes count, also of such that still run. What a fixture takes counts for the
test that asks for it first, or ends it."""

from __future__ import annotations

import os
import resource
from collections import defaultdict
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest

TICKS = os.sysconf("SC_CLK_TCK")
PROPERTY = "CPU seconds"
COLLECTION = "CPU seconds of the collection"


def used() -> float:
    """The CPU seconds of this process, of its children that have ended, and of all its descendants that run."""
    ended = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in ended) + sum(map(_of_tree, _children(os.getpid())))


def _of_tree(process: int) -> float:
    """The CPU seconds of a process, of its children that have ended, and of its descendants; see proc_pid_stat(5)."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has just ended
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS + sum(map(_of_tree, _children(process)))


def _children(process: int) -> list[int]:
    """The children of the threads of a process: see proc_tid_children(5)."""
    found = []
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += [int(child) for child in path.read_text().split()]
        except OSError:
            continue
    return found


def folder_of(test: str) -> str:
    """The folder of a test: the package that it mirrors, for those of the fuzzer."""
    parts = test.partition("::")[0].split("/")[:-1]
    return "/".join(parts[:3])


def table(tests: Mapping[str, float], collection: list[float], most: int) -> list[str]:
    """The lines: the collection in each process, the sum of each folder, then the tests that took the most."""
    folders: dict[str, float] = defaultdict(float)
    for test, seconds in tests.items():
        folders[folder_of(test)] += seconds
    lines = [
        f"{sum(collection):8.1f} collection, in {len(collection)} processes",
        f"{sum(tests.values()):8.1f} all tests",
    ]
    lines += [f"{seconds:8.1f} {folder}" for folder, seconds in _dearest(folders)]
    return [
        *lines,
        f"the {most} dearest tests:",
        *(f"{seconds:8.1f} {test}" for test, seconds in _dearest(tests)[:most]),
    ]


def _dearest(seconds: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(seconds.items(), key=lambda each: -each[1])


class CpuSeconds:
    """Measures where tests run, and adds up where they are reported."""

    def __init__(self, config: pytest.Config, most: int) -> None:
        self._config, self._most = config, most
        self._last = 0.0
        self._collection: list[float] = []
        self._tests: dict[str, float] = defaultdict(float)

    def pytest_collection_finish(self) -> None:
        self._last = used()
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput[COLLECTION] = self._last
        elif not self._config.getoption("numprocesses", None):
            self._collection.append(self._last)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = used()
        report.user_properties = [*report.user_properties, (PROPERTY, now - self._last)]
        self._last = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name == PROPERTY and isinstance(value, float):
                self._tests[report.nodeid] += value

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        if hasattr(node, "workeroutput"):
            self._collection.append(node.workeroutput[COLLECTION])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("CPU seconds")
        for line in table(self._tests, self._collection, self._most):
            terminalreporter.line(line)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--dearest", type=int, metavar="N", help="print the CPU seconds of folders and of the N dearest tests"
    )


def pytest_configure(config: pytest.Config) -> None:
    most: int | None = config.getoption("--dearest")
    if most is not None:
        config.pluginmanager.register(CpuSeconds(config, most))
