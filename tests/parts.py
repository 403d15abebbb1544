"""The parts of the suite, as a pytest plugin: `--part NAME` runs the tests of one. Each test belongs to one part, by
its marks. `make test` runs the gate: what depends on the commit alone. `make test-all` runs every part."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

GATE = "gate"

MARKS = {
    "toolchains": "needs other releases of TVM",
    "browser": "opens pages in a browser",
    "programs": "needs programs that the README does not require",
    "pages": "runs the commands of a page, with real campaigns",
    "long": "takes more than five seconds",
    "tvm": "starts the real compilers",
    "exhaustive": "runs every row, form or sample of a table",
}
"""The parts beside the gate, and why their tests are not in the gate. The first mark that a test has names its part."""


def part_of(marks: Iterable[str]) -> str:
    """The part of a test with these marks."""
    present = set(marks)
    return next((name for name in MARKS if name in present), GATE)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", choices=[GATE, *MARKS], help="run the tests of this part of the suite (tests/parts.py)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of other parts, where `--part` names one."""
    part: str | None = config.getoption("--part")
    if part is None:
        return
    kept, left_out = [], []
    for item in items:
        (kept if part_of(marker.name for marker in item.iter_markers()) == part else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept
