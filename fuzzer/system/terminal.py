"""Functions with which commands print."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
from pathlib import Path

import msgspec


def program() -> str:
    """The name with which this command was called: `fuzz` where the path has it, else a relative path."""
    called = sys.argv[0]
    if called.endswith(".py"):
        return "python -m fuzzer.cli"
    return "fuzz" if shutil.which("fuzz") == os.path.abspath(called) else os.path.relpath(called)


def command(*words: object) -> str:
    """A command of this program, quoted for a shell."""
    return f"{program()} {shlex.join(map(str, words))}"


def campaign_option(folder: Path) -> tuple[object, ...]:
    """The words that name a campaign in a command; none where it is the working directory."""
    return () if folder.resolve() == Path.cwd() else ("--campaign", folder)


def next_line(*words: object) -> str:
    """A line that tells the user which command to call next."""
    return f"next: {command(*words)}"


def print_json(value: object) -> None:
    print(msgspec.json.format(msgspec.json.encode(value)).decode())


def say(text: str) -> None:
    """Print a line of progress to stderr. The work continues where stderr is closed: after `fuzz run 2>&1 | tee log`,
    Ctrl-C ends `tee` too."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)
