"""What commands print, and how they call themselves."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys

import msgspec


def program() -> str:
    """How this command was called: `fuzz` where that is on the path, else the way to it."""
    called = sys.argv[0]
    if called.endswith(".py"):
        return "python -m fuzzer.cli"
    return "fuzz" if shutil.which("fuzz") == os.path.abspath(called) else os.path.relpath(called)


def next_line(*words: object) -> str:
    """What to call next, as a shell takes it."""
    return f"next: {program()} {shlex.join(map(str, words))}"


def print_json(value: object) -> None:
    print(msgspec.json.format(msgspec.json.encode(value)).decode())


def say(text: str) -> None:
    """Progress, for people: stderr. Where nobody reads it any more (`fuzz run 2>&1 | tee log`, and Ctrl-C ends both),
    the work goes on all the same."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)
