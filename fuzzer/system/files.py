"""Files that are there whole or not at all, whatever kills the process or the machine."""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from generators.plain_file import plain_files

_KEEP_SIZE, _PUNCH_HOLE = 1, 2
_LIBC = ctypes.CDLL(None, use_errno=True)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace `path` by `data`: written beside it, synced, renamed."""
    temporary = path.with_name(f".tmp-{path.name}-{os.getpid()}")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """A new folder of these files: made beside it under a name that begins with `.tmp-`, synced, renamed. Raises
    OSError, where one is in the way too."""
    temporary = Path(tempfile.mkdtemp(prefix=".tmp-", dir=path.parent))
    try:
        for name, data in files.items():
            write_synced(temporary / name, data)
        sync_folder(temporary)
        temporary.chmod(0o755)
        temporary.rename(path)
    except OSError:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync_folder(path.parent)


def copy_folder(folder: Path, to: Path, changed: Callable[[bytes], bytes] = bytes) -> None:
    """A new folder with the same files, as `write_folder` makes it; `changed` gives what is written of each. They keep
    their times, which say when a finding was made. Raises OSError where one of them is a link."""
    files = {name: changed(data) for name, data in plain_files(folder).items()}
    write_folder(to, files)
    for name in files:
        times = (folder / name).lstat()
        os.utime(to / name, ns=(times.st_atime_ns, times.st_mtime_ns))


def write_synced(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Make renames inside a folder durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def forget_all_but(descriptor: int, tail: int, room: int) -> None:
    """Give back what the beginning of a file takes on the disk, where it takes more than `room` bytes: but for its last
    `tail` bytes it reads as zeros from then on (fallocate(2)). Its size stays, and so does where others write in it."""
    told = os.fstat(descriptor)
    if 512 * told.st_blocks > room:
        mode = ctypes.c_int(_KEEP_SIZE | _PUNCH_HOLE)
        _LIBC.fallocate(descriptor, mode, ctypes.c_int64(0), ctypes.c_int64(max(0, told.st_size - tail)))
