"""A script in a child of a zygote: it sees what an interpreter of its own would show it, and its end is read alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import fakes
import pytest

from fuzzer.isolate import script
from fuzzer.isolate.child_process import Bounds, ZygoteReaper
from fuzzer.isolate.executor import Executor
from fuzzer.isolate.fleet import Fleet
from fuzzer.isolate.reports import ScriptRun
from fuzzer.system import processes
from fuzzer.system.environment import MachineLacks
from fuzzer.toolchains.preload import Preload
from fuzzer.toolchains.toolchain import HOST, Toolchain
from oracles.targets import TARGETS, Runs

pytestmark = [pytest.mark.tvm, pytest.mark.slow]


def run(executor: Executor, source: str) -> ScriptRun:
    return executor.run_script(source)


def test_it_cannot_write_a_file_without_an_end(executor: Executor) -> None:
    assert run(executor, f"open('x', 'wb').truncate({processes.MOST_FILE_BYTES + 1})") == ScriptRun(1)
    assert run(executor, f"open('x', 'wb').truncate({processes.MOST_FILE_BYTES})") == ScriptRun(0)


EXCEPTHOOK = "import sys; sys.excepthook = lambda *error: sys.exit(125)\n"


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("import sys; sys.exit(1)", 1),
        ("", 0),
        ("import sys; sys.exit('a text')", 1),
        ("import sys; sys.exit(-1)", 255),
        ("import sys; sys.exit()", 0),
        ("import os; os.abort()", -6),
        ("1 / 0", 1),
        (f"{EXCEPTHOOK}1 / 0", 125),
        (f"{EXCEPTHOOK}this is no Python", 1),  # it is not compiled, so that its first line does not run
    ],
)
def test_the_exit_code_is_that_of_an_interpreter(executor: Executor, source: str, code: int, tmp_path: Path) -> None:
    assert run(executor, source) == script.run(source, HOST, Bounds(), tmp_path) == ScriptRun(code)


@pytest.mark.parametrize(
    "holds",
    [
        "__name__ == '__main__'",
        "sys.modules['__main__'].__dict__ is globals()",
        "sys.argv == [__file__]",
        "os.getcwd() == os.path.dirname(__file__) == os.environ['TMPDIR'] == tempfile.gettempdir()",
        "os.listdir() == ['repro.py']",
        "os.path.dirname(__file__) not in sys.path",
        "os.getpgid(0) == os.getpid() == os.getsid(0)",
        "gc.isenabled()",
        "cannot_import('fuzzer') and cannot_import('fuzzer.children')",
        "cannot_import('generators.graph') and cannot_import('oracles')",
        "sys.modules.keys() >= {'torch', 'tvm'}",
        "sys.modules['torch._ops'].Callable is collections.abc.Callable",
        "not of_difftvm(sys.modules['torch.export.exported_program']._override_composite_implicit_decomp)",
        "subprocess.run([sys.executable, __file__, 'run']).returncode == 7",
    ],
)
def test_it_sees_what_an_interpreter_of_its_own_shows(executor: Executor, holds: str) -> None:
    source = f"""
import collections.abc, gc, importlib, os, subprocess, sys, tempfile
if sys.argv[1:] == ["run"]:
    sys.exit(7)
def cannot_import(name):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return True
def of_difftvm(function):
    return function.__module__.startswith('fuzzer')
sys.exit(1 if {holds} else 3)
"""
    assert run(executor, source) == ScriptRun(1)


STARTS_ITSELF = """
import os, subprocess, sys
if sys.argv[1:] == ["run"]:
    sys.exit(3 if "torch" in sys.modules and "fuzzer.children" not in sys.modules else 4)
if sys.argv[1:] == ["abort"]:
    os.abort()
