"""The examples of docs/examples, as far as this machine runs them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"

FUZZ = """#!/bin/bash
printf '%s\\n' "$@" > arguments
trap 'echo ended > how; exit 3' TERM
echo started > started
while :; do sleep 0.05; done
"""


@pytest.mark.programs("systemd-analyze")
def test_systemd_takes_the_service(tmp_path: Path) -> None:
    text = (EXAMPLES / "difftvm.service").read_text()
    assert text.count("/opt/difftvm/.venv/bin/fuzz") == 1
    unit = tmp_path / "difftvm.service"
    unit.write_text(text.replace("/opt/difftvm/.venv/bin/fuzz", sys.executable))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
    assert (done.returncode, [line for line in done.stderr.splitlines() if "difftvm.service" in line]) == (0, [])


@pytest.fixture
def job(tmp_path: Path) -> tuple[list[str], dict[str, str]]:
    fuzz = tmp_path / "fuzz"
    fuzz.write_text(FUZZ)
    fuzz.chmod(0o755)
    of_slurm = {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_CPUS_PER_TASK": "8"}
    return ["bash", str(EXAMPLES / "difftvm.slurm")], {**os.environ, **of_slurm, "FUZZ": str(fuzz)}


@pytest.mark.programs("bash")
def test_a_slurm_job_passes_its_share_and_the_end_on(tmp_path: Path, job: tuple[list[str], dict[str, str]]) -> None:
    """As `--signal=B:TERM` does, the shell alone is signalled."""
    command, environment = job
    with subprocess.Popen([*command, "--lanes", "relax-*"], env=environment, cwd=tmp_path) as shell:
        deadline = time.monotonic() + 20
        while not (tmp_path / "started").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        shell.send_signal(signal.SIGTERM)
        assert shell.wait(20) == 3, "what fuzz exits with"
    assert (tmp_path / "how").read_text() == "ended\n"
    assert (tmp_path / "arguments").read_text().split() == [
        *("run", "--seed", "1", "--share", "2/4", "--workers", "8"),
        *("--campaign", str(tmp_path / "campaigns" / "2-of-4"), "--lanes", "relax-*"),
    ]
