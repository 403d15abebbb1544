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


def number_of(count: int, what: str) -> str:
    """1 test, 2 tests."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


_CONTROL = (*range(9), *range(11, 32), *range(127, 160))
_DIRECTION = (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_ESCAPED = {code: f"\\x{code:02x}" for code in _CONTROL} | {code: f"\\u{code:04x}" for code in _DIRECTION}


def printable(text: str) -> str:
    """A text that may come from a file or a child, as a terminal may show it: control characters and changes of the
    writing direction are escape sequences. Lines and tabs stay."""
    return text.translate(_ESCAPED).encode(errors="backslashreplace").decode()


MOST_CHARACTERS = 299
"""The longest sentence about an error. It may quote names from a file that somebody else has written."""


def one_sentence(text: str) -> str:
    """An error in one printable line of at most `MOST_CHARACTERS`. The middle of a longer one is left out, because it
    begins with the file and ends with what to do."""
    line = printable(" ".join(text.split()))
    half = (MOST_CHARACTERS - len(_LEFT_OUT)) // 2
    return line if len(line) <= MOST_CHARACTERS else f"{line[:half]}{_LEFT_OUT}{line[-half:]}"


_LEFT_OUT = " [...] "


def echo(*texts: object, sep: str = " ", end: str = "\n", flush: bool = False) -> None:
    """Print texts as the terminal may show them."""
    print(*(printable(str(text)) for text in texts), sep=sep, end=end, flush=flush)


def print_json(value: object) -> None:
    echo(msgspec.json.format(msgspec.json.encode(value)).decode())


def say(text: str) -> None:
    """Print a line of progress to stderr. The work continues where stderr is closed: after `fuzz run 2>&1 | tee log`,
    Ctrl-C ends `tee` too."""
    with contextlib.suppress(OSError):
        print(printable(text), file=sys.stderr, flush=True)
