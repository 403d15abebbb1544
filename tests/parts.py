"""The parts of the suite, as a pytest plugin: `--part NAME` runs the tests of one. Each test belongs to one part, by
its marks. `make test` runs the gate: what depends on the commit alone. `make test-all` runs every part.

What starts the compilers, or runs every row of a table, takes too long for the gate: a fixed tenth of these tests is in
it, drawn by their names. So are those with the mark `smoke`: cheap tests of files of which the tenth has none."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from pathlib import Path

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
THINNED = frozenset({"tvm", "exhaustive"})
"""The parts of which a tenth is in the gate."""
SMOKE = "smoke"


ONLY_LEAVES_OUT = re.compile(r"not \w+( and not \w+)*")
MARKS_OF_MODULE = re.compile(r"^pytestmark = (?:\[.*?\]|.*?$)", re.DOTALL | re.MULTILINE)


def part_of(marks: Iterable[str], test: str = "") -> str:
    """The part of a test with these marks and this name; without a name, that of the nine tenths."""
    present = set(marks)
    part = next((name for name in MARKS if name in present), GATE)
    in_gate = SMOKE in present or zlib.crc32(test.encode()) % 10 == 0
    return GATE if part in THINNED and test and in_gate else part


def part_of_item(item: pytest.Item) -> str:
    return part_of((marker.name for marker in item.iter_markers()), item.nodeid)


def may_have(module: Iterable[str], part: str) -> bool:
    """If a module of which each test has these marks may have tests of a part. A test may have more marks."""
    order, own = [*MARKS, GATE], part_of(module)
    return order.index(part) <= order.index(own) or (part == GATE and own in THINNED)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", choices=[GATE, *MARKS], help="run the tests of this part of the suite (tests/parts.py)")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no module of which `--part` or `-m` leaves out everything, by the marks of the module: compilers take
    seconds."""
    part: str | None = config.getoption("--part")
    leaves_out = config.option.markexpr.split() if ONLY_LEAVES_OUT.fullmatch(config.option.markexpr) else []
    if collection_path.suffix != ".py" or not (part or leaves_out):
        return None
    found = MARKS_OF_MODULE.search(collection_path.read_text())
    marks = re.findall(r"pytest\.mark\.(\w+)", found[0]) if found else []
    left_out = (part is not None and not may_have(marks, part)) or not set(marks).isdisjoint(leaves_out)
    return True if left_out else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of other parts, where `--part` names one."""
    part: str | None = config.getoption("--part")
    if part is None:
        return
    kept, left_out = [], []
    for item in items:
        (kept if part_of_item(item) == part else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept
