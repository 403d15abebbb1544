"""Commands of docs/diff.md, import.md, passes.md and regression.md run as they stand there, with a smaller budget.

`tests/fuzzer/api` runs the examples in Python, and `test_tutorial.py` the tutorial."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_documented_commands import ROOT

DOCS = ROOT / "docs"
HUNG = 3600
"""Seconds after which a command is taken for hung. Results and numbers of tests end a campaign before."""
UNHURRIED = f"--seconds {HUNG} --seed 1"

pytestmark = [pytest.mark.tvm, pytest.mark.pages]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory with the examples, in a home of its own that has an own build of TVM: this interpreter."""
    shutil.copytree(DOCS / "examples", tmp_path / "docs" / "examples")
    python = tmp_path / "tvm" / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return tmp_path


def line(page: str, begin: str) -> str:
    """The command of a page that begins so."""
    (found,) = (each for each in re.findall(r"^\$ (.*)$", (DOCS / page).read_text(), re.M) if each.startswith(begin))
    return str(found)


def run(folder: Path, command: str, more: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in a shell. `more` are options that make it shorter; the last one of its kind counts."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "XDG_STATE_HOME": str(folder / "state"),
        "PYTHONPATH": str(folder / "installed"),
    }
    words = ["/bin/sh", "-c", f"{command} {more}"]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=HUNG)


def test_fuzz_diff_of_two_builds(folder: Path) -> None:
    done = run(folder, line("diff.md", "fuzz toolchain add mine"))
    assert done.returncode == 0, done.stderr
    command = line("diff.md", "fuzz diff --base 0.27.0.post1 --patched mine")
    done = run(folder, command, f"{UNHURRIED} --tests 8 --ops relu,add --lanes relax-export-llvm --workers 2")
    assert done.returncode in (0, 2), done.stderr
    assert "worse: 0 findings\n" in done.stdout, "the builds are equal"
    assert re.search(r"^changed code reached: \d+ of 8 tests$", done.stdout, re.MULTILINE), done.stdout


def test_fuzz_diff_of_a_preloaded_change(folder: Path) -> None:
    command = line("diff.md", "fuzz diff --patched-preload docs/examples/changed_relu.py")
    done = run(folder, command, f"{UNHURRIED} --until-worse 1 --ops relu --lanes relax-export-raw-llvm --workers 2")
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"critical  `torch.relu` gives wrong values.* wrong-value-relu-f42a3714d19c", done.stdout)


def test_a_pass_in_a_campaign(folder: Path) -> None:
    page = (DOCS / "passes.md").read_text()
    (script,) = re.findall(r"```python\n(# my_passes\.py\n.*?)```", page, re.DOTALL)
    (folder / "my_passes.py").write_text(script)
    (folder / "installed").mkdir()
    (folder / "installed" / "my_compiler.py").write_text("def my_pass(mod):\n    return mod\n")
    done = run(folder, line("passes.md", "fuzz run --preload my_passes.py"), "--tests 4 --seed 1 --ops relu --drain 0")
    assert done.returncode == 0, done.stderr
    assert (folder / "my-pass" / "campaign.json").exists()


def test_an_onnx_file_is_imported_run_and_minimized(folder: Path) -> None:
    """What the page prints is what the commands print."""
    page = (DOCS / "import.md").read_text()
    assert "`python docs/examples/half_net.py` writes such a file" in page
    subprocess.run([sys.executable, "docs/examples/half_net.py"], cwd=folder, check=True)
    for begin in ("fuzz import half_net.onnx", "fuzz minimize half_net.onnx"):
        command = line("import.md", begin)
        done = run(folder, command)
        assert done.returncode == 0, done.stderr
        printed = page.partition(f"$ {command}\n")[2]
        for each in (*done.stderr.splitlines(), *done.stdout.splitlines()):
            expected, _, printed = printed.partition("\n")
            assert without_counts(expected) == without_counts(each)
    done = run(
        folder,
        line("import.md", "fuzz run --dialect onnx --campaign half"),
        f"{UNHURRIED} --tests 6 --drain 0",
    )
    assert done.returncode == 0, done.stderr
    assert len((folder / "half" / "corpus" / ".run").read_text().splitlines()) == 4, "each piece ran as it is"


def without_counts(text: str) -> str:
    """A line without the number of calls, which depends on the cores, and without the folder of the command."""
    return re.sub(r"\d+ calls?(, and \d+ more that were not needed)?", "", text).replace(
        f"{Path(sys.executable).parent}/", ""
    )


def test_a_regression_corpus_of_a_campaign(folder: Path) -> None:
    campaign = "fuzz run --campaign hunt --ops relu,exp --tests 8 --seed 3 --workers 2 --drain 0 --triage-share 0"
    commands = (
        campaign,
        line("diff.md", "fuzz toolchain add mine"),
        line("regression.md", "fuzz corpus keep hunt"),
        line("regression.md", "fuzz corpus run kept"),
    )
    for command, more in zip(commands, ("", "", "--cases 4", ""), strict=True):
        done = run(folder, command, more)
        assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "all lanes end as recorded"
