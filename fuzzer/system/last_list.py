"""The list that was shown last: a number on a command line is a number of it.

Each working directory has a list of its own. A list that another shell shows for another campaign does not change what
a number means here."""

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

MOST = 32
"""The number of working directories whose lists are kept: those in which one was shown last."""


def keep(folders: Sequence[Path]) -> None:
    """Remember the folders of a list, in its order. Where that cannot be written, numbers name nothing: the list before
    is deleted, and where that fails too, it is said that numbers are still those of that list."""
    path = state_folder() / NAME
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lists = _lists()
        lists.pop(os.getcwd(), None)
        lists[os.getcwd()] = [str(each.absolute()) for each in folders]
        write_atomically(path, msgspec.json.encode(dict(list(lists.items())[-MOST:])))
    except (OSError, UnicodeEncodeError) as error:  # a name that is not UTF-8
        with suppress(OSError):
            if read():  # what is no list of ours stays
                path.unlink()
        if read():
            why = getattr(error, "strerror", None) or error
            say(one_sentence(f"{path}: {why}; numbers are those of an earlier list, so name folders instead"))


def read(campaign: Path = Path()) -> list[Path]:
    """The folders of the list that was shown last in this working directory, or else of the last one of this campaign;
    none where there was none, or where the file has something else."""
    try:
        here, inside = os.getcwd(), os.path.realpath(campaign)
    except OSError:  # the working directory is gone
        return []
    lists = {shown: names for shown, names in _lists().items() if all(map(_is_absolute, names))}
    others = (names for names in reversed(lists.values()) if all(_is_below(inside, name) for name in names))
    return list(map(Path, lists.get(here) or next(others, [])))


def _is_absolute(name: str) -> bool:
    return os.path.isabs(name) and "\0" not in name


def _is_below(folder: str, name: str) -> bool:
    return Path(os.path.realpath(name)).is_relative_to(folder)


def _lists() -> dict[str, list[str]]:
    """The lists by the working directories in which they were shown, the latest last."""
    try:
        return msgspec.json.decode(read_plain(state_folder() / NAME, MOST_DOCUMENT), type=dict[str, list[str]])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
