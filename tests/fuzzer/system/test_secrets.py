"""Secrets of the user's environment reach no child, and what a child sends of them is blanked."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from multiprocess.connection import Connection

from fuzzer.isolate import protocol
from fuzzer.system import secrets
from fuzzer.system.files import copy_folder, write_atomically, write_folder
from oracles.outcome import Stage

CANARY = "canary-0123456789"
PR_GET_DUMPABLE = 3  # prctl.h


@pytest.fixture(autouse=True)
def _own_secrets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The environment comes back after a test, and nothing of it is blanked then."""
    monkeypatch.setattr(secrets, "_removed", {})
    monkeypatch.setattr(secrets, "_moved", {})
    monkeypatch.setattr(secrets, "_needles", set())
    before = dict(os.environ)
    yield
    os.environ.update(before)


@pytest.mark.parametrize(
    "name",
    [
        *("GITHUB_TOKEN", "GH_TOKEN", "token", "AWS_SECRET_ACCESS_KEY", "UV_INDEX_MINE_PASSWORD", "OPENAI_API_KEY"),
        *("PGPASSWORD", "MYSQL_PWD", "GITHUB_PAT", "OPENAI_KEY", "DB_PASS", "NPM_AUTH", "DOCKER_AUTH_CONFIG"),
        *("TORCH_AUTH", "CONDA_KEY", "DIFFTVM_PAT", "SENTRY_DSN", "CI_JOB_JWT", "MY_APIKEY"),
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert secrets.is_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "TOKENIZERS_PARALLELISM", "SSH_AUTH_SOCK", "KEYBOARD", "MAX_TOKENS", "PWD", "OLDPWD"),
        *("XAUTHORITY", "PYTHONPATH", "LD_LIBRARY_PATH", "MANPATH"),
    ],
)
def test_names_of_other_variables(name: str) -> None:
    assert not secrets.is_secret(name)


def test_a_secret_leaves_the_environment_and_is_handed_over_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", CANARY)
    monkeypatch.setenv("GITHUB_TOKEN", "other-secret")
    secrets.remove_from_environment()
    assert not {"RAY_AUTH_TOKEN", "GITHUB_TOKEN"} & set(os.environ)
    assert secrets.removed("RAY_") == {"RAY_AUTH_TOKEN": CANARY}
    assert [secrets.pop("GITHUB_TOKEN"), secrets.pop("GITHUB_TOKEN")] == ["other-secret", ""]
    assert secrets.blanked(b"other-secret stays blanked") == b"************ stays blanked"


def test_what_a_child_sends_is_blanked_and_keeps_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = 'canary "quoted"'
    monkeypatch.setenv("MY_PASSWORD", secret)
    secrets.remove_from_environment()
    child, supervisor = (Connection(end.detach()) for end in socket.socketpair())
    raised = protocol.DidRaise(0, Stage.RUN, "ValueError", f"<{secret}>", [])
    protocol.send(child, raised, secret.encode())
    message, payload = protocol.receive(supervisor)
    assert isinstance(message, protocol.DidRaise)
    assert set(message.text) == {"<", "*", ">"}
    assert bytes(payload) == b"*" * len(secret)


def test_a_short_value_is_taken_but_not_blanked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "run")
    secrets.remove_from_environment()
    assert "MY_TOKEN" not in os.environ
    assert secrets.blanked(b"it runs") == b"it runs"


def test_a_password_in_a_url_stays_in_this_process_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "http://me:canary%2d0123@proxy.invalid:3128/x?a=b@c"
    monkeypatch.setenv("HTTPS_PROXY", url)
    secrets.remove_from_environment()
    assert os.environ["HTTPS_PROXY"] == url
    assert secrets.removed() == {}
    assert secrets.blanked(b"canary-0123 canary%2d0123 me") == b"*********** ************* me"


@pytest.mark.parametrize(
    ("text", "passwords"),
    [
        ("https://a-token@host/x", ["a-token"]),
        ("http://a:p1@x https://b:p2@y", ["p1", "p2"]),
        ("https://host/a:b@c", []),
        ("me@host:x", []),
    ],
)
def test_passwords_in_urls(text: str, passwords: list[str]) -> None:
    assert secrets.passwords_in(text) == passwords


@pytest.mark.parametrize(
    ("name", "text", "stays"),
    [
        ("PIP_INDEX_URL", f"https://me:{CANARY}@packages.invalid/simple", True),
        ("PGPASSWORD", CANARY, False),
        ("WALLET_SEED", CANARY, True),  # no list knows this name
    ],
)
def test_no_other_process_reads_a_value(name: str, text: str, stays: bool) -> None:
    """Nothing else in the environment is a secret."""
    program = (
        "import contextlib, ctypes, os\n"
        "from fuzzer.system import secrets\n"
        "secrets.remove_from_environment()\n"
        "secrets.remove_from_environment()\n"
        f"print(os.environ.get({name!r}))\n"
        f"print(ctypes.CDLL(None).prctl({PR_GET_DUMPABLE}, 0, 0, 0, 0))\n"
        "with contextlib.suppress(PermissionError):\n"  # then nobody but root may read it
        "    print(open('/proc/self/environ').read())\n"
    )
    environment = {"PATH": os.environ["PATH"], name: text}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    value, dumpable, shown = done.stdout.split("\n", 2)
    assert (value, dumpable) == (text if stays else "None", "0"), done.stderr
    assert CANARY not in shown


def test_a_path_is_removed_and_not_blanked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_KEY", "/home/me/.ssh/id")
    secrets.remove_from_environment()
    assert "SSH_KEY" not in os.environ
    assert secrets.blanked(b"/home/me/.ssh/id") == b"/home/me/.ssh/id"


def test_files_that_are_written_hold_no_secret(tmp_path: Path) -> None:
    secrets.remember(CANARY)
    write_folder(tmp_path / "x", {"a": f"<{CANARY}>".encode()})
    write_atomically(tmp_path / "b", CANARY.encode())
    copy_folder(tmp_path / "x", tmp_path / "y", {"a"})
    assert (tmp_path / "y" / "a").read_text() == f"<{'*' * len(CANARY)}>"
    assert (tmp_path / "b").read_text() == "*" * len(CANARY)
