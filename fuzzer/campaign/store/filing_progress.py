"""`filing.json` in a campaign: what `--auto-file` has filed, and why findings wait. `fuzz status` reads it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from fuzzer.system.files import write_atomically
from fuzzer.system.storage_errors import WRONG_FILE
from fuzzer.system.terminal import printable
from generators.graph import Invalid
from generators.plain_file import read_plain

NAME = "filing.json"
MOST_BYTES = 1 << 20


class Progress(msgspec.Struct, frozen=True):
    """filed    issues that this run has filed
    waiting  findings that are tried again
    trouble  why the first of them waits; empty where none does
    """

    filed: int = 0
    waiting: int = 0
    trouble: str = ""

    def line(self) -> str:
        """One line for people; empty where nothing waits."""
        findings = f"{self.waiting} finding{'s' if self.waiting != 1 else ''}"
        return f"{findings} could not be filed yet: {printable(self.trouble)}" if self.waiting else ""


def write(campaign: Path, progress: Progress) -> None:
    """Replace the file. What JSON cannot hold of an error, as a lone surrogate, becomes an escape sequence."""
    trouble = progress.trouble.encode(errors="backslashreplace").decode()
    write_atomically(campaign / NAME, msgspec.json.encode(msgspec.structs.replace(progress, trouble=trouble)))


def read(campaign: Path) -> Progress:
    """What the file has; nothing where there is none. Raise `Invalid` where it is damaged."""
    path = campaign / NAME
    if not path.exists() and not path.is_symlink():
        return Progress()
    try:
        return msgspec.json.decode(read_plain(path, MOST_BYTES), type=Progress)
    except OSError as error:
        if error.errno not in WRONG_FILE:
            raise
        raise Invalid(f"{path}: {error.strerror}; remove it") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{path}: {error}; remove it") from None
