"""Commands of fuzz that run in the process of the test: an interpreter takes a second to start and to import them."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys

import pytest

from fuzzer.cli import main


def fuzz(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """Run a command with these arguments, and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["cli.py", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def completed(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command with these arguments, and return its exit code and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = fuzz(monkeypatch, *arguments)
    return subprocess.CompletedProcess(list(map(str, arguments)), code, out.getvalue(), err.getvalue())
