"""Write files and folders so that they are complete or absent, also after the process or the machine was killed."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import IO, Any

from fuzzer.system.secrets import blanked
from generators.plain_file import LINK, NO_FILE, plain_files

_KEEP_SIZE, _PUNCH_HOLE = 1, 2
_LIBC = ctypes.CDLL(None, use_errno=True)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the contents of `path` by `data`: write a temporary file beside it, sync it, rename it. Raise OSError
    where it cannot be written; the file is then as before, or complete."""
    temporary = path.with_name(f".tmp-{path.name}-{os.getpid()}")
    temporary.unlink(missing_ok=True)  # it may be a link
    try:
        write_synced(temporary, data)
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Make a new folder with these files. It is written beside `path` under a name that begins with `.tmp-`, synced and
    renamed. Raise OSError where it cannot be written, or where `path` exists already; nothing of it remains then."""
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
    try:
        sync_folder(path.parent)
    except OSError:  # a caller that tries again must not find it
        shutil.rmtree(path, ignore_errors=True)
        raise


def make_folder(path: Path) -> None:
    """Make a folder, and the folders above it, where they do not exist. Its name is synced, so that what is written in
    it later cannot be lost with it."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(exist_ok=True)
        sync_folder(path.parent)


def make_own_folder(path: Path) -> None:
    """Make a folder of child processes, one of which may have put something else in its place, or in that of the folder
    above it: a file or a link goes. Nothing is written through a link."""
    if not path.parent.is_dir():
        path.parent.unlink(missing_ok=True)
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    path.mkdir(parents=True, exist_ok=True)


def remove_folder(path: Path) -> None:
    """Remove a folder that others read: it is renamed first, and the new name is synced, so that nobody finds a part of
    it. Raise FileNotFoundError where there is none. What a kill leaves begins with `.tmp-`."""
    renamed = path.with_name(f".tmp-{path.name}")
    path.rename(renamed)
    sync_folder(path.parent)
    shutil.rmtree(renamed, ignore_errors=True)


def copy_folder(folder: Path, to: Path, names: Collection[str]) -> None:
    """Make a new folder with the files of another that have these names, as `write_folder` does. The files keep their
    times, which show when a finding was made. Raise OSError where a file is a link."""
    files = plain_files(folder, names)
    write_folder(to, files)
    for name in files:
        times = (folder / name).lstat()
        os.utime(to / name, ns=(times.st_atime_ns, times.st_mtime_ns))


def open_plain(path: Path, mode: str) -> IO[Any]:
    """Open a regular file of a campaign. Raise OSError where it is a link, a pipe or anything else: nothing is
    read or written through these, and nobody waits for them."""
    return open(path, mode, opener=_plain)  # the caller closes it


def _plain(path: str, flags: int) -> int:
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise OSError(error.errno, LINK if error.errno == errno.ELOOP else error.strerror, path) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, NO_FILE, path)
    return descriptor


def write_synced(path: Path, data: bytes) -> None:
    """Write a new file and sync it. Secrets in it are blanked."""
    with path.open("xb") as file:
        file.write(blanked(data))
        file.flush()
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Make renames inside a folder durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def keep_only_tail(descriptor: int, tail: int, limit: int) -> None:
    """Free the disk space of all but the last `tail` bytes of a file that takes more than `limit` bytes on the disk.

    The freed part reads as zeros (fallocate(2)). The size of the file does not change, so that a process which writes
    to it continues at the same offset."""
    status = os.fstat(descriptor)
    if 512 * status.st_blocks > limit:
        mode = ctypes.c_int(_KEEP_SIZE | _PUNCH_HOLE)
        _LIBC.fallocate(descriptor, mode, ctypes.c_int64(0), ctypes.c_int64(max(0, status.st_size - tail)))
