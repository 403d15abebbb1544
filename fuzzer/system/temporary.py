"""Temporary folders of commands. What a command leaves that was killed, a later one of the same user deletes."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fuzzer.system import processes, untrusted_files

_NAME = re.compile(r"difftvm-scratch-(\d{1,10})-(\d{1,20})-\w{8}")
"""The process that made the folder, when that began in clock ticks since boot, and random letters."""

_locks: dict[Path, int] = {}
"""The descriptors that hold the locks of this process's folders."""


def new_folder() -> Path:
    """A new folder that is this process's until it ends, or until `remove`. Raise OSError where none can be made."""
    where = Path(tempfile.gettempdir()).resolve()
    _sweep(where)
    prefix = f"difftvm-scratch-{os.getpid()}-{processes.start_time(os.getpid())}-"
    made = Path(tempfile.mkdtemp(prefix=prefix, dir=where))
    _locks[made] = _opened(made)
    _is_locked_now(_locks[made])
    return made


def remove(made: Path) -> None:
    """Delete a folder that `new_folder` has made."""
    untrusted_files.remove(made)
    os.close(_locks.pop(made))


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A new folder, which is deleted at the end."""
    made = new_folder()
    try:
        yield made
    finally:
        remove(made)


def _sweep(where: Path) -> None:
    """Delete the folders of this user whose processes have ended. A process that this one cannot see, as in another
    container, still holds its lock."""
    for name in os.listdir(where):
        parts = _NAME.fullmatch(name)
        if not parts or processes.start_time(int(parts[1])) == int(parts[2]):
            continue
        with contextlib.suppress(OSError):
            descriptor = _opened(where / name)
            try:
                status = os.fstat(descriptor)
                ours = status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) == stat.S_IRWXU
                if ours and _is_locked_now(descriptor):
                    untrusted_files.remove(where / name)
            finally:
                os.close(descriptor)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _is_locked_now(descriptor: int) -> bool:
    """Take the lock of a folder; return whether this process has it. Not every file system has locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
