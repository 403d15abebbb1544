"""The whole way with the real compilers: a campaign finds a bug of TVM's, reproduces it ten times, files it over a
connection that breaks, and the token is in no output, file, list of processes or environment."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from desk import REPO
from github_server import Fault, GitHubServer

from fuzzer.filing.ledger import Ledger, Step

pytestmark = pytest.mark.tvm

CANARY = "ghp_canary7f3a91c2"
ROOT = Path(__file__).parents[3]
SECONDS = 1500
"""The longest that a command may take. The first that files makes a bare environment in the cache of the user."""


def shown(*names: str) -> dict[str, bytes]:
    """What `ps e` prints of every process: its words, and its environment."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        for name in names:
            with contextlib.suppress(OSError):  # it has ended
                found[f"{folder.name}/{name}"] = (folder / name).read_bytes()
    return found


def processes_that_show_it() -> list[str]:
    return [where for where, text in shown("cmdline", "environ").items() if CANARY.encode() in text]


def families() -> int:
    """Processes that are a zygote of ours, or a child of one."""
    return sum(b"fuzzer.children.zygote" in text for text in shown("cmdline").values())


def holding_it(*folders: Path) -> list[Path]:
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert files
    return [path for path in files if CANARY.encode() in path.read_bytes()]


Fuzz = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def fuzz(tmp_path: Path) -> Fuzz:
    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        (tmp_path / "temporary").mkdir(exist_ok=True)
        surrounded = {**os.environ, "TMPDIR": str(tmp_path / "temporary"), "PYTHONPATH": str(ROOT)}
        surrounded |= {"DIFFTVM_GITHUB_TOKEN": CANARY, "GITHUB_TOKEN": CANARY}
        command = [sys.executable, "-m", "fuzzer.cli", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=surrounded, cwd=tmp_path)
        assert CANARY not in done.stdout + done.stderr
        return done

    return run


@pytest.mark.long
def test_a_campaign_files_its_finding_and_shows_no_token(fuzz: Fuzz, server: GitHubServer, tmp_path: Path) -> None:
    server.token = CANARY
    server.faults["POST"] = [Fault.CUT_SHORT]
    observed: list[tuple[list[str], int]] = []
    server.on_write = lambda: observed.append((processes_that_show_it(), families()))
    where = ("--repo", REPO, "--base-url", server.url, "--ledger", tmp_path / "filed.sqlite")
    options = ("--ops", "select", "--lanes", "relax-export-llvm", "--seed", 1, "--tests", 1, "--workers", 1)
    ran = fuzz("run", *options, "--scope-share", 0, "--campaign", tmp_path / "c", "--auto-file", *where)
    assert ran.returncode == 0, ran.stderr
    (issue,) = server.issues(REPO)
    assert f"filed: {issue['html_url']}" in ran.stderr
    assert "select" in issue["title"]
    ((showing, zygotes),) = observed
    assert showing == []
    assert zygotes >= 1  # there was somebody to inherit it

    (folder,) = (tmp_path / "c" / "crashes").iterdir()
    again = fuzz("file", folder, "--submit", *where)
    assert (again.returncode, again.stderr) == (0, "")
    assert "filed by an earlier attempt" in again.stdout
    assert len(server.sent) == 1

    server.faults["GET"] = [Fault.ECHO]
    repeated = fuzz("file", "--sync", *where)  # by the server
    assert (repeated.returncode, repeated.stdout) == (76, "")
    assert "403 Forbidden for token <token>" in repeated.stderr

    synced = fuzz("file", "--sync", *where)
    assert synced.returncode == 0, synced.stderr
    with Ledger(tmp_path / "filed.sqlite") as ledger:
        assert [entry.step for entry in ledger.entries()] == [Step.FILED]
        assert holding_it(tmp_path) == []
