"""A file that is preloaded is read and executed once; where that fails, one sentence gives the reason."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_device import fake_gpu

from fuzzer.isolate.device_pool import DevicePool
from fuzzer.isolate.sine_case import sine_case as sine
from fuzzer.toolchains.preload import Preload, PreloadFailed, execute, read
from fuzzer.toolchains.toolchain import HOST
from generators.graph import Invalid
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Ran

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _no_module_stays() -> Iterator[None]:
    yield
    sys.modules.pop("__preload__", None)


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.py"
    path.write_text(text)
    return path


def failing(path: Path) -> str:
    """The message about the file, after its path."""
    with pytest.raises(PreloadFailed) as caught:
        execute(read(path))
    message = str(caught.value)
    assert message.startswith(f"--preload {path}")
    assert "\n" not in message
    return message.removeprefix(f"--preload {path}")


def test_it_is_named_by_its_absolute_path_and_its_contents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "x = 1\n")
    monkeypatch.chdir(tmp_path)
    preload = read(Path("mine.py"))
    assert preload == Preload(str(tmp_path / "mine.py"), hashlib.sha256(b"x = 1\n").hexdigest())
    assert preload.note == f"mine.py {preload.sha256[:12]}"
    assert Preload(*preload.arguments) == preload


def test_it_is_a_module_that_stays(tmp_path: Path) -> None:
    text = "import inspect\nlater = []\ndef add():\n    later.append(__file__)\n    return later\n"
    preload = read(written(tmp_path, text))
    assert execute(preload) == {"preload": preload.note}
    module = sys.modules["__preload__"]
    assert module.add() == [preload.path]
    assert module.inspect.getsource(module.add).startswith("def add():")


def test_reading_executes_nothing(tmp_path: Path) -> None:
    read(written(tmp_path, "raise SystemExit(3)\n"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\nx = (\n", ", line 2: SyntaxError: '(' was never closed"),
        ("if x:\ny = 1\n", ", line 2: IndentationError: expected an indented block after 'if' statement on line 1"),
    ],
)
def test_what_is_no_python_is_bad_input(tmp_path: Path, text: str, says: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(Invalid, match=f"^{re.escape(f'--preload {path}{says}')}$"):
        read(path)


@pytest.mark.parametrize("name", ["nosuch.py", ""])
def test_what_is_no_file_is_bad_input(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    why = "Is a directory" if name == "" else "No such file or directory"
    with pytest.raises(Invalid, match=f"^{re.escape(f'--preload {path}: {why}')}$"):
        read(path)


def test_nobody_waits_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "mine.py")
    with pytest.raises(Invalid, match=r"mine\.py: it is not a regular file$"):
        read(tmp_path / "mine.py")


def test_what_is_nested_too_deeply_is_bad_input(tmp_path: Path) -> None:
    path = written(tmp_path, f"x = {'-' * 200_000}1\n")
    with pytest.raises(Invalid, match=f"^{re.escape(f'--preload {path}: an expression in it is nested too deeply')}$"):
        read(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\nraise ValueError('no\\nmore')\n", ", line 2: ValueError: no"),
        ("def f():\n    assert False\n\nf()\n", ", line 2: AssertionError"),
        ("import json\n\njson.loads('{')\n", ", line 3: JSONDecodeError: Expecting property name"),
        ("import nosuchmodule\n", ", line 1: ModuleNotFoundError: No module named 'nosuchmodule'"),
        ("import sys\nsys.exit(3)\n", ", line 2: SystemExit: 3"),
    ],
)
def test_an_error_of_the_preloaded_file_is_reported_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    assert failing(written(tmp_path, text)).startswith(says)


def test_a_thread_that_the_preloaded_file_leaves_behind_is_reported(tmp_path: Path) -> None:
    """A child that was forked would wait for it for ever."""
    text = "import threading\nend = threading.Event()\nthreading.Thread(target=end.wait, daemon=True).start()\n"
    assert failing(written(tmp_path, text)) == ": it leaves 1 threads behind, which no forked process has"
    sys.modules["__preload__"].end.set()


def test_another_text_than_was_read_is_not_executed(tmp_path: Path) -> None:
    path = written(tmp_path, "x = 1\n")
    preload = read(path)
    path.write_text("raise SystemExit(4)\n")
    with pytest.raises(PreloadFailed, match=r": it was changed since the command began$"):
        execute(preload)
    path.unlink()
    with pytest.raises(PreloadFailed, match=r"mine\.py: No such file or directory$"):
        execute(preload)


def test_the_worker_of_a_device_executes_it_too(tmp_path: Path) -> None:
    text = "import sys\nimport numpy\nsys.modules['__device__'].OPERATORS['sin'] = numpy.cos\n"
    preload = read(written(tmp_path, text))
    device = fake_gpu(tmp_path)
    lane = LaneSpec("honest", Engine.FAULTY, variant="honest")
    with DevicePool(tmp_path / "scratch", [device], replace(HOST, preload=preload)) as pool:
        outcome = pool.run(sine(), (lane,)).outcomes[lane]
        assert pool.versions == {"device": "fake", "preload": preload.note}
    assert isinstance(outcome, Ran)
    assert outcome.outputs[0].tobytes() == np.cos(sine().inputs["x0"]).tobytes()


def test_a_device_whose_worker_cannot_execute_it_is_not_used(tmp_path: Path) -> None:
    preload = read(written(tmp_path, "\nraise ValueError('not here')\n"))
    device = fake_gpu(tmp_path)
    lane = LaneSpec("honest", Engine.FAULTY, variant="honest")
    with DevicePool(tmp_path / "scratch", [device], replace(HOST, preload=preload)) as pool:
        pool.run(sine(), (lane,))
        assert f"--preload {preload.path}, line 2: ValueError: not here" in pool.quarantined[device]
