"""Remove paths of the user's machine from what compilers print: they tell nothing about a bug, and they are private."""

from __future__ import annotations

import os.path
import re
from functools import lru_cache
from pathlib import Path

_SOURCE = str(Path(__file__).parents[2])
_BEGINS = r"(?<![\w.~/-])"
"""Matches where a path can begin: not in the middle of another path or word."""
_SITE_PACKAGES = re.compile(_BEGINS + r"/(?:[^\s/:;,'\"()<>]+/)*(site|dist)-packages(?=/)")


def without_machine_paths(text: str, scratch: str) -> str:
    """Return the text with general paths: /tmp for `scratch`, the folder that a child writes to; site-packages for
    installed packages; ~ for other files of the user."""
    for pattern, instead in _patterns(scratch, os.path.expanduser("~")):
        text = pattern.sub(instead, text)
    return text


@lru_cache(maxsize=16)
def _patterns(scratch: str, home: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Pairs of a pattern and its replacement. The order matters, because one folder may lie in another. A child's
    folder lies in a folder that all children of its toolchain share."""
    scratches = [re.escape(folder) for each in (scratch, str(Path(scratch).parent)) for folder in _names_of(each)]
    return (
        (re.compile(rf"{_BEGINS}(?:{'|'.join(scratches)})(?:/[^\s/:;,'\"()<>]+(?=/))*(?![\w.-])"), "/tmp"),
        (_SITE_PACKAGES, r"\1-packages"),
        *((re.compile(rf"{_BEGINS}{re.escape(folder)}/"), "") for folder in _names_of(_SOURCE)),
        *((re.compile(rf"{_BEGINS}{re.escape(folder)}(?![\w.-])"), "~") for folder in _names_of(home)),
    )


def _names_of(folder: str) -> list[str]:
    """The folder as it is given, and with symbolic links resolved, as some programs print it. The root directory is
    left out."""
    names = dict.fromkeys((folder, str(Path(folder).resolve())))
    return [name for name in names if len(Path(name).parts) > 1]
