"""A command of fuzz that runs in the process of the test."""

from __future__ import annotations

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
