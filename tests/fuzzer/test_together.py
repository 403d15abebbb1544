"""Several commands on one campaign at the same time: one writes, many read. The lanes are those without a compiler."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT / 'benchmarks' / 'fast_lanes'}{os.pathsep}{ROOT}"}


def fuzz(*words: object) -> list[str]:
    return [sys.executable, "-m", "fuzzer.cli", *map(str, words)]


def done(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(fuzz(*words), capture_output=True, text=True, env=ENVIRONMENT, timeout=300)


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A campaign that runs, and has finished tests."""
    options = ("--workers", 1, "--seed", 1, "--random", "--lanes", "relax-export-raw-llvm", "--drain", 0)
    command = fuzz("run", "--campaign", tmp_path / "c", *options)
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 300
        while finished_in(tmp_path / "c") == 0 and time.monotonic() < deadline:
            time.sleep(0.2)
        yield process
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 0


def finished_in(campaign: Path) -> int:
    status = done("status", "--json", "--campaign", campaign)
    return int(json.loads(status.stdout)["own_tests"]) if status.returncode == 0 else 0


def test_a_second_writer_is_refused_with_the_pid_of_the_first(tmp_path: Path, writer: subprocess.Popen[bytes]) -> None:
    for verb in (("run",), ("triage", "--work")):
        second = done(*verb, "--campaign", tmp_path / "c")
        assert second.returncode == 64
        assert second.stderr.strip().endswith(f"process {writer.pid} runs this campaign")


@pytest.mark.long
def test_ten_readers_beside_a_writer(tmp_path: Path, writer: subprocess.Popen[bytes]) -> None:
    with ThreadPoolExecutor(10) as pool:
        counts = list(pool.map(lambda _: finished_in(tmp_path / "c"), range(20)))
    assert min(counts) > 0
    assert writer.poll() is None
    assert finished_in(tmp_path / "c") >= max(counts)


@pytest.mark.long
def test_a_merge_during_a_run(tmp_path: Path, writer: subprocess.Popen[bytes]) -> None:
    before = finished_in(tmp_path / "c")
    merged = done("merge", tmp_path / "c", "--into", tmp_path / "into")
    assert merged.returncode == 0, merged.stderr
    (origin,) = json.loads(done("status", "--json", "--campaign", tmp_path / "into").stdout)["origins"]
    assert origin[2] >= before
    assert done("status", "--campaign", tmp_path / "into").returncode == 0
