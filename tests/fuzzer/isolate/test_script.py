"""How a finding's script is run: what it gets, and how its end is read."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fuzzer.isolate import script
from fuzzer.isolate.child_process import Bounds
from fuzzer.isolate.reports import ScriptRun
from fuzzer.system import processes
from fuzzer.system.environment import MachineLacks
from fuzzer.toolchains.preload import Preload
from fuzzer.toolchains.toolchain import HOST, Toolchain

pytestmark = pytest.mark.slow

SMALL = Bounds(wall_seconds=0.2, memory_bytes=200 << 20)


def run(source: str, folder: Path, toolchain: Toolchain = HOST, bounds: Bounds = Bounds()) -> ScriptRun:
    return script.run(source, toolchain, bounds, folder)


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("import sys; sys.exit(1)", 1),
        ("", 0),
        ("import sys; sys.exit(125)", 125),
        ("import os; os.abort()", -6),
    ],
)
def test_the_exit_code_is_the_answer(source: str, code: int, tmp_path: Path) -> None:
    assert run(source, tmp_path) == ScriptRun(code)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_relative_to_the_working_directory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a campaign in the current directory, the default."""
    monkeypatch.chdir(tmp_path)
    assert run("import sys; sys.exit(1)", Path("scripts")).shows


def test_only_1_shows_the_bug() -> None:
    assert ScriptRun(1).shows
    assert not any(ScriptRun(code).shows for code in (0, 2, 125, -11, None))


def test_what_an_old_script_says_with_2_is_understood() -> None:
    assert ScriptRun(2).description == "cannot tell whether the bug is there (exit code 2)"


def test_secrets_and_the_folders_of_ours_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    monkeypatch.chdir(Path(__file__).parents[3])
    monkeypatch.delenv("PYTHONPATH", raising=False)
    source = "import os, sys\nsys.exit(3 if 'GITHUB_TOKEN' in os.environ or os.path.exists('fuzzer') else 1)"
    assert run(source, tmp_path).shows


def test_the_environment_of_the_toolchain_is_there(tmp_path: Path) -> None:
    there = Toolchain("own", sys.executable, {"OWN_TVM": "here"})
    assert run("import os, sys; sys.exit(os.environ.get('OWN_TVM') == 'here')", tmp_path, there).shows


def test_what_is_preloaded_is_the_argument(tmp_path: Path) -> None:
    preloaded = Toolchain("host", sys.executable, preload=Preload("/a/wrong_relu.py", "1"))
    assert run("import sys; sys.exit(sys.argv[1:] == ['/a/wrong_relu.py'])", tmp_path, preloaded).shows


def test_a_script_that_does_not_come_back_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "START_SECONDS", 0.5)
    assert run("import time; time.sleep(600)", tmp_path, bounds=SMALL) == ScriptRun(None, "it took more than 2 s")


def test_a_script_that_waits_for_a_processor_does_not_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "START_SECONDS", 0.01)
    monkeypatch.setattr(script, "RUNS", 0)
    slow = "import time; time.sleep(1)"
    assert run(slow, tmp_path) == ScriptRun(None, "it took more than 0 s")
    monkeypatch.setattr("fuzzer.system.process_tree.waits", lambda pid: {pid: time.monotonic()})
    assert run(slow, tmp_path) == ScriptRun(0)
    monkeypatch.setattr("fuzzer.system.process_clock.LEAST_SECONDS", 0.0)
    with pytest.raises(MachineLacks, match="the machine is too busy: a process waited "):
        run(slow, tmp_path)


IN_A_TERMINAL = """
import fcntl, sys, termios
from pathlib import Path
from fuzzer.isolate import script
from fuzzer.isolate.child_process import Bounds
from fuzzer.toolchains.toolchain import HOST

fcntl.ioctl(0, termios.TIOCSCTTY, 0)
open("/dev/tty").close()
sys.exit(script.run("open('/dev/tty')", HOST, Bounds(), Path(sys.argv[1])).exit_code)
"""


def test_it_has_no_terminal(tmp_path: Path) -> None:
    """What may only read a terminal may type into it, too (TIOCSTI)."""
    controller, terminal = os.openpty()
    command = [sys.executable, "-c", IN_A_TERMINAL, str(tmp_path)]
    ended = subprocess.run(command, stdin=terminal, stderr=subprocess.PIPE, text=True, start_new_session=True)
    os.close(controller)
    os.close(terminal)
    assert (ended.returncode, ended.stderr) == (1, ""), "the script has an exception"


@pytest.mark.parametrize(("targets", "bounded"), [([], True), (["llvm", "opencl"], True), (["cuda"], False)])
def test_the_kernel_bounds_it_too(targets: list[str], bounded: bool, tmp_path: Path) -> None:
    source = f"""
import sys
from resource import RLIM_INFINITY, RLIMIT_CPU, RLIMIT_DATA, RLIMIT_FSIZE, getrlimit
data = getrlimit(RLIMIT_DATA)
assert data[0] == data[1] and ({processes.TIMES} * {SMALL.memory_bytes} <= data[0] < 1 << 30) == {bounded}, data
assert getrlimit(RLIMIT_CPU)[1] < 10 * 3600 * {os.cpu_count()}
sys.exit(getrlimit(RLIMIT_FSIZE) == ({processes.MOST_FILE_BYTES}, {processes.MOST_FILE_BYTES}))
"""
    assert script.run(source, HOST, Bounds(memory_bytes=SMALL.memory_bytes), tmp_path, targets=targets).shows


EATS = "x = bytearray(300 << 20); import time; time.sleep(60)"


def test_a_script_that_takes_too_much_memory_is_ended(tmp_path: Path) -> None:
    assert run(EATS, tmp_path, bounds=SMALL) == ScriptRun(None, "it took more than 200 MiB")


def test_a_process_of_the_script_that_takes_too_much_memory_dies_as_it_did_in_its_lane(tmp_path: Path) -> None:
    source = f"import subprocess, sys\nsys.exit(subprocess.run([sys.executable, '-c', {EATS!r}]).returncode == -9)"
    assert run(source, tmp_path, bounds=SMALL).shows


def test_its_cpu_seconds_are_counted(tmp_path: Path) -> None:
    source = "import time\nwhile time.process_time() < 0.3: pass"
    assert script.run(source, HOST, Bounds(), tmp_path).cpu_seconds >= 0.3


def test_a_signal_that_this_machine_lacks_has_its_number() -> None:
    assert ScriptRun(-11).description == "ends with SIGSEGV"
    assert ScriptRun(-999).description == "ends with signal 999"
