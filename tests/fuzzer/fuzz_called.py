"""What tests of the command line share: what a call of `fuzz` gives, and how one ends that is refused."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

Fuzz = Callable[..., subprocess.CompletedProcess[str]]

DONE, BAD_INPUT, ENVIRONMENT = 0, 64, 69


def refused(done: subprocess.CompletedProcess[str], *parts: object) -> None:
    """Check for exit code 64, one line on stderr that contains all `parts`, and nothing on stdout."""
    assert done.returncode == BAD_INPUT, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("fuzz: ")
    assert done.stderr.count("\n") == 1
    for part in parts:
        assert str(part) in done.stderr