"""


@pytest.mark.parametrize(
    "holds",
    [
        "subprocess.run([sys.executable, __file__, 'run']).returncode == 3",
        "subprocess.run([sys.executable, __file__, 'abort']).returncode == -6",
        "subprocess.run([sys.executable, __file__, 'run'], timeout=100).returncode == 4",
        "subprocess.run([sys.executable, '-c', 'import sys; sys.exit(5)']).returncode == 5",
    ],
)
def test_a_script_that_starts_itself_is_forked(executor: Executor, holds: str) -> None:
    """A fork has torch loaded, and an interpreter has not. With a limit of time, an interpreter is started."""
    assert run(executor, f"{STARTS_ITSELF}sys.exit(1 if {holds} else 2)") == ScriptRun(1)


def test_a_child_that_runs_a_script_leaves_nothing_behind(executor: Executor, tmp_path: Path) -> None:
    before = executor.cpu_seconds
    assert run(executor, "import time\nwhile time.process_time() < 0.3: pass") == ScriptRun(0)
    assert executor.cpu_seconds - before >= 0.29
    assert list((executor._scratch / "scripts").iterdir()) == []


def test_bounds_end_it(executor: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "START_SECONDS", 0.3)
    monkeypatch.setattr(executor, "bounds", Bounds(wall_seconds=0.1))
    assert run(executor, "import time; time.sleep(600)") == ScriptRun(None, "it took more than 1 s")


def test_a_zygote_that_has_ended_is_started_anew(executor: Executor) -> None:
    executor._zygote.kill()
    executor._zygote.wait()
    assert run(executor, "import sys; sys.exit(1)") == ScriptRun(1)


@pytest.mark.parametrize("kills", [1, 2])
def test_the_end_of_the_zygote_is_not_the_end_of_the_script(
    kills: int, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test kills the zygote: a script cannot, as its signals reach its own processes only."""
    fork = executor._fork_script
    started: list[int] = []

    def fork_and_kill(path: Path) -> tuple[int, ZygoteReaper]:
        pid, reaper = fork(path)
        started.append(pid)
        if len(started) <= kills:
            executor._zygote.kill()
        return pid, reaper

    monkeypatch.setattr(executor, "_fork_script", fork_and_kill)
    source = "import sys, time; time.sleep(0.5); sys.exit(1)"
    if kills == 1:
        assert run(executor, source) == ScriptRun(1)
    else:
        with pytest.raises(MachineLacks, match=r"^the zygote ended each time$"):
            run(executor, source)
    assert len(started) == 2


def test_a_failure_of_our_own_is_not_the_end_of_the_script(
    executor: Executor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The child cannot enter the folder of the script: it is gone."""
    fork = executor._fork_script

    def fork_elsewhere(path: Path) -> tuple[int, ZygoteReaper]:
        return fork(tmp_path / "gone" / path.name)

    monkeypatch.setattr(executor, "_fork_script", fork_elsewhere)
    with pytest.raises(MachineLacks, match=r"^its child could not begin$"):
        run(executor, "")


def test_what_a_zygote_cannot_do_runs_in_an_interpreter_of_its_own() -> None:
    lanes = [replace(fakes.TVM, target=row.name) for row in TARGETS]
    forked = {lane.target for lane in lanes if script.can_be_forked("", lane, HOST)}
    assert forked == {row.name for row in TARGETS if row.runs in (Runs.HERE, Runs.BY_KERNELS, Runs.NOWHERE)}
    preloaded = Toolchain("host", HOST.python, preload=Preload("/a/wrong_relu.py", "1"))
    assert script.can_be_forked("import tvm\n", fakes.TVM, preloaded)
    starts_others = "import subprocess\nimport tvm\n"
    assert not script.can_be_forked(starts_others, fakes.TVM, preloaded)
    assert script.can_be_forked(starts_others, fakes.TVM, HOST)


def test_a_fleet_can_run_scripts_in_new_interpreters(fleet: Fleet, tmp_path: Path) -> None:
    source = "import sys; sys.exit('torch' in sys.modules)"
    assert fleet.run_script(source, fakes.TVM) == ScriptRun(1)
    with Fleet(tmp_path / "scratch", lambda name: HOST, new_interpreters=True) as other:
        assert other.run_script(source, fakes.TVM) == ScriptRun(0)
