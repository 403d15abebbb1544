"""Each text that `make docs` writes is what stands in its file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from make_docs import main, write
from packages_drawn import in_order
from written_rows import ROWS
from written_text import BEGIN, END, ROOT, Unmarked, Written, figures

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*/README.md"))]
EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=[getattr(pytest.mark, mark) for mark in row.marks], id=f"{row.file}: {row.name}")
        for row in ROWS
    ],
)
def test_the_file_has_what_the_project_gives(row: Written) -> None:
    now = row.now()
    assert row.text(now) == now, f"{row.file} is out of date: run `make docs NAMES={row.name}`"


# --- the markers of documents


def broken_markers(name: str, text: str) -> list[str]:
    """Markers without a row, in a code block, within a table, which GitHub ends there, or at the beginning of a line of
    prose: there GitHub takes the line for HTML."""
    known = {row.name for row in ROWS if row.file == name}
    outside = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    found = [f"no row: {each}" for each in BEGIN.findall(text) if each not in known]
    found += ["in a code block"] * (text.count("written by make docs:") - len(BEGIN.findall(outside)))
    found += [f"within a table: {line}" for line in re.findall(r"^\|.*\n(<!--.*-->)\n\|", text, re.MULTILINE)]
    found += ["an end is missing, or too many"] * (len(BEGIN.findall(outside)) != outside.count(END))
    return found + [
        f"at the beginning of a line: {line}" for line in re.findall(r"^ *<!--.*-->.+$", text, re.MULTILINE)
    ]


@EACH_PAGE
def test_the_markers_of_a_page_are_right(page: Path) -> None:
    assert broken_markers(str(page.relative_to(ROOT)), page.read_text()) == []


def test_wrong_markers_are_noticed() -> None:
    begin = "<!-- written by make docs: operators-of-torch -->"
    assert broken_markers("README.md", f"There are {begin}5{END}.\n\n{begin}\n```\n5\n```\n{END}\n") == []
    assert broken_markers("SECURITY.md", f"a {begin}5{END}") == ["no row: operators-of-torch"]
    assert broken_markers("README.md", f"```\na {begin}5{END}\n```\n") == ["in a code block"]
    assert broken_markers("README.md", f"| a |\n|---|\n{begin}\n| 5 |\n{END}\n") == [f"within a table: {begin}"]
    assert broken_markers("README.md", f"a {begin}5\n") == ["an end is missing, or too many"]
    assert broken_markers("README.md", f"{begin}5{END} rows\n") == [f"at the beginning of a line: {begin}5{END} rows"]


# --- writing

BEGIN_OF_N = "<!-- written by make docs: n -->"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"has {BEGIN_OF_N}1{END} rows", f"has {BEGIN_OF_N}2{END} rows"),
        (f"a\n{BEGIN_OF_N}\n1\n{END}\nb\n", f"a\n{BEGIN_OF_N}\n2\n{END}\nb\n"),
        (f"a\n{BEGIN_OF_N}\n{END}\nb\n", f"a\n{BEGIN_OF_N}\n2\n{END}\nb\n"),
    ],
)
def test_a_text_is_written_between_its_markers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], before: str, after: str
) -> None:
    (tmp_path / "a.md").write_text(before)
    row = Written("n", "a.md", lambda now: "2")
    assert write([row], tmp_path)
    assert (tmp_path / "a.md").read_text() == after
    assert row.now(tmp_path) == "2"
    assert capsys.readouterr().out == "a.md: n is written anew\n"
    assert write([row], tmp_path)
    assert capsys.readouterr().out == ""


def test_a_whole_file_is_written_where_there_is_none(tmp_path: Path) -> None:
    assert write([Written("n", "a.txt", lambda now: f"{now}2\n", whole=True)], tmp_path)
    assert (tmp_path / "a.txt").read_text() == "2\n"


@pytest.mark.parametrize(("page", "count"), [("", 0), (f"{BEGIN_OF_N}1{END} {BEGIN_OF_N}1{END}", 2)])
def test_a_page_without_one_place_is_refused_and_the_others_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], page: str, count: int
) -> None:
    (tmp_path / "a.md").write_text(page)
    row = Written("n", "a.md", lambda now: "2")
    with pytest.raises(Unmarked, match=f"a.md has {count} places for n: put one text between"):
        row.now(tmp_path)
    assert not write([row, Written("m", "b.txt", lambda now: "3", whole=True)], tmp_path)
    assert (tmp_path / "b.txt").read_text() == "3"
    assert f"a.md: n cannot be made: Unmarked: a.md has {count} places" in capsys.readouterr().err


def test_a_name_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["lines"])
    assert "there is no text lines: the texts are " in capsys.readouterr().err


def test_figures_of_an_output_are_replaced_and_the_others_stay() -> None:
    text = "1 case, 2 lanes, 3 s\n4 failures\n"
    assert figures(text, r"^(\d+) case, (\d+) lanes", 10, 20) == "10 case, 20 lanes, 3 s\n4 failures\n"
    with pytest.raises(ValueError, match="0 places are of the form"):
        figures(text, r"(\d+) tests", 1)


def test_packages_keep_their_order_where_they_can() -> None:
    from packages import Structure

    structure = Structure(frozenset("abcd"), frozenset({("a", "d"), ("b", "a")}), frozenset())
    assert in_order(structure, ["c", "a", "b", "gone"]) == ["c", "d", "a", "b"]
    circle = Structure(frozenset("ab"), frozenset({("a", "b"), ("b", "a")}), frozenset())
    with pytest.raises(ValueError, match="these packages import each other: a, b"):
        in_order(circle, ["a", "b"])
