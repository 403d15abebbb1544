"""What .ci/run makes of an installation that fails, and of each exit code of the tests, with a Makefile of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.programs("bash", "git", "make", "find", "xargs")

SCRIPT = Path(__file__).parents[2] / ".ci" / "run"

MAKEFILE = """
install:
\t@echo x >> tries
\t@test `wc -l < tries` -ge {works} && :
\t@mkdir -p .venv
\t@touch .venv/installed

test:
\t@mkdir -p $(RECORD)
\t@echo {code} > $(RECORD)/code
\t@env | cut -d= -f1 > variables
\t@echo $$TMPDIR > temporary
\t@touch $$TMPDIR/left
\t@echo the summary && :
\t@test {code} = 0 && :
"""

CALLED = "cut env mkdir wc"
"""What this Makefile calls beside the programs that .ci/run has on PATH."""


def run(folder: Path, *, works: int = 1, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run .ci/run in a repository where the installation works at that try, and the tests end with that code."""
    repository = folder / "repository"
    (repository / ".ci").mkdir(parents=True, exist_ok=True)
    script = SCRIPT.read_text()
    assert script.count(" cat cp grep ") == 1
    (repository / ".ci" / "run").write_text(script.replace(" cat cp grep ", f" cat cp grep {CALLED} "))
    (repository / "Makefile").write_text(MAKEFILE.format(works=works, code=code))
    git = ["git", "-C", repository, "-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "a"], check=True)
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "sleep").write_text("#!/bin/sh\n")  # nobody waits between two tries
    (programs / "sleep").chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(folder / "home"),
        "PYTHONPATH": "/nowhere",
        "PIP_CERT": "/nowhere",
        "SECRET": "x",
    }
    (folder / "home").mkdir(exist_ok=True)
    return subprocess.run(
        ["bash", ".ci/run"], cwd=repository, env=environment, capture_output=True, text=True, timeout=300
    )


def test_an_installation_that_fails_twice_is_tried_a_third_time(tmp_path: Path) -> None:
    done = run(tmp_path, works=3)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines.count("the installation failed") == 2
    assert lines[-1] == "the summary"


def test_an_installation_that_always_fails(tmp_path: Path) -> None:
    done = run(tmp_path, works=9)
    assert done.returncode == 12
    last = ["The installation failed three times: read the messages of pip above.", "0 passed, 1 failed"]
    assert done.stdout.splitlines()[-2:] == last


@pytest.mark.parametrize("code", [0, 10, 11, 13, 21, 90])
def test_the_exit_code_is_that_of_the_tests_and_nothing_follows_their_summary(tmp_path: Path, code: int) -> None:
    done = run(tmp_path, code=code)
    assert done.returncode == code
    assert done.stdout.splitlines()[-1] == "the summary"


def test_tests_have_few_variables_and_folders_of_their_own(tmp_path: Path) -> None:
    assert run(tmp_path).returncode == 0
    variables = set((tmp_path / "repository" / "variables").read_text().split())
    assert {"CI", "HOME", "LANG", "PATH", "TMPDIR", "XDG_CACHE_HOME"} <= variables
    assert variables.isdisjoint({"PYTHONPATH", "PIP_CERT", "SECRET"})
    temporary = Path((tmp_path / "repository" / "temporary").read_text().strip())
    assert not temporary.exists()


def test_the_last_ten_runs_are_kept(tmp_path: Path) -> None:
    kept = tmp_path / "home" / ".cache" / "difftvm-ci"
    for second in range(12):
        (kept / f"20200101T0000{second:02}Z-abc").mkdir(parents=True)
    assert run(tmp_path, code=21).returncode == 21
    names = sorted(path.name for path in kept.iterdir())
    assert len(names) == 10
    assert (kept / names[-1] / "code").read_text() == "21\n"
    assert (kept / names[-1] / "log").read_text().splitlines()[-1] == "the summary"
