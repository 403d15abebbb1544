"""The plugin of pytest: the fixture `difftvm`, its marker, and `--difftvm-seed`. docs/pytest.md shows how to use it.

pytest imports this file in every run of an environment with difftvm, so what a test needs is imported when a test asks
for the fixture.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from fuzzer.api.fixture import Difftvm

SEED = pytest.StashKey[int]()
OUTCOME = pytest.StashKey[str]()
"""How the test itself ended: passed, failed or skipped. Not set where it did not come to an end."""

NOTE = "difftvm"
"""The name of a property of a test that holds what a check says of it."""

MARKER = "difftvm(seconds=60, tests=None): how long the fixture difftvm gives cases to a test, and how many at most"
BUDGET = ("seconds", "tests")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("difftvm")
    group.addoption(
        "--difftvm-seed", type=_seed, metavar="N", help="The seed of the cases of difftvm; random by default."
    )
    parser.addini("difftvm_folder", "Where difftvm keeps failing cases and findings.", default=".difftvm")


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 1 << 64:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to {(1 << 64) - 1}")
    return int(text)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    given = config.getoption("--difftvm-seed")
    drawn = secrets.randbits(32) if given is None else given
    config.stash[SEED] = getattr(config, "workerinput", {}).get("difftvm_seed", drawn)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give pytest-xdist's worker the seed of the whole run."""
    node.workerinput["difftvm_seed"] = node.config.stash[SEED]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        budget_of(item)


def budget_of(item: pytest.Item) -> dict[str, Any]:
    """The arguments of the marker. Raise `pytest.UsageError` where they are no budget."""
    marker = item.get_closest_marker("difftvm")
    if marker is None:
        return {}
    wrong = [name for name, value in marker.kwargs.items() if name not in BUDGET or not _is_amount(name, value)]
    if marker.args or wrong:
        what = f"{wrong[0]}={marker.kwargs[wrong[0]]!r}" if wrong else repr(marker.args[0])
        raise pytest.UsageError(f"{item.nodeid}: the marker difftvm takes seconds=NUMBER and tests=INTEGER, not {what}")
    return dict(marker.kwargs)


def _is_amount(name: str, value: object) -> bool:
    kinds = int if name == "tests" else (int, float)
    return isinstance(value, kinds) and not isinstance(value, bool) and value > 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[OUTCOME] = report.outcome
        if report.failed and "difftvm" in getattr(item, "fixturenames", ()):
            again = f"to draw the same cases again: --difftvm-seed={item.config.stash[SEED]}"
            report.sections.append(("difftvm", again))
    return report


@pytest.fixture
def difftvm(request: pytest.FixtureRequest) -> Iterator[Difftvm]:
    """`import difftvm` for one test: with the seed of the run, the budget of the marker, and the cases that failed."""
    from fuzzer.api import progress
    from fuzzer.api.fixture import Difftvm

    item, config = request.node, request.config
    folder = config.rootpath / str(config.getini("difftvm_folder"))
    given = Difftvm(item.nodeid, config.stash[SEED], folder, **budget_of(item))
    progress.tell = _teller(config, item.nodeid)
    try:
        yield given
    finally:
        progress.tell = None
    item.user_properties += [(NOTE, note) for note in dict.fromkeys(given.notes)]
    given.finish(item.stash.get(OUTCOME, "failed"))


def _teller(config: pytest.Config, name: str) -> Callable[[str], None] | None:
    """What prints a line while a test runs, whose own output pytest captures; None where nobody watches a terminal."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    capture = config.pluginmanager.getplugin("capturemanager")
    if reporter is None or not reporter.isatty:
        return None

    def tell(line: str) -> None:
        with capture.global_and_fixture_disabled() if capture else nullcontext():
            reporter.ensure_newline()
            reporter.write_line(f"{name}: {line} ...")

    return tell


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what checks say of tests that pass."""
    every = [each for some in terminalreporter.stats.values() for each in some]
    reports = [each for each in every if getattr(each, "when", "") == "teardown"]
    lines = [f"{each.nodeid}: {note}" for each in reports for name, note in each.user_properties if name == NOTE]
    if lines:
        terminalreporter.section("difftvm")
        for line in lines:
            terminalreporter.write_line(line)


def pytest_unconfigure() -> None:
    """End the processes that checks of this run have started."""
    fleets = sys.modules.get("fuzzer.api.shared_fleet")
    if fleets is not None and os.getpid() == _PROCESS:
        fleets.close()


_PROCESS = os.getpid()
