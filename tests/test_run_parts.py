"""The last lines of a run of parts of the suite, and its exit code, for small suites with planted failures."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from textwrap import dedent

import pytest
import run_parts
from parts import GATE, MARKS, may_have, part_of

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent
SHELL = "/bin/sh"
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

ENDS = """
    import os

    def pytest_sessionfinish(session):
        if not hasattr(session.config, "workerinput"):
            os._exit(3)
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
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "0")  # a worker takes half a second to start
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
    assert lines[-2].endswith("/bin/pytest -n 0 --part=gate test_bad.py::test_wrong")
    assert lines[-1] == "1 passed, 1 failed, 0 skipped"
    assert (suite / "record" / "code").read_text() == "21\n"
    assert (suite / "record" / "summary").read_text().splitlines()[-1] == lines[-1]
    ended = [json.loads(line) for line in (suite / "record" / "gate.jsonl").read_text().splitlines()]
    assert {line["test"]: line["outcome"] for line in ended} == {
        "test_bad.py::test_wrong": "failed",
        "test_right.py::test_right": "passed",
    }


def test_a_test_that_passes_the_second_time_is_unstable_and_fails_nothing(
    suite: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a worker, as in the gate."""
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "1")
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
    assert len(lines) == 53
    assert lines[-1] == "1 passed, 40 failed, 30 skipped"
    assert lines[-2] == "FAILED (gate) test_bad.py::test_bad[39]"
    assert sum(line.startswith("skipped ") for line in lines) == 10
    assert "skipped 12 for 6 other reasons" in lines


def test_failed_tests_come_last_and_more_of_them_are_named_with_less(
    suite: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (suite / "test_some.py").write_text(dedent(FLAKY))
    head = "import pytest\n\n\n@pytest.mark.parametrize('n', range(17))\n"
    (suite / "test_bad.py").write_text(f"{head}def test_bad(n):\n    assert n < 0, 'a\\nb\\nc'\n")
    assert run_parts.main(["gate"]) == 37
    lines = last_lines(capfd)
    assert lines[2:5] == [
        "unstable (gate) test_some.py::test_flaky",
        "    ValueError: only the first time",
        f"    alone: {run_parts.PROGRAMS.parent.name}/bin/pytest -n 0 --part=gate test_some.py::test_flaky",
    ]
    assert lines[5:7] == ["FAILED (gate) test_bad.py::test_bad[0]", "    AssertionError: a"]
    assert lines[-2].endswith("--part=gate 'test_bad.py::test_bad[16]'")


def test_where_not_all_have_room_the_failed_ones_are_named(suite: Path, capfd: pytest.CaptureFixture[str]) -> None:
    head = "import pytest\n\n\n@pytest.mark.parametrize('n', range(70))\n"
    (suite / "test_bad.py").write_text(f"{head}def test_bad(n):\n    assert n < 0\n")
    assert run_parts.main(["gate"]) == 80
    lines = last_lines(capfd)
    assert len(lines) == 59
    assert lines[2] == "15 more; --record FOLDER keeps all of them"
    assert lines[-2] == "FAILED (gate) test_bad.py::test_bad[69]"


def test_an_end_of_pytest_itself_is_red_although_what_failed_would_pass_again(
    suite: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Some tests may not have run."""
    (suite / "test_some.py").write_text(dedent(FLAKY))
    with (suite / "conftest.py").open("a") as file:
        file.write(dedent(ENDS))
    assert run_parts.main(["gate"]) == 13
    lines = last_lines(capfd)
    assert lines[2].startswith("gate: pytest itself ended with ")
    assert lines[3] == "FAILED (gate) test_some.py::test_flaky"


def test_what_failed_runs_again_as_a_test_of_its_part(suite: Path) -> None:
    (suite / "test_some.py").write_text(
        "def test_part(request):\n    assert request.config.getoption('--part') is None, 'first run'\n"
    )
    assert run_parts.main(["gate"]) == 21


def test_a_part_whose_installation_fails_is_red(
    suite: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_parts, "INSTALLS", {"long": ("rm", "nowhere")})
    assert run_parts.main(["gate", "long"]) == 12
    assert last_lines(capfd)[3] == "long: `rm nowhere` failed, see above; no test ran"


def test_a_command_that_ends_leaves_no_child(tmp_path: Path) -> None:
    assert run_parts.Deadline(5).run((SHELL, "-c", f"sleep 600 & echo $! > {tmp_path}/pid")) == 0
    assert ends(int((tmp_path / "pid").read_text()))


def test_a_command_is_ended_with_the_run_that_waits_for_it(tmp_path: Path) -> None:
    def end(*_: object) -> None:
        raise SystemExit(143)

    before = signal.signal(signal.SIGUSR1, end)
    try:
        with pytest.raises(SystemExit):
            run_parts.Deadline(5).run(
                (SHELL, "-c", f"echo $$ > {tmp_path}/pid; sleep 1; kill -USR1 {os.getpid()}; sleep 600")
            )
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert ends(int((tmp_path / "pid").read_text()))


def ends(pid: int) -> bool:
    """Whether a process ends, or has ended and is to be waited for by its parent."""
    status, deadline = Path(f"/proc/{pid}/status"), time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            if "State:\tZ" in status.read_text():
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


def test_the_makefile_names_every_part() -> None:
    text = (TESTS.parent / "Makefile").read_text()
    (line,) = (line for line in text.splitlines() if line.startswith("PARTS = "))
    assert set(line.removeprefix("PARTS = ").split()) == set(MARKS)


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


def test_cheap_tests_of_what_is_thinned_are_in_the_gate() -> None:
    names = [f"tests/test_a.py::test_b[{row}]" for row in range(100)]
    assert {part_of(["tvm", "smoke"], name) for name in names} == {GATE}
    assert {part_of(["tvm", "smoke", "long"], name) for name in names} == {"long"}


def test_a_module_is_left_out_by_its_marks_alone() -> None:
    """A test may add marks to those of its module: they can only move it to a part that stands before."""
    assert all(may_have([], part) for part in (*MARKS, GATE))
    assert may_have(["tvm", "slow"], "long")
    assert may_have(["tvm"], "tvm")
    assert may_have(["tvm"], GATE), "a tenth"
    assert not may_have(["long"], GATE)
    assert not may_have(["toolchains"], "long")
