"""What README.md, docs/ and the other pages quote exists: findings, files, modules, and the targets of links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from oracles.finding import Kind

ROOT = Path(__file__).parents[1]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "crashes" / "README.md",
    ROOT / "corpus" / "README.md",
]
SLUG = re.compile(rf"\b(?:{'|'.join(sorted(Kind, key=len, reverse=True))})-[A-Za-z0-9.-]+?-[0-9a-f]{{12}}\b")
EXAMPLE = re.compile(r"\bexample\b", re.I)
PATH = re.compile(r"(?<![\w./-])(?:fuzzer|generators|oracles|tests|benchmarks)/[\w./*-]*")
MODULE = re.compile(r"(?<![\w./-])(?:fuzzer|generators|oracles)(?:\.\w+)+")
LINK = re.compile(r"\]\(([^)\s]+)\)")

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


# --- findings


def quoted_findings(text: str) -> Iterator[tuple[str, bool]]:
    """Each finding that a page names, and whether it stands in an example's output: in a code block where the last line
    of text before the block has the word "example"."""
    in_code, introduction = False, ""
    for line in text.splitlines():
        if line.startswith("```"):
            in_code = not in_code
        elif not in_code and line.strip() and not line.startswith("<!--"):
            introduction = line
        for slug in SLUG.findall(line):
            yield slug, in_code and EXAMPLE.search(introduction) is not None


def missing_findings(text: str) -> list[str]:
    """Findings that a page names as if they were shipped, and that are not."""
    return [slug for slug, example in quoted_findings(text) if not example and not (ROOT / "crashes" / slug).is_dir()]


@every_page
def test_a_finding_that_a_page_names_is_shipped_or_an_example(page: Path) -> None:
    if page.name not in ("tutorial.md", "diff.md", "around.md"):  # their commands make their findings: see their tests
        assert missing_findings(page.read_text()) == []


def test_a_finding_that_does_not_exist_is_noticed() -> None:
    slug = "wrong-value-relu-0123456789ab"
    assert missing_findings(f"Run it:\n\n```\n$ fuzz --replay crashes/{slug}\n```\n") == [slug]
    assert missing_findings(f"For example, in a campaign of yours:\n\n```\n{slug}\n```\n") == []
    assert missing_findings(f"An example:\n\n<!-- written -->\n```\n{slug}\n```\n") == []
    assert missing_findings(f"For example {slug}, or another.\n") == [slug]


# --- files and modules

RENAMED = "if it was renamed, run `make docs`, with SINCE=COMMIT where the rename is committed"


def missing_paths(text: str) -> list[str]:
    """Paths of the project that a page names, and that match no file."""
    paths = {path.rstrip(".") for path in PATH.findall(text)}
    return sorted(path for path in paths if not any(ROOT.glob(path)))


def is_module(dotted: str) -> bool:
    try:
        return find_spec(dotted) is not None
    except ModuleNotFoundError:  # its parent is no package
        return False


def is_name_in_a_module(dotted: str) -> bool:
    parent, _, name = dotted.rpartition(".")
    spec = find_spec(parent) if is_module(parent) else None
    return bool(spec and spec.origin and re.search(rf"\b{name}\b", Path(spec.origin).read_text()))


def missing_modules(text: str) -> list[str]:
    """Dotted names of the project that are neither modules nor names in one; `oracles.md` is a file beside the page."""
    names = {name for name in MODULE.findall(text) if not name.endswith((".md", ".py"))}
    return sorted(name for name in names if not is_module(name) and not is_name_in_a_module(name))


@every_page
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    assert missing_paths(page.read_text()) == [], RENAMED


@every_page
def test_every_module_that_a_page_names_exists(page: Path) -> None:
    assert missing_modules(page.read_text()) == [], RENAMED


def test_a_file_and_a_module_that_do_not_exist_are_noticed() -> None:
    text = "See `fuzzer/cli.py`, `oracles/`, `fuzzer/lanes/*_table.py` and `fuzzer/nowhere.py`."
    assert missing_paths(text) == ["fuzzer/nowhere.py"]
    text = "`fuzzer.children.zygote`, `fuzzer.cli.main`, not `fuzzer.nowhere.main` or `fuzzer.cli.nothing`."
    assert missing_modules(text) == ["fuzzer.cli.nothing", "fuzzer.nowhere.main"]


# --- links


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them: lower case, no punctuation, hyphens for spaces."""
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path, text: str) -> list[str]:
    """Links to files that do not exist, or to headings that a page does not have. Blocks of code have none."""
    broken = []
    for link in LINK.findall(re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if ":" in name:
            continue  # another site
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            broken.append(link)
    return broken


@every_page
def test_every_link_of_a_page_has_a_target(page: Path) -> None:
    assert broken_links(page, page.read_text()) == []


def test_a_broken_link_is_noticed() -> None:
    page = ROOT / "README.md"
    text = (
        "[a](docs/oracles.md) [b](docs/none.md) [c](docs/oracles.md#none) [d](#two-commands) [e](https://docs.ray.io)"
    )
    assert broken_links(page, text) == ["docs/none.md", "docs/oracles.md#none"]


def test_every_page_of_docs_is_linked_from_the_readme() -> None:
    links = {link.partition("#")[0] for link in LINK.findall((ROOT / "README.md").read_text())}
    pages = {str(page.relative_to(ROOT)) for page in (ROOT / "docs").glob("*.md")}
    assert pages - links == set()
