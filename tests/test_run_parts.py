"""The last lines of a run of parts of the suite, and its exit code, for small suites with planted failures."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest
import run_parts
from parts import GATE, MARKS, may_have, part_of

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent
PASSES = "def test_right():\n    assert True\n"
FAILS = "def test_wrong():\n    assert 1 == 2, 'planted'\n"
FLAKY = """
    from pathlib import Path

    def test_flaky(request):
        mark = Path(__file__).with_suffix(f".{request.node.name}")
        if not mark.exists():
            mark.touch()
            raise ValueError("only the first time")
"""


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite with one test that passes; the folder where a test plants others."""
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\nmarkers = ["long: l", "tvm: t"]\n')
    (tmp_path / "conftest.py").write_text(
        f'import sys\n\nsys.path.insert(0, {json.dumps(str(TESTS))})\npytest_plugins = ["outcome_log", "parts"]\n'
    )
    (tmp_path / "test_right.py").write_text(PASSES)
    monkeypatch.setattr(run_parts, "ROOT", tmp_path)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p xdist.plugin")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # the plugins of the suite itself take a second to import
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "1")
    return tmp_path


def last_lines(capfd: pytest.CaptureFixture[str]) -> list[str]:
    """What a run printed from its table on."""
    lines = capfd.readouterr().out.splitlines()
    return lines[max(place for place, line in enumerate(lines) if line.startswith("part  ")) :]


