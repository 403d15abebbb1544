"""Each output that a document quotes is written by `make docs`, is compared by a test, or has commit and date."""

from __future__ import annotations

from pathlib import Path

import pytest
from quoted_outputs import COMPARED, unowned
from test_written import PAGES
from written_text import END, ROOT


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_something_keeps_each_output_true(page: Path) -> None:
    assert unowned(str(page.relative_to(ROOT)), page.read_text()) == [], (
        "let `make docs` write it (tests/written/), or write `at COMMIT (DATE)`, those of its run, into the paragraph "
        "before or after it; a drawing is a block of ```text, commands are one of ```sh"
    )


def test_pages_that_tests_compare_are_named_by_them() -> None:
    assert not [page for page, test in COMPARED.items() if Path(page).name not in (ROOT / test).read_text()]


BEGIN = "<!-- written by make docs: n -->"
OUTPUT = "```\n$ fuzz ops\na\n```\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"It prints:\n\n{OUTPUT}", 3),
        ("It prints:\n\n```\na\n```\n", 3),
        ("It prints:\n\n```text\n$ fuzz ops\na\n```\n", 3),
        (f"At 0123abcd (2026-11-28), a run.\n\nIt prints:\n\n{OUTPUT}", 5),
        (f"It prints:\n\n{OUTPUT}\nAfter it.\n\nThat was at 0123abcd (2026-11-28).\n", 3),
        (f"It prints at 0123abcd:\n\n{OUTPUT}", 3),
        (f"{BEGIN}\n{OUTPUT}{END}\n\n{OUTPUT}", 8),
    ],
)
def test_an_output_that_nothing_keeps_true_is_found(text: str, line: int) -> None:
    assert unowned("docs/a.md", text) == [f"docs/a.md:{line}: {text.splitlines()[line]}"]


@pytest.mark.parametrize(
    "text",
    [
        f"{BEGIN}\n{OUTPUT}{END}\n",
        f"It printed, at 0123abcd (2026-11-28):\n\n{OUTPUT}",
        f"On one core,\nat 0123abcd\n(2026-11-28):\n\n{OUTPUT}",
        f"It prints:\n\n{OUTPUT}\nThat was at 0123abcd (2026-11-28).\n\nMore.\n",
        "Run these:\n\n```\n$ fuzz ops\n$ fuzz lanes\n```\n",
        "```text\na --> b\n```\n\n```sh\nfuzz ops  # lists them\n```\n",
    ],
)
def test_other_blocks_need_nothing(text: str) -> None:
    assert unowned("docs/a.md", text) == []


def test_a_page_whose_commands_a_test_runs_needs_nothing() -> None:
    assert unowned("docs/tutorial.md", OUTPUT) == []
