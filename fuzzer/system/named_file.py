"""Read files that the user names on a command line: Python programs, arrays. A link is followed. What is no regular
file is refused, so that nobody waits for a pipe or reads a device, and the size is bounded."""

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
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
            raise OSError(number, os.strerror(number) if stat.S_ISDIR(mode) else NO_FILE, str(path))
        return read_descriptor(descriptor, path, most)
    finally:
        os.close(descriptor)


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
