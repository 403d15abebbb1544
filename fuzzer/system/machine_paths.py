"""Remove what names the user's machine from what compilers print: it tells nothing about a bug, and it is private."""

from __future__ import annotations

import os
import pwd
import re
import socket
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from fuzzer.system import host_name
from fuzzer.system.child_environment import SOMEBODY

SHORTEST = 8
"""In characters. A shorter name of the machine or its user stays: it may be an ordinary word."""

_SOURCE = str(Path(__file__).parents[2])
_BEGINS = r"(?<![\w.~/-])"
"""Matches where a path can begin: not in the middle of another path or word."""
_SITE_PACKAGES = re.compile(_BEGINS + r"/(?:[^\s/:;,'\"()<>]+/)*(site|dist)-packages(?=/)")

_Patterns = tuple[tuple[re.Pattern[str], str], ...]


def without_machine_paths(text: str, scratch: str = "") -> str:
    """Return the text with general paths: /tmp for `scratch`, the folder that a child writes to; site-packages for
    installed packages; ~ for other files of the user. The names of the machine and its user are replaced too."""
    for pattern, instead in _patterns(scratch, os.path.expanduser("~"), _user(), socket.gethostname()):
        text = pattern.sub(instead, text)
    return text


def with_general_home(path: str) -> str:
    """Return a path or a text with ~ for the user's home folder."""
    for pattern, instead in _of_home(os.path.expanduser("~")):
        path = pattern.sub(instead, path)
    return path


@lru_cache(maxsize=16)
def _patterns(scratch: str, home: str, user: str, host: str) -> _Patterns:
    """Pairs of a pattern and its replacement. The order matters, because one folder may lie in another."""
    return (
        *(_of_scratch(scratch) if scratch else ()),
        (_SITE_PACKAGES, r"\1-packages"),
        *((re.compile(rf"{_BEGINS}{re.escape(folder)}/"), "") for folder in _names_of(_SOURCE)),
        *_of_home(home),
        *_of_names(user, host),
    )


def _of_scratch(scratch: str) -> _Patterns:
    """A child's folder lies in a folder that all children of its toolchain share."""
    folders = [re.escape(folder) for each in (scratch, str(Path(scratch).parent)) for folder in _names_of(each)]
    return ((re.compile(rf"{_BEGINS}(?:{'|'.join(folders)})(?:/[^\s/:;,'\"()<>]+(?=/))*(?![\w.-])"), "/tmp"),)


def _of_home(home: str) -> _Patterns:
    return tuple((re.compile(rf"{_BEGINS}{re.escape(folder)}(?![\w.-])"), "~") for folder in _names_of(home))


def _of_names(user: str, host: str) -> Iterator[tuple[re.Pattern[str], str]]:
    """The names of the user and of the machine, the latter also up to its first dot, where they stand as words."""
    for name, instead in ((user, SOMEBODY), (host, host_name.NAME), (host.partition(".")[0], host_name.NAME)):
        if len(name) >= SHORTEST and name != host_name.NAME:
            yield re.compile(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])"), instead


def _user() -> str:
    """The name of the user; empty where there is none."""
    if name := os.environ.get("LOGNAME") or os.environ.get("USER"):
        return name
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return ""


def _names_of(folder: str) -> list[str]:
    """The folder as it is given, and with symbolic links resolved, as some programs print it. The root directory is
    left out."""
    names = dict.fromkeys((folder, str(Path(folder).resolve())))
    return [name for name in names if len(Path(name).parts) > 1]
