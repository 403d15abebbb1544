"""The list that was shown last: a number on a command line is a number of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from fuzzer.system.files import write_atomically
from fuzzer.system.state_folder import state_folder
from generators.plain_file import MOST_DOCUMENT, read_plain

NAME = "last-list.json"


def keep(folders: Sequence[Path]) -> None:
    """Remember the folders of a list, in its order. Where that cannot be written, numbers name nothing."""
    with suppress(OSError):
        state_folder().mkdir(parents=True, exist_ok=True)
        write_atomically(state_folder() / NAME, msgspec.json.encode([str(each.absolute()) for each in folders]))


def read() -> list[Path]:
    """The folders of the list that was shown last; none where there was none."""
    try:
        return list(map(Path, msgspec.json.decode(read_plain(state_folder() / NAME, MOST_DOCUMENT), type=list[str])))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
