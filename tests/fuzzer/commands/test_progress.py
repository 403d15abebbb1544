"""What long commands show on a terminal, and what they print when SIGINT ends them."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fuzzer import cli
from fuzzer.commands import bisect, blame, corpus, gen, minimize, replay, sweep
from fuzzer.toolchains import registry

pytestmark = pytest.mark.slow


def interrupted(*_: Any, **__: Any) -> Any:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("arguments", "module", "name", "kept"),
    [
        ("blame {saved}", blame, "find", "nothing is saved; {saved} is unchanged"),
        ("bisect {saved}", bisect, "Release", "nothing is saved; {saved} is unchanged"),
        ("replay {saved}", replay.replaying, "replay", "nothing is saved; {saved} is unchanged"),
        ("minimize {saved}", minimize.minimizing, "run", "nothing is saved; {saved} is unchanged"),
        ("corpus --run", corpus.shipped, "run", "nothing is saved; 0 runs were done"),
        ("gen --count 9", gen, "generate_cases", "nothing is saved; 0 of 9 were generated"),
        ("gen --count 9 --out c", gen, "generate_cases", "0 of 9 cases are in c"),
        ("sweep --out s", sweep.taking, "gather", "no sample is kept; the next sweep takes them again"),
    ],
)
def test_an_interrupted_command_prints_in_one_line_what_is_kept_and_exits_with_130(
    saved: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: str,
    module: Any,
    name: str,
    kept: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "names", list)
    monkeypatch.setattr(module, name, interrupted)
    for each in (bisect, blame, replay):
        monkeypatch.setattr(each, "Fleet", IdleFleet)
    monkeypatch.setattr(sys, "argv", ["fuzz", *arguments.format(saved=saved).split()])
    before = {path: path.read_bytes() for path in saved.iterdir()}
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 130
    assert capsys.readouterr().err.splitlines()[-1] == f"interrupted: {kept.format(saved=saved)}"
    assert {path: path.read_bytes() for path in saved.iterdir()} == before


class IdleFleet:
    """A fleet that starts nothing."""

    def __init__(self, *_: Any) -> None:
        self.versions = {"tvm": "0.27.0"}

    def __enter__(self) -> IdleFleet:
        return self

    def __exit__(self, *_: Any) -> None: ...

    def backend(self, place: Any) -> IdleFleet:
        return self

    run_fresh = interrupted


def fuzz(*arguments: object, stderr: int) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), "TERM": "xterm"}
    command = [sys.executable, "-m", "fuzzer.cli", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, env=environment)


def all_output(terminal: int) -> bytes:
    read = b""
    try:
        while piece := os.read(terminal, 4096):
            read += piece
    except OSError:  # on Linux: no process has the other end open
        pass
    return read


def test_the_progress_line_is_on_the_terminal_and_stdout_has_only_the_result(tmp_path: Path) -> None:
    terminal, other_end = pty.openpty()
    process = fuzz("gen", "--count", 300, "--out", tmp_path / "cases", stderr=other_end)
    os.close(other_end)
    shown = all_output(terminal)
    assert process.stdout is not None
    out = process.stdout.read()
    assert process.wait() == 0
    assert b"generating cases: " in shown
    assert b"of 300" in shown
    (line,) = out.splitlines()
    assert line.startswith(b"300 cases in ")


def test_after_sigint_the_number_of_written_cases_is_printed(tmp_path: Path) -> None:
    process = fuzz("gen", "--count", 100000, "--out", tmp_path / "c", stderr=subprocess.PIPE)
    while len(list(tmp_path.glob("c/*/case.json"))) < 5:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (130, b"")
    (line,) = err.decode().splitlines()
    assert line.startswith("interrupted: ")
    done = int(line.split()[1])
    assert line == f"interrupted: {done} of 100000 cases are in {tmp_path / 'c'}"
    assert done <= len(list(tmp_path.glob("c/*/case.json"))) <= done + 1
