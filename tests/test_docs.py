"""What README.md and docs/ quote of findings: a reader who tries a command must find the finding that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from oracles.finding import Kind

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "crashes" / "README.md"]
SLUG = re.compile(rf"\b(?:{'|'.join(sorted(Kind, key=len, reverse=True))})-[A-Za-z0-9.-]+?-[0-9a-f]{{12}}\b")
EXAMPLE = re.compile(r"\bexample\b", re.I)


def quoted(text: str) -> Iterator[tuple[str, bool]]:
    """Each finding that a page names, and whether it stands in an example's output: in a block of code whose last line
    of text before it has the word "example"."""
    in_code, said = False, ""
    for line in text.splitlines():
        if line.startswith("```"):
            in_code = not in_code
        elif not in_code and line.strip():
            said = line
        for slug in SLUG.findall(line):
            yield slug, in_code and EXAMPLE.search(said) is not None


def missing(text: str) -> list[str]:
    """Findings that a page names as if they were shipped, and that are not."""
    return [slug for slug, example in quoted(text) if not example and not (ROOT / "crashes" / slug).is_dir()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_finding_that_a_page_names_is_shipped_or_an_example(page: Path) -> None:
    assert missing(page.read_text()) == []


def test_a_finding_that_is_not_there_is_noticed() -> None:
    slug = "wrong-value-relu-0123456789ab"
    assert missing(f"Run it:\n\n```\n$ fuzz --replay crashes/{slug}\n```\n") == [slug]
    assert missing(f"For example, in a campaign of yours:\n\n```\n{slug}\n```\n") == []
    assert missing(f"For example {slug}, or another.\n") == [slug]


def test_the_model_that_the_readme_shows_is_that_of_the_finding_that_it_replays() -> None:
    section = (ROOT / "README.md").read_text().partition("## How to read a finding\n")[2]
    (slug,) = set(re.findall(r"fuzz --replay crashes/(\S+)", section))
    model = re.findall(r"```python\n(.*?)```", section, re.S)[0]
    assert model in (ROOT / "crashes" / slug / "repro.py").read_text()
