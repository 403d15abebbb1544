"""The forms in which `fuzz diff` writes its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fuzzer.difference.reports import junit, markdown, sarif
from fuzzer.difference.verdict import Comparison

FORMS: Mapping[str, Callable[[Comparison], str]] = {
    "markdown": markdown.page,
    "junit": junit.document,
    "sarif": sarif.document,
}
"""By the name of its option, the function that writes a form."""