def test_a_suite_that_is_right(suite: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_parts.main(["gate"]) == 0
    table, part, counts = last_lines(capfd)
    assert table.split() == ["part", "passed", "failed", "unstable", "skipped", "minutes", "CPU"]
    assert part.split()[:5] == ["gate", "1", "0", "0", "0"]
    assert counts == "1 passed, 0 failed, 0 skipped"


def test_the_packages_that_pythonpath_names_are_not_imported(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (suite / "others").mkdir()
    (suite / "others" / "outcome_log.py").write_text("raise ImportError('not this one')\n")
    monkeypatch.setenv("PYTHONPATH", str(suite / "others"))
    (suite / "test_path.py").write_text("import os\n\ndef test_path():\n    assert 'PYTHONPATH' not in os.environ\n")
    assert run_parts.main(["gate"]) == 0


def test_a_test_that_fails_is_named_last_with_its_message_and_how_to_run_it(
    suite: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (suite / "test_bad.py").write_text(FAILS)
    assert run_parts.main(["gate", "--record", str(suite / "record")]) == 21
    lines = last_lines(capfd)
    assert lines[1].split()[:5] == ["gate", "1", "1", "0", "0"]
    assert lines[2] == "FAILED (gate) test_bad.py::test_wrong"
    assert lines[3:5] == ["    AssertionError: planted", "    assert 1 == 2"]
    assert lines[5].endswith("test_bad.py:2")
    assert lines[-2].startswith("    alone: ")
    assert lines[-2].endswith("/bin/pytest -n 0 'test_bad.py::test_wrong'")
    assert lines[-1] == "1 passed, 1 failed, 0 skipped"
    assert (suite / "record" / "code").read_text() == "21\n"
    assert (suite / "record" / "summary").read_text().splitlines()[-1] == lines[-1]
    ended = [json.loads(line) for line in (suite / "record" / "gate.jsonl").read_text().splitlines()]
    assert {line["test"]: line["outcome"] for line in ended} == {
        "test_bad.py::test_wrong": "failed",
        "test_right.py::test_right": "passed",
    }


def test_a_test_that_passes_the_second_time_is_unstable_and_fails_nothing(
    suite: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (suite / "test_some.py").write_text(dedent(FLAKY))
    assert run_parts.main(["gate"]) == 0
    lines = last_lines(capfd)
    assert lines[1].split()[:5] == ["gate", "2", "0", "1", "0"]
    assert lines[2:4] == ["unstable (gate) test_some.py::test_flaky", "    ValueError: only the first time"]
    assert lines[-1] == "2 passed, 0 failed, 0 skipped"


def test_more_than_five_unstable_tests_fail_a_part(suite: Path) -> None:
    planted = dedent(FLAKY).replace("def ", "import pytest\n\n@pytest.mark.parametrize('n', range(6))\ndef ")
    (suite / "test_some.py").write_text(planted.replace("(request)", "(request, n)"))
    assert run_parts.main(["gate"]) == 26


def test_a_module_that_cannot_be_collected(suite: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (suite / "test_bad.py").write_text("import no_such_module\n")
    assert run_parts.main(["gate"]) == 13
    lines = last_lines(capfd)
    assert lines[2:4] == [
        "gate: these modules cannot be collected; no test ran",
        "FAILED (gate) test_bad.py",
    ]
    assert lines[-3].strip() == "E   ModuleNotFoundError: No module named 'no_such_module'"


def test_the_time_is_over(suite: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What had ended until then is in the summary."""
    (suite / "test_slow.py").write_text("import time\n\n\ndef test_slow():\n    time.sleep(600)\n")
    assert run_parts.main(["gate", "long", "--go-on", "--minutes", "0.15"]) == 90
    lines = last_lines(capfd)
    assert lines[1].split()[:5] == ["gate", "1", "0", "0", "0"]
    assert lines[2:] == ["gate: the time was over before all tests of gate had ended", "1 passed, 1 failed, 0 skipped"]


def test_the_next_part_runs_only_on_demand(suite: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (suite / "test_bad.py").write_text(FAILS)
    (suite / "test_long.py").write_text(f"import pytest\n\n\n@pytest.mark.long\n{PASSES}")
    assert run_parts.main(["gate", "long"]) == 21
    assert [line.split()[0] for line in last_lines(capfd)[:3]] == ["part", "gate", "FAILED"]
    assert run_parts.main(["gate", "long", "tvm", "--go-on"]) == 21
    table = [line.split()[:5] for line in last_lines(capfd)[1:4]]
    assert table == [["gate", "1", "1", "0", "0"], ["long", "1", "0", "0", "0"], ["tvm", "0", "0", "0", "0"]]


def test_a_style_error_has_a_code_of_its_own(suite: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (suite / "bad.py").write_text("import os\n")
    assert run_parts.main(["style", "types", "gate"]) == 10
    assert last_lines(capfd)[2:] == [
        "style: see above: ruff check .",
        "0 passed, 1 failed, 0 skipped",
    ]


def test_the_summary_has_at_most_sixty_lines(suite: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, times, line in (
        ("bad", 40, "assert n < 0, 'a\\nb\\nc'"),
        ("skipped", 30, "pytest.skip(f'because of {n % 15}')"),
    ):
        head = f"import pytest\n\n\n@pytest.mark.parametrize('n', range({times}))\n"
        (suite / f"test_{name}.py").write_text(f"{head}def test_{name}(n):\n    {line}\n")
    assert run_parts.main(["gate"]) == 60
    lines = last_lines(capfd)
    assert 50 < len(lines) <= 60
    assert lines[-1] == "1 passed, 40 failed, 30 skipped"
    assert lines[-2].startswith("and 3")
    assert sum(line.startswith("skipped ") for line in lines) == 10
    assert "skipped 12 for 6 other reasons" in lines


def test_each_test_has_one_part() -> None:
    assert part_of(["slow", "parametrize"]) == GATE
    assert part_of(["tvm", "long", "programs"]) == "programs"
    assert [part_of([mark, "slow"]) for mark in MARKS] == [*MARKS]


def test_a_tenth_of_what_is_thinned_is_in_the_gate() -> None:
    for marks in (["tvm"], ["exhaustive", "slow"]):
        parts = [part_of(marks, f"tests/test_a.py::test_b[{row}]") for row in range(1000)]
        assert 80 < parts.count(GATE) < 120
        assert set(parts) == {GATE, marks[0]}
    assert {part_of(["long", "tvm"], f"tests/test_a.py::test_b[{row}]") for row in range(100)} == {"long"}


def test_a_module_is_left_out_by_its_marks_alone() -> None:
    """A test may add marks to those of its module: they can only move it to a part that stands before."""
    assert all(may_have([], part) for part in (*MARKS, GATE))
    assert may_have(["tvm", "slow"], "long")
    assert may_have(["tvm"], "tvm")
    assert may_have(["tvm"], GATE), "a tenth"
    assert not may_have(["long"], GATE)
    assert not may_have(["toolchains"], "long")
