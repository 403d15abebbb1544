"""What benchmarks/mutants.py changes, and what it counts."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FunctionType

import mutants
import pytest
from mutation import trials
from mutation.trials import Reach, changed_functions

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PAGE = (mutants.ROOT / "docs" / "reliability.md").read_text()
SAMPLES = re.findall(r"^\| .+ \| (\d+) of [\d,]+ \| (\d+) \| ([\d.]+) % \| ([\d.]+) to ([\d.]+) \|$", PAGE, re.M)

BEFORE = """
from __future__ import annotations

LIMIT = 3

class Box:
    size: int = 2

    @property
    def double(self) -> int:
        return self.size * 2

def first(number: int, most: int = 4) -> int:
    return min([each + 1 for each in range(number)], default=most)
"""


def changes(old: str, new: str) -> list[tuple[str, CodeType]] | None:
    assert old in BEFORE
    found = changed_functions(BEFORE, BEFORE.replace(old, new), "box.py")
    return None if found is None else [(place.name, code) for place, code in found]


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [("size * 2", "size / 2", "Box.double"), ("each + 1", "each - 1", "first"), ("range", "\n        range", None)],
)
def test_the_functions_with_other_code_are_found(old: str, new: str, name: str | None) -> None:
    assert [name for name, _ in changes(old, new) or ()] == ([name] if name else [])


@pytest.mark.parametrize(
    ("old", "new"),
    [("LIMIT = 3", "LIMIT = 4"), ("size: int = 2", "size: int = 3"), ("= 4)", "= 5)"), ("@property", "@staticmethod")],
)
def test_what_an_import_executes_is_no_change_of_a_function(old: str, new: str) -> None:
    assert changes(old, new) is None


def test_new_code_takes_the_place_of_the_old() -> None:
    names: dict[str, FunctionType] = {}
    exec(compile(BEFORE, "box.py", "exec", dont_inherit=True), names)
    ((_, code),) = changes("each + 1", "each - 1") or ()
    names["first"].__code__ = code
    assert names["first"](1) == -1


def test_tests_of_the_changed_file_come_first_then_those_of_its_folder_then_quick_ones() -> None:
    own, near, other, late = (
        "tests/oracles/test_box.py::a",
        "tests/oracles/test_lid.py::a",
        "tests/test_a.py::a",
        "z::a",
    )
    lines = {3: [other, near], 4: [own], 9: [late]}
    reach = Reach({late: 7.0, other: 0.5, near: 1.0, own: 2.0}, {"oracles/box.py": lines})
    assert reach.of("oracles/box.py", range(2, 5)) == [own, near, other]
    assert reach.of("oracles/box.py", range(5, 9)) == []
    assert reach.of("oracles/box.py", range(1, 10)) == [own, near, other]  # the last one would exceed 10 s
    assert reach.of_file("oracles/box.py") == [own, near, other]
    assert reach.of_file("oracles/data.py") == []
    assert reach.of_folder("oracles/data.py") == [near, own]
    assert trials.MOST_SECONDS == 10.0


def test_a_mutant_that_takes_too_long_is_killed_and_one_with_the_same_code_does_not_count() -> None:
    counted = Counter({"killed": 6, "timed out": 2, "survived": 2, "same code": 5})
    share, (least, most) = mutants.share(counted)
    assert share == 0.8
    assert (round(least, 3), round(most, 3)) == (0.49, 0.943)  # Wilson's interval for 8 of 10


def test_the_files_of_each_part_exist() -> None:
    for globs in mutants.PARTS.values():
        assert all(list(mutants.ROOT.glob(glob)) for glob in globs)


BOX = """LIMIT = 3

def first(number):
    return number + LIMIT

def second(number):
    return -number
"""

TEST_OF_BOX = """import box

def test_first():
    assert box.first(1) == 4

def test_second():
    assert box.second(0) == 0
"""

TRY = """
import json, sys
from dataclasses import asdict
from pathlib import Path
from mutation.trials import Change, Trials

copy, box = Path(sys.argv[1]), Path(sys.argv[1], "box.py").read_text()
trials = Trials(copy, ["tests"], "", ["box.py"])
reach = trials.reach()
changes = [
    Change("box.py", range(4, 5), box.replace("number + LIMIT", "number - LIMIT")),
    Change("box.py", range(7, 8), box.replace("-number", "+number")),
    Change("box.py", range(1, 2), box.replace("LIMIT = 3", "LIMIT = 4")),
]
print(json.dumps([asdict(reach), dict(trials.run(changes, reach))]))
"""


@pytest.mark.slow
def test_changes_of_a_small_project_are_tried(tmp_path: Path) -> None:
    """What a child knows of the tests comes back as it was: the lines are numbers."""
    copy = tmp_path / "copy"
    (copy / "tests").mkdir(parents=True)
    (copy / "box.py").write_text(BOX)
    (copy / "tests" / "test_box.py").write_text(TEST_OF_BOX)
    environment = {**os.environ, "PYTHONPATH": str(BENCHMARKS)}
    command = [sys.executable, "-c", TRY, str(copy)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    reach, verdicts = json.loads(done.stdout)
    first, second = (f"tests/test_box.py::test_{name}" for name in ("first", "second"))
    assert list(reach["seconds"]) == [first, second]
    assert {line: tests for line, tests in reach["tests"]["box.py"].items() if tests} == {"4": [first], "7": [second]}
    assert verdicts == {"0": "killed", "1": "survived", "2": "killed"}


@pytest.mark.parametrize(("count", "survived", "noticed", "least", "most"), SAMPLES)
def test_the_shares_on_the_page_follow_from_their_counts(
    count: str, survived: str, noticed: str, least: str, most: str
) -> None:
    killed = int(count) - int(survived)
    share, interval = mutants.share(Counter(killed=killed, survived=int(survived)))
    assert [f"{100 * number:.1f}" for number in (share, *interval)] == [noticed, least, most]


def test_each_part_has_a_sample_on_the_page_and_each_survivor_a_class() -> None:
    assert len(SAMPLES) == len(mutants.PARTS)
    sentence = r"Tests notice (\d+) of the (\d+) now\.\s(\d+) went with .*?The other (\d+) were"
    ((noticed, of, gone, left),) = re.findall(sentence, PAGE, re.S)
    assert int(of) == sum(int(survived) for _, survived, *_ in SAMPLES) == int(noticed) + int(gone) + int(left)
    (table,) = re.findall(r"^\| class \| mutants \| example \|\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.M)
    assert sum(int(row.split(" | ")[1]) for row in table.splitlines()) == int(left)
