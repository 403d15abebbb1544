"""A campaign on a disk that has space and no room for more files: it pauses, and ends when its time is used up, or on a
signal. The lanes are those without a compiler."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.programs("mount", "umount")]

ROOT = Path(__file__).parents[2]
PATIENCE = 90
"""Seconds, with the start and the end of all processes. A run that waits for the disk takes longer, see `DRAIN`."""

DRAIN = 600

TOO_FEW_TO_BEGIN, TOO_FEW_TO_GO_ON = 8, 30


@pytest.fixture(params=[TOO_FEW_TO_BEGIN, TOO_FEW_TO_GO_ON])
def small_disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    options = f"size=64m,nr_inodes={request.param}"
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", tmp_path], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


@contextmanager
def campaign(folder: Path, *words: object) -> Iterator[subprocess.Popen[str]]:
    path = f"{ROOT / 'benchmarks' / 'fast_lanes'}{os.pathsep}{ROOT}"
    options = ("--seed", 1, "--random", "--lanes", "relax-export-raw-llvm", "--workers", 2, "--disk-reserve", 0)
    command = [sys.executable, "-m", "fuzzer.cli", "run", "--campaign", folder, *options, "--drain", DRAIN, *words]
    with subprocess.Popen(
        list(map(str, command)), env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_it_ends_when_its_time_is_used_up(small_disk: Path) -> None:
    with campaign(small_disk, "--seconds", 8) as process:
        _, text = process.communicate(timeout=PATIENCE)
    assert "paused: " in text
    assert (process.returncode, "Traceback" in text) == (0, False)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_it_ends_on_a_signal(small_disk: Path, number: signal.Signals) -> None:
    with campaign(small_disk) as process:
        assert process.stderr is not None
        assert any(line.startswith("paused: ") for line in process.stderr)
        process.send_signal(number)
        _, text = process.communicate(timeout=PATIENCE)
    assert (process.returncode, "Traceback" in text) == (0, False)
