"""The lock of a campaign, which one process holds at a time, and whether a folder is a campaign."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import IO

from fuzzer.campaign import index, state
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
                raise Busy(f"{folder}: process {held_by or '?'} runs this campaign") from None
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


def is_campaign(folder: Path) -> bool:
    """Whether a folder is a campaign. A campaign that is starting the compilers has only its lock."""
    return (folder / index.NAME).exists() or (folder / state.NAME).exists() or holder(folder) is not None


def why_no_index(folder: Path) -> str:
    """Say in one sentence why a folder has no index, and what to do about it."""
    held_by = holder(folder)
    if held_by is not None:
        return f"{folder}: process {held_by or '?'} is just starting this campaign; nothing of it is written yet"
    if (folder / state.NAME).exists():
        return f"{folder}: this campaign has no index; `fuzz status --repair --campaign {folder}` makes one"
    if folder.exists() and not folder.is_dir():
        return f"{folder}: no campaign, but a file"
    return f"{folder}: no campaign; `fuzz run --campaign {folder}` starts one"
