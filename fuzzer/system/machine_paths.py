"""Paths of the user's machine in what compilers print: they say nothing of a bug, and are nobody else's business."""

from __future__ import annotations

import os.path
import re
from functools import lru_cache
from pathlib import Path

_SOURCE = str(Path(__file__).parents[2])
_BEGINS = r"(?<![\w.~/-])"
"""No path goes on here."""
_SITE_PACKAGES = re.compile(_BEGINS + r"/(?:[^\s/:;,'\"()<>]+/)*(site|dist)-packages(?=/)")


def without_machine_paths(text: str, scratch: str) -> str:
    """Files below `scratch`, where a child writes, become files in /tmp. Installed packages become files in
    site-packages, and what else the user has becomes files in ~."""
    for pattern, instead in _patterns(scratch, os.path.expanduser("~")):
        text = pattern.sub(instead, text)
    return text


@lru_cache(maxsize=16)
def _patterns(scratch: str, home: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """In this order, as a path may lie below another one. A child's folder lies in one that the children of its
    toolchain share."""
    scratches = [re.escape(folder) for each in (scratch, str(Path(scratch).parent)) for folder in _names_of(each)]
    return (
        (re.compile(rf"{_BEGINS}(?:{'|'.join(scratches)})(?:/[^\s/:;,'\"()<>]+(?=/))*(?![\w.-])"), "/tmp"),
        (_SITE_PACKAGES, r"\1-packages"),
        *((re.compile(rf"{_BEGINS}{re.escape(folder)}/"), "") for folder in _names_of(_SOURCE)),
        *((re.compile(rf"{_BEGINS}{re.escape(folder)}(?![\w.-])"), "~") for folder in _names_of(home)),
    )


def _names_of(folder: str) -> list[str]:
    """As it is given, and without symbolic links, as some programs print it; the root is no name of anything."""
    names = dict.fromkeys((folder, str(Path(folder).resolve())))
    return [name for name in names if len(Path(name).parts) > 1]
