"""A campaign whose lane reads the environment of every process that it can: no secret gets into a finding."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tvm

CANARY = "ghp_canary7f3a91c2"

READS_EVERYTHING = """
import os
from pathlib import Path

import tvm
from tvm import relax


def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def environments():
    pid = os.getpid()
    while pid > 1:
        try:
            yield Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
        except OSError as error:
            yield str(error)
        pid = parent(pid)


def memory():
    try:
        Path(f"/proc/{parent(os.getppid())}/mem").open("rb").close()
    except OSError as error:
        return error.strerror
    return "open"


def build(*arguments, **more):
    found = [line for text in environments() for line in text.split(chr(0)) if "CANARY" in line or "TOKEN" in line]
    print(Path(@FILE@).read_text(), flush=True)
    print(f"memory of the supervisor: {memory()}", flush=True)
    raise tvm.error.InternalError(f"read memory: {memory()}; " + " | ".join(found) + " and " + Path(@FILE@).read_text())


relax.build = build
"""


def enters_a_namespace() -> bool:
    program = "from fuzzer.system import user_namespace; print(user_namespace.enter())"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "True"


def test_no_file_of_a_campaign_holds_a_secret_that_a_lane_could_read(tmp_path: Path) -> None:
    """It gets the token from the supervisor's environment, if that shows it, and from a file."""
    token, preload, campaign = tmp_path / "token", tmp_path / "preload.py", tmp_path / "campaign"
    token.write_text(f"<{CANARY}>")
    preload.write_text(READS_EVERYTHING.replace("@FILE@", repr(str(token))))
    surrounded = {**os.environ, "GITHUB_TOKEN": CANARY, "HF_TOKEN": CANARY, "NO_CANARY": "stays", "CANARY_URL": "x"}
    surrounded["DIFFTVM_CHILD_ENVIRONMENT"] = "NO_CANARY"
    options = ("--seed", "1", "--tests", "1", "--workers", "1", "--ops", "relu", "--lanes", "relax-export-llvm")
    command = [
        sys.executable,
        "-m",
        "fuzzer.cli",
        "run",
        *options,
        "--campaign",
        str(campaign),
        "--preload",
        str(preload),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=surrounded)
    assert done.returncode == 0, done.stderr
    assert CANARY not in done.stdout + done.stderr
    (issue,) = campaign.glob("crashes/*/issue.md")
    text = issue.read_text()
    assert "NO_CANARY=stays" in text, "the lane read no environment"
    assert "CANARY_URL" not in text, "it is not on the list of what children inherit"
    assert f"<{'*' * len(CANARY)}>" in text
    if os.geteuid() != 0 or enters_a_namespace():
        assert "read memory: Permission denied" in text
    holding = [path for path in campaign.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]
    assert holding == []
