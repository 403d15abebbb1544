"""Functions with which commands print."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys

import msgspec


def program() -> str:
    """The name with which this command was called: `fuzz` where the path has it, else a relative path."""
    called = sys.argv[0]
    if called.endswith(".py"):
        return "python -m fuzzer.cli"
    return "fuzz" if shutil.which("fuzz") == os.path.abspath(called) else os.path.relpath(called)


def next_line(*words: object) -> str:
    """A line that tells the user which command to call next, quoted for a shell."""
    return f"next: {program()} {shlex.join(map(str, words))}"


def print_json(value: object) -> None:
    print(msgspec.json.format(msgspec.json.encode(value)).decode())


def say(text: str) -> None:
    """Print a line of progress to stderr. The work continues where stderr is closed: after `fuzz run 2>&1 | tee log`,
    Ctrl-C ends `tee` too."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)
