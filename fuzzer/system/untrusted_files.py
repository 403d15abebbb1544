"""Make, delete and list files and folders that a child or a stranger may have made or replaced. The supervisor uses no
other functions for that, and reads them with `generators.plain_file`.

Each step is relative to an open folder and follows no link, so that nothing outside is reached. Nothing waits for a
pipe or opens a device. A path has no link in it when it is first used (`real`); one that is there later was put there.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
import struct
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

from fuzzer.system.terminal import one_sentence, say

MOST_SECONDS = 20.0
"""A folder that takes longer to delete is left where it is."""

STEP = os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_AT_ONCE = 1000
MOST_LISTED = 1 << 20
"""A folder with more files and folders in it is not listed whole."""

_GET_FLAGS, _SET_FLAGS, _IMMUTABLE, _APPEND = 0x80086601, 0x40086602, 0x10, 0x20  # FS_IOC_GETFLAGS in linux/fs.h


def real(path: Path) -> Path:
    """The path without links in the folders above it. To be called before a child can replace one of them."""
    return path.parent.resolve() / path.name


def make_folder(path: Path) -> None:
    """Make a folder, where there is none. What else is in its place, or in that of the folder above it, is removed."""
    os.close(_made(path))


def new_folder(folder: Path) -> Path:
    """Make a new folder in one that `make_folder` makes."""
    descriptor = _made(folder)
    try:
        return _new_folder(descriptor, folder)
    finally:
        os.close(descriptor)


def new_folder_and_log(folder: Path) -> tuple[Path, IO[bytes]]:
    """Make a new folder, and a file without a name, in a folder that `make_folder` makes."""
    descriptor = _made(folder)
    try:
        return _new_folder(descriptor, folder), tempfile.TemporaryFile(dir=f"/proc/self/fd/{descriptor}")
    except OSError as error:  # it names what is relative to the descriptor
        raise OSError(error.errno, error.strerror, str(folder)) from None
    finally:
        os.close(descriptor)


def remove(path: Path, seconds: float = MOST_SECONDS) -> bool:
    """Delete whatever is there; return whether nothing is left. It takes as much memory and as many descriptors for
    deep folders as for others. Where a folder above it was replaced, nothing is deleted."""
    try:
        above = _opened(path.parent)
    except OSError:
        return not os.path.lexists(path)
    try:
        return _Removal(_mount(above), time.monotonic() + seconds).is_removed(above, path.name)
    finally:
        os.close(above)


class NotListed(Exception):
    """A folder has too much in it to be listed."""


class Listed(NamedTuple):
    """What is in a folder, at any depth.

    way     the names of the folders that it is in; the list changes at the next step
    status  of itself: no link is followed
    """

    way: list[str]
    name: str
    status: os.stat_result


def everything_in(folder: Path, seconds: float, *, mounts: bool = False) -> Iterator[Listed]:
    """What is in a folder and in those below it. It takes two descriptors, however deep they are. What cannot be read,
    or is deleted or moved meanwhile, is left out, and so are other mounts, unless `mounts`. Raise `NotListed` where it
    takes longer than `seconds`, or is more than `MOST_LISTED`, and OSError where the folder itself cannot be read."""
    deadline = time.monotonic() + seconds
    with contextlib.closing(_Walk(folder, mounts)) as walk:
        for number, listed in enumerate(walk):
            if number == MOST_LISTED or time.monotonic() > deadline:
                raise NotListed(f"{folder}: it has more than {number:,} files and folders")
            yield listed


class _Walk:
    """A walk through the folders below an open one."""

    def __init__(self, top: Path, mounts: bool) -> None:
        self._top = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._here = os.dup(self._top)
        self._mount = "" if mounts else _mount(self._top)
        self._way: list[str] = []
        self._above: list[tuple[int, int]] = []
        self._left: list[list[str]] = []

    def close(self) -> None:
        os.close(self._here)
        os.close(self._top)

    def __iter__(self) -> Iterator[Listed]:
        """What is in the folder here, and then in each of its folders."""
        yield from self._listed()
        while self._left:
            if not self._left[-1]:
                self._left.pop()
                if self._way:
                    self._leave()
            elif self._is_entered(self._left[-1].pop()):
                yield from self._listed()

    def _listed(self) -> Iterator[Listed]:
        folders: list[str] = []
        self._left.append(folders)
        with contextlib.suppress(OSError), os.scandir(self._here) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISDIR(status.st_mode):
                        folders.append(entry.name)
                    yield Listed(self._way, entry.name, status)

    def _is_entered(self, name: str) -> bool:
        above = _identity(self._here)
        if not self._is_moved(name, lambda step: not self._mount or _mount(step) == self._mount):
            return False
        self._way.append(name)
        self._above.append(above)
        return True

    def _leave(self) -> None:
        self._way.pop()
        above = self._above.pop()
        if not self._is_moved("..", lambda step: _identity(step) == above):
            self._return()

    def _return(self) -> None:
        """Go from the top to the folder of `_way`, or as far as there are folders."""
        way, self._way, self._above = self._way, [], []
        os.close(self._here)
        self._here = os.dup(self._top)
        while len(self._way) < len(way) and self._is_entered(way[len(self._way)]):
            pass
        del self._left[len(self._way) + 1 :]

    def _is_moved(self, name: str, fits: Callable[[int], bool]) -> bool:
        """Open another folder in place of the one here, if it fits; return whether it was."""
        with contextlib.suppress(OSError):
            step = os.open(name, STEP, dir_fd=self._here)
            try:
                if not fits(step):
                    return False
                inner = os.open(".", _READ | os.O_DIRECTORY, dir_fd=step)
            finally:
                os.close(step)
            os.close(self._here)
            self._here = inner
            return True
        return False


def remove_or_set_aside(path: Path, aside: Path) -> None:
    """Delete whatever is there. What cannot be deleted is moved into the folder `aside`, and that is said."""
    if not remove(path):
        _set_aside(path, aside, "it cannot be deleted")


def free_for_file(path: Path, aside: Path, most: int | None = None) -> None:
    """Move what is in the place of a file of ours into the folder `aside`, and say so, where it is no regular file, is
    a file of another name too, cannot be written, or has more than `most` bytes."""
    if why := _why_not_ours(path, most):
        _set_aside(path, aside, why)


def _why_not_ours(path: Path, most: int | None) -> str:
    try:
        status = path.lstat()
    except OSError:
        return ""
    if not stat.S_ISREG(status.st_mode):
        return "it is not a regular file"
    if status.st_nlink > 1:
        return "it is a file of another name too"
    if most is not None and status.st_size > most:
        return f"it has more than {most:,} bytes"
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError as error:
        return "" if error.errno in _OF_THE_DISK else f"it cannot be written: {error.strerror}"
    return ""


_OF_THE_DISK = (errno.ENOENT, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE)
"""Errors that say nothing of the file."""


def _set_aside(path: Path, aside: Path, why: str) -> None:
    try:
        above, folder = _opened(real(path).parent), _made(real(aside))
        try:
            _make_changeable(above, path.name)
            moved = secrets.token_hex(8)
            os.rename(path.name, moved, src_dir_fd=above, dst_dir_fd=folder)
        finally:
            os.close(folder)
            os.close(above)
    except OSError as error:
        say(one_sentence(f"{path}: {why}, and cannot be moved to {aside}: {error.strerror}"))
    else:
        say(one_sentence(f"{path}: {why}; it is {aside / moved} now"))


def _opened(path: Path) -> int:
    """A descriptor of a folder, for further steps. Raise OSError where a link is on the way."""
    descriptor = os.open("/", STEP)
    for name in path.absolute().parts[1:]:
        descriptor = _step(descriptor, name)
    return descriptor


def _step(folder: int, name: str) -> int:
    """A descriptor of a folder in `folder`, which is closed."""
    try:
        return os.open(name, STEP, dir_fd=folder)
    finally:
        os.close(folder)


def _made(path: Path) -> int:
    """A descriptor of a folder that is there then."""
    names = path.absolute().parts[1:]
    descriptor = os.open("/", STEP)
    for place, name in enumerate(names):
        try:
            is_folder = stat.S_ISDIR(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode)
            if not is_folder and place >= len(names) - 2:
                os.unlink(name, dir_fd=descriptor)
                os.mkdir(name, dir_fd=descriptor)
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=descriptor)
        descriptor = _step(descriptor, name)
    _allow_all(descriptor)
    return descriptor


def _new_folder(descriptor: int, folder: Path) -> Path:
    name = f"tmp{secrets.token_hex(6)}"
    os.mkdir(name, 0o700, dir_fd=descriptor)
    return folder.absolute() / name


@dataclass(frozen=True, slots=True)
class _Removal:
    """The removal of something on one mount, until a time of the monotonic clock."""

    mount: str
    deadline: float

    def is_removed(self, above: int, name: str) -> bool:
        if _is_unlinked(above, name):
            return True
        with self._folder(above, name) as folder:
            return folder is not None and self._is_emptied(folder) and _is_unlinked(above, name)

    def _is_emptied(self, top: int) -> bool:
        """Empty a folder. What is deeper is moved up first, so that no folder is entered from another."""
        while names := _some_names(top):
            lost = 0
            for name in names:
                if self._is_late():
                    return False
                if _is_unlinked(top, name):
                    lost += 1
                    continue
                with self._folder(top, name) as inner:
                    if inner is not None:
                        lost += self._move_up(inner, top) + _is_unlinked(top, name)
            if lost == 0:
                return False
        return True

    def _move_up(self, inner: int, top: int) -> int:
        """Delete the files of a folder, and move its folders into `top`; return how many entries it has lost."""
        lost = 0
        while names := _some_names(inner):
            before = lost
            for name in names:
                if self._is_late():
                    return lost
                if _is_unlinked(inner, name):
                    lost += 1
                    continue
                with self._folder(inner, name) as folder, contextlib.suppress(OSError):
                    if folder is not None:
                        os.rename(name, secrets.token_hex(8), src_dir_fd=inner, dst_dir_fd=top)
                        lost += 1
            if lost == before:
                break
        return lost

    def _is_late(self) -> bool:
        return time.monotonic() > self.deadline

    @contextlib.contextmanager
    def _folder(self, above: int, name: str) -> Iterator[int | None]:
        """A descriptor of a folder that may be read and changed; None where it is none, or the root of a mount."""
        with contextlib.ExitStack() as opened:
            descriptor = None
            with contextlib.suppress(OSError):
                step = os.open(name, STEP, dir_fd=above)
                opened.callback(os.close, step)
                if _mount(step) == self.mount:
                    _allow_all(step)
                    descriptor = os.open(".", _READ | os.O_DIRECTORY, dir_fd=step)
                    opened.callback(os.close, descriptor)
                    _clear_flags(descriptor)
            yield descriptor


def _some_names(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in islice(entries, _AT_ONCE)]


def _is_unlinked(folder: int, name: str) -> bool:
    """Delete a file, or an empty folder; return whether it is gone."""
    for attempt in range(2):
        try:
            os.unlink(name, dir_fd=folder)
            return True
        except FileNotFoundError:
            return True
        except IsADirectoryError:
            break
        except OSError:
            if attempt == 0:
                _make_changeable(folder, name)
    with contextlib.suppress(OSError):
        os.rmdir(name, dir_fd=folder)
        return True
    return False


def _mount(descriptor: int) -> str:
    """Which mount a file is on (proc_pid_fdinfo(5))."""
    with open(f"/proc/self/fdinfo/{descriptor}", encoding="utf-8") as file:
        return next(line for line in file if line.startswith("mnt_id:"))


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def _allow_all(folder: int) -> None:
    mode = stat.S_IMODE(os.fstat(folder).st_mode)
    if mode & stat.S_IRWXU != stat.S_IRWXU:
        with contextlib.suppress(OSError):
            os.chmod(f"/proc/self/fd/{folder}", mode | stat.S_IRWXU)


def _make_changeable(folder: int, name: str) -> None:
    """Clear what forbids to delete or move a file or a folder. Nothing else is opened."""
    with contextlib.suppress(OSError):
        step = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            mode = os.fstat(step).st_mode
            if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
                descriptor = os.open(f"/proc/self/fd/{step}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
                try:
                    _clear_flags(descriptor)
                finally:
                    os.close(descriptor)
        finally:
            os.close(step)


def _clear_flags(descriptor: int) -> None:
    """Clear the flags with which nothing can be deleted (chattr(1)). Only root may, and only some file systems have
    them."""
    with contextlib.suppress(OSError):
        flags = struct.unpack("i", fcntl.ioctl(descriptor, _GET_FLAGS, bytes(4)))[0]
        if flags & (_IMMUTABLE | _APPEND):
            fcntl.ioctl(descriptor, _SET_FLAGS, struct.pack("i", flags & ~(_IMMUTABLE | _APPEND)))
