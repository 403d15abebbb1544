"""Nothing uses the network unless it is asked to."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tvm

WATCH = """
import os
import sys


def watch(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname") or (
        event in ("socket.connect", "socket.sendto", "socket.bind") and isinstance(arguments[1], tuple)
    ):
        with open(@FILE@, "a") as file:
            file.write(f"{event} {arguments[1:]} {sys.orig_argv}\\n")


sys.addaudithook(watch)
open(@STARTED@, "a").write(f"{os.getpid()}\\n")
"""


@pytest.mark.long
def test_a_campaign_runs_without_a_network(tmp_path: Path) -> None:
    """Each Python process of the run reports what it looks up and where it connects. Where the system allows it, the
    run also has no network interface."""
    used, started = tmp_path / "used", tmp_path / "started"
    text = WATCH.replace("@FILE@", repr(str(used))).replace("@STARTED@", repr(str(started)))
    (tmp_path / "sitecustomize.py").write_text(text)
    alone = ["unshare", "-rn"]
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], capture_output=True).returncode:
        alone = []
    options = ("--seed", "1", "--tests", "1", "--workers", "1", "--drain", "0", "--campaign", str(tmp_path / "c"))
    done = subprocess.run(
        [*alone, sys.executable, "-m", "fuzzer.cli", "run", *options],
        capture_output=True,
        text=True,
        timeout=400,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(__file__).parents[2]}"},
    )
    assert done.returncode == 0, done.stderr
    assert not used.exists(), used.read_text()
    assert len(started.read_text().splitlines()) >= 2, "the supervisor and its zygote were watched"
