"""The lock of a campaign, which one process holds at a time.

It imports little: a second writer is refused before the modules of its command are imported, which takes seconds."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import IO

from fuzzer.system.files import open_plain
from fuzzer.system.storage_errors import WRONG_FILE
from generators.graph import Invalid

LOCK = "campaign.lock"
_TRIES = 4


class Busy(Exception):
    """Another process runs this campaign."""


def locked(folder: Path) -> IO[str]:
    """Take the lock of a campaign. It is held while the returned file is open, and contains the process id. Raise
    `Busy` where another process holds it."""
    path = folder / LOCK
    try:
        file = open_plain(path, "a+")
    except OSError as error:
        if error.errno not in WRONG_FILE:
            raise
        raise Invalid(f"{path}: {error.strerror}") from None
    for attempt in range(_TRIES):  # `holder` takes the lock for a moment
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except OSError:
            if attempt == _TRIES - 1:
                file.seek(0)
                held_by = file.read(20).strip()
                file.close()
                raise Busy(_held(folder, held_by or "?")) from None
            time.sleep(0.05)
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def holder(folder: Path) -> int | None:
    """The id of the process that runs the campaign; None where it does not run."""
    path = folder / LOCK
    try:
        file = open_plain(path, "r")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Invalid(f"{path}: {error.strerror}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            held_by = file.read(20).strip()
            return int(held_by) if held_by.isdecimal() else 0
    return None


def require_free(folder: Path) -> None:
    """Raise `Busy` where another process runs the campaign."""
    if (held_by := holder(folder)) is not None:
        raise Busy(_held(folder, held_by or "?"))


def _held(folder: Path, pid: int | str) -> str:
    return f"{folder}: process {pid} runs this campaign"
