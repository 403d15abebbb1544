"""Each name that users may call is documented. `make docs` writes `public_surface.txt`, which says what they are."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import difftvm

PAGES = [Path(__file__).parents[3] / "docs" / name for name in ("library.md", "passes.md", "pytest.md")]


def test_each_public_name_is_documented() -> None:
    pages = "\n".join(page.read_text() for page in PAGES)
    for name in difftvm.__all__:
        assert inspect.getdoc(getattr(difftvm, name)), name
        assert re.search(rf"\b{name}\b", pages), name
