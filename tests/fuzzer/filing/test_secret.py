"""A token does not show itself, and does not stay where it was found."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzer.filing import secret
from fuzzer.filing.secret import Secret
from fuzzer.system.environment import EnvironmentMissing
from generators.graph import Invalid

CANARY = "ghp_canary0123456789"


def test_it_does_not_show_itself() -> None:
    kept = Secret(CANARY)
    assert CANARY not in f"{kept} {kept!r} {[kept]} {kept!s}"
    assert kept.reveal() == CANARY
    assert kept.hidden_in(f"Bearer {CANARY}!") == "Bearer <token>!"
    for copied in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="stays in its process"):
            copied(kept)


@pytest.mark.parametrize("name", secret.VARIABLES)
def test_it_is_taken_out_of_the_environment(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, f" {CANARY}\n")
    taken = secret.of_user(None)
    assert taken.reveal() == CANARY
    assert CANARY not in " ".join(os.environ.values())
    shown = subprocess.run([sys.executable, "-c", "import os; print(os.environ)"], capture_output=True, text=True)
    assert CANARY not in shown.stdout


def test_a_list_of_processes_shows_blanks() -> None:
    """What `ps e` prints is the memory that the process was started with."""
    program = (
        "from fuzzer.filing import secret\n"
        "import contextlib, os\n"
        "def here():\n"
        "    with contextlib.suppress(PermissionError):\n"  # then nobody but root may read it
        "        return open('/proc/self/environ').read()\n"
        "    return ''\n"
        f"assert {CANARY!r} in here()\n"
        "assert secret.from_environment().reveal() == " + repr(CANARY) + "\n"
        f"assert {CANARY!r} not in here()\n"
        "assert 'stays' not in here()\n"
        "assert os.environ['OTHER'] == 'stays'\n"
    )
    surrounded = {**os.environ, "DIFFTVM_GITHUB_TOKEN": CANARY, "OTHER": "stays"}
    done = subprocess.run([sys.executable, "-c", program], env=surrounded, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_projects_own_variable_counts_and_both_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "other")
    monkeypatch.setenv("DIFFTVM_GITHUB_TOKEN", CANARY)
    assert secret.of_user(None).reveal() == CANARY
    assert not set(secret.VARIABLES) & set(os.environ)


def test_a_file_counts_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "other")
    path = tmp_path / "token"
    path.write_text(f"{CANARY}\n")
    path.chmod(0o600)
    assert secret.of_user(path).reveal() == CANARY
    assert "GITHUB_TOKEN" not in os.environ


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_file_that_others_may_read(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "token"
    path.write_text(CANARY)
    path.chmod(mode)
    with pytest.raises(Invalid, match=f"others may read it \\(mode {mode:03o}\\)") as refused:
        secret.of_user(path)
    assert CANARY not in str(refused.value)


@pytest.mark.parametrize("text", ["", "two words", "line\nline", "schlüssel", "a\x07b"])
def test_what_is_no_token_is_not_repeated(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(Invalid) as refused:
        secret.of_user(path)
    assert str(refused.value) == f"{path}: a token is one word of printable characters"


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="No such file"):
        secret.of_user(tmp_path / "none")


def test_none_at_all() -> None:
    with pytest.raises(EnvironmentMissing, match="no token: set DIFFTVM_GITHUB_TOKEN, or name a file"):
        secret.of_user(None)
