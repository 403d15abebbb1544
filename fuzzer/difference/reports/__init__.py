"""The forms in which `fuzz diff` writes its result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from fuzzer.difference.reports import junit, markdown, sarif
from fuzzer.difference.verdict import Comparison
from fuzzer.system.files import is_stream
from generators.graph import Invalid

FORMS: Mapping[str, Callable[[Comparison], str]] = {
    "markdown": markdown.page,
    "junit": junit.document,
    "sarif": sarif.document,
}
"""By the name of its option, the function that writes a form."""


def check_places(paths: Iterable[Path]) -> None:
    """Raise `Invalid` for a file that cannot be written: it is said before a run, and not after it."""
    for path in paths:
        if path.is_dir():
            raise Invalid(f"{path} is a directory; name a file for the report")
        if not path.parent.is_dir():
            raise Invalid(f"{path.parent} is not a directory; make it, or name another place for {path.name}")
        if not is_stream(path) and not os.access(path.parent, os.W_OK):
            raise Invalid(f"{path.parent} cannot be written; name another place for {path.name}")
