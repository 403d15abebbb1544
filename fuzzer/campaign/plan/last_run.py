"""When the last run of a campaign began: `last-run.json`. What was found since is new."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from fuzzer.campaign.store.layout import ASIDE
from fuzzer.system.files import write_atomically
from fuzzer.system.untrusted_files import free_for_file
from generators.plain_file import MOST_DOCUMENT, read_plain

NAME = "last-run.json"


class LastRun(msgspec.Struct, forbid_unknown_fields=True):
    """`began` is a Unix time in seconds."""

    began: float


def begin(folder: Path) -> None:
    """Write that a run begins now."""
    free_for_file(folder / NAME, folder / ASIDE)
    write_atomically(folder / NAME, msgspec.json.encode(LastRun(float(int(time.time())))))


def began(folder: Path) -> float | None:
    """When the last run began, as Unix time; None where none is recorded. Then nothing is new."""
    try:
        return msgspec.json.decode(read_plain(folder / NAME, MOST_DOCUMENT), type=LastRun).began
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
