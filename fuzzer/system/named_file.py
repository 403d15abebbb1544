"""Read files that the user names on a command line: Python programs, arrays. A link is followed. What is no regular
file is refused, so that nobody waits for a pipe or opens a device, and the size is bounded."""

from __future__ import annotations

import ast
import errno
import os
import stat
from pathlib import Path

from generators import syntax_tree
from generators.graph import Invalid
from generators.plain_file import NO_FILE, read_descriptor

MOST_SOURCE = 4 << 20
"""The largest program. Parsed, each of its bytes may take a hundred bytes of memory."""


def read_named(path: Path, most: int) -> bytes:
    """The contents of a file. Raise OSError where it cannot be read, is no regular file, or has more than `most`
    bytes."""
    descriptor = _opened(path)
    try:
        return read_descriptor(descriptor, path, most)
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    """A regular file, opened to be read. What is none is not opened: that alone may start something in a device."""
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        mode = os.fstat(place).st_mode
        if stat.S_ISDIR(mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, NO_FILE, str(path))
        return os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError as error:  # of the file, whose name the user knows
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        os.close(place)


def parsed(source: bytes, path: Path) -> ast.Module:
    """The tree of a Python program. Raise SyntaxError where it is none, `Invalid` where Python's compiler gives up."""
    try:
        tree = syntax_tree.parse(source, str(path))
        compile(tree, str(path), "exec")
        return tree
    except ValueError as error:  # a null byte
        raise Invalid(f"{path}: {error}") from None
    except (MemoryError, RecursionError):
        raise Invalid(f"{path}: an expression in it is nested too deeply") from None
