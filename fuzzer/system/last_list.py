"""The list that was shown last: a number on a command line is a number of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from fuzzer.system.files import write_atomically
from fuzzer.system.state_folder import state_folder
from fuzzer.system.terminal import one_sentence, say
from generators.plain_file import MOST_DOCUMENT, read_plain

NAME = "last-list.json"


def keep(folders: Sequence[Path]) -> None:
    """Remember the folders of a list, in its order. Where that cannot be written, numbers name nothing: the list before
    is deleted, and where that fails too, it is said that numbers are still those of that list."""
    path = state_folder() / NAME
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, msgspec.json.encode([str(each.absolute()) for each in folders]))
    except (OSError, UnicodeEncodeError) as error:  # a name that is not UTF-8
        with suppress(OSError):
            if read():  # what is no list of ours stays
                path.unlink()
        if read():
            why = getattr(error, "strerror", None) or error
            say(one_sentence(f"{path}: {why}; numbers are those of an earlier list, so name folders instead"))


def read() -> list[Path]:
    """The folders of the list that was shown last; none where there was none, or where the file has something else."""
    try:
        names = msgspec.json.decode(read_plain(state_folder() / NAME, MOST_DOCUMENT), type=list[str])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
    return list(map(Path, names)) if all(os.path.isabs(name) and "\0" not in name for name in names) else []
