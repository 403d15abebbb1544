"""Write files and folders so that they are complete or absent, also after the process or the machine was killed."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from fuzzer.system import untrusted_files
from fuzzer.system.secrets import blanked
from generators import plain_file
from generators.graph import Invalid
from generators.plain_file import NO_FILE, plain_files

SECOND_NAME = "the file has a second name, a hard link"

_KEEP_SIZE, _PUNCH_HOLE = 1, 2
_LIBC = ctypes.CDLL(None, use_errno=True)


LINK = "it is a link, and nothing is written through one"

_STREAMS = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))
"""Folders whose links lead to open files, as `/dev/stdout` does."""


def write_atomically(path: Path, data: bytes, below: Path | None = None) -> None:
    """Replace the contents of `path` by `data`: write a temporary file beside it, sync it, rename it. Raise OSError
    where it cannot be written; the file is then as before, or complete. A link, a device or a pipe is not replaced.
    Where `below` is given, no folder between it and the file may be a link."""
    _require_replaceable(path)
    with opened_folder(path.parent, below or path.parent) as folder:
        _replace(folder / path.name, data)


def write_output(path: Path, data: bytes) -> None:
    """Write a file that the user named. A device or a pipe is written to, and stays; nobody waits for the reader of a
    pipe. All else is as with `write_atomically`."""
    if not is_stream(path):
        write_atomically(path, data)
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    os.set_blocking(descriptor, True)
    try:
        with open(descriptor, "wb") as file:
            file.write(blanked(data))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def is_stream(path: Path) -> bool:
    """Whether a file that the user named is a device, a pipe, or a link that leads to an open file."""
    try:
        mode = path.lstat().st_mode
    except OSError:  # `write_atomically` says what is wrong
        return False
    if stat.S_ISLNK(mode):
        return path.parent in _STREAMS
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".tmp-{path.name}-{os.getpid()}")
    untrusted_files.remove(untrusted_files.real(temporary))  # it may be anything
    try:
        write_synced(temporary, data)
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _require_replaceable(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, LINK, str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, NO_FILE, str(path))


@contextlib.contextmanager
def opened_folder(path: Path, below: Path | None = None) -> Iterator[Path]:
    """The path of an open folder (proc(5)), which stays the same folder when another process renames it or puts a link
    in its place. Raise OSError where it is a link or no folder, and, where `below` is given, where a folder between the
    two is one: a campaign may come from elsewhere, and lanes may change it. `below` itself may be a link. Errors inside
    name `path`."""
    descriptor = _opened(path, path.parent if below is None else below)
    opened = Path(f"/proc/self/fd/{descriptor}")
    try:
        yield opened
    except OSError as error:
        if isinstance(error.filename, str | Path) and Path(error.filename).is_relative_to(opened):
            error.filename = str(path / Path(error.filename).relative_to(opened))
        raise
    finally:
        os.close(descriptor)


def _opened(path: Path, below: Path) -> int:
    descriptor, at = os.open(below, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC), below
    for name in path.relative_to(below).parts:
        above, at = descriptor, at / name
        try:
            descriptor = os.open(name, untrusted_files.STEP, dir_fd=above)
        except OSError as error:
            raise OSError(error.errno, LINK if at.is_symlink() else error.strerror, str(at)) from None
        finally:
            os.close(above)
    return descriptor


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Make a new folder with these files. It is written beside `path` under a name that begins with `.tmp-`, synced and
    renamed. Raise OSError where it cannot be written, where `path` exists already, or where the folder above it is a
    link; nothing of it remains then."""
    with opened_folder(path.parent) as above:
        _write_folder(above / path.name, files)


def _write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    temporary = Path(tempfile.mkdtemp(prefix=".tmp-", dir=path.parent))
    try:
        for name, data in files.items():
            write_synced(temporary / name, data)
        sync_folder(temporary)
        temporary.chmod(0o755)
        temporary.rename(path)
    except OSError:
        untrusted_files.remove(untrusted_files.real(temporary))
        raise
    try:
        sync_folder(path.parent)
    except OSError:  # a caller that tries again must not find it
        untrusted_files.remove(untrusted_files.real(path))
        raise


def own_folder(path: Path, default: Path) -> Path:
    """A folder that a command writes to. Raise `Invalid` where it is the default, below the working directory, and a
    link: it may come with a checkout of somebody else. A link that the user names is followed."""
    if path == default and path.is_symlink():
        raise Invalid(f"{path}: {LINK}; remove it, or name a folder")
    return path


def make_folder(path: Path, below: Path | None = None) -> None:
    """Make a folder, and the folders above it, where they do not exist. Its name is synced, so that what is written in
    it later cannot be lost with it. Where `below` is given, raise OSError where the folder or one between the two is a
    link."""
    if below is None:
        if not path.is_dir():
            make_folder(path.parent)
            path.mkdir(exist_ok=True)
            sync_folder(path.parent)
        return
    make_folder(below)
    above = below
    for name in path.relative_to(below).parts:
        with opened_folder(above, below) as opened, contextlib.suppress(FileExistsError):
            (opened / name).mkdir()
            sync_folder(opened)
        above /= name
    with opened_folder(path, below):
        pass  # it is a folder


def remove_folder(path: Path) -> None:
    """Remove a folder that others read: it is renamed first, and the new name is synced, so that nobody finds a part of
    it. Raise FileNotFoundError where there is none. What a kill leaves begins with `.tmp-`. The folder above it must
    not be a link."""
    with opened_folder(path.parent) as above:
        renamed = above / f".tmp-{path.name}"
        (above / path.name).rename(renamed)
        sync_folder(above)
        untrusted_files.remove(untrusted_files.real(renamed))


def copy_folder(folder: Path, to: Path, names: Collection[str]) -> None:
    """Make a new folder with the files of another that have these names, as `write_folder` does. The files keep their
    times, which show when a finding was made. Raise OSError where a file is a link."""
    files = plain_files(folder, names)
    write_folder(to, files)
    with opened_folder(to.parent) as above, opened_folder(above / to.name) as copy:
        for name in files:
            times = (folder / name).lstat()
            os.utime(copy / name, ns=(times.st_atime_ns, times.st_mtime_ns), follow_symlinks=False)


def open_plain(path: Path, mode: str) -> IO[Any]:
    """Open a regular file of a campaign. Raise OSError where it is a link, a pipe or anything else: nothing is
    read or written through these, and nobody waits for them. A file with a second name is not opened to write."""
    return open(path, mode, opener=_plain)  # the caller closes it


def _plain(path: str, flags: int) -> int:
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        why = plain_file.LINK if error.errno == errno.ELOOP else error.strerror
        raise OSError(error.errno, why, path) from None
    status = os.fstat(descriptor)
    writes = flags & (os.O_WRONLY | os.O_RDWR)
    if why := _why_not_plain(status.st_mode, status.st_nlink if writes else 1):
        os.close(descriptor)
        raise OSError(errno.EINVAL, why, path)
    return descriptor


def _why_not_plain(mode: int, names: int) -> str:
    if not stat.S_ISREG(mode):
        return NO_FILE
    return SECOND_NAME if names > 1 else ""


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


@contextlib.contextmanager
def opened_again(file: IO[bytes]) -> Iterator[int]:
    """A descriptor of an open file for another process, with flags and a position of its own. With a copy of the
    descriptor, the process could set O_DIRECT, after which a read here fails (open(2))."""
    descriptor = os.open(f"/proc/self/fd/{file.fileno()}", os.O_RDWR | os.O_CLOEXEC)
    try:
        yield descriptor
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
