"""Folders that are installed once for all commands of a user: toolchains and bare environments.

Such a folder has a record, which is written last, by a rename. A folder without it was left by an interrupted
installation.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from generators.graph import Invalid


def cache() -> Path:
    """`$XDG_CACHE_HOME/difftvm`, where the variable is not set `~/.cache/difftvm`."""
    folder = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(folder) if os.path.isabs(folder) else Path.home() / ".cache") / "difftvm"


@contextmanager
def new_folder(folder: Path, record: str) -> Iterator[Path]:
    """An empty folder. It is removed again where it gets no file `record`. Folders of interrupted installations beside
    it are removed first. The caller holds the lock."""
    sweep(folder.parent, record)
    folder.mkdir()
    try:
        yield folder
    finally:
        if not (folder / record).exists():
            shutil.rmtree(folder, ignore_errors=True)


def sweep(parent: Path, record: str) -> None:
    """Remove the folders that interrupted installations left."""
    for folder in parent.iterdir():
        if folder.is_dir() and not (folder / record).exists():
            shutil.rmtree(folder)


@contextmanager
def locked(parent: Path, what: str) -> Iterator[None]:
    """Allow one installation in a folder at a time, so that `sweep` never removes a folder that another process fills.
    Raise `Invalid` where another process holds the lock; `what` begins its sentence."""
    parent.mkdir(parents=True, exist_ok=True)
    with (parent / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Invalid(f"{what} is running; try again when it has finished") from None
        yield
