"""`fuzz report`: the report of a stored finding in each format."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from fakes import TVM
from graphs_by_hand import case_of
from records import record

from fuzzer.commands.report import report
from fuzzer.commands.show import show
from fuzzer.findings.finding_file import NAME, encode
from fuzzer.findings.record import AFTER, BEFORE, FindingRecord, read
from fuzzer.report import issue, page, repro
from fuzzer.report.document import Format, document, text
from fuzzer.signature.blame import Blame, Place, Releases, ReleaseVerdict
from generators import case_file
from generators.graph import Invalid
from oracles.finding import Kind, Mismatch
from oracles.outcome import Raised, Stage

HOSTILE = "</pre><script>alert('x')</script>&<img src=http://example.org/x>\"' ``` `<b>`"
CASE = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0")], "v0", lambda item: np.array([np.nan, 1.5], np.float32))
FOUND = record(
    CASE,
    Kind.INTERNAL_ERROR,
    TVM,
    Raised(Stage.COMPILE, "tvm.error.InternalError", HOSTILE),
    blame=Blame(Place.PASS, "neg", "Fuse<Ops>", HOSTILE, "a\nb\n" + HOSTILE, "a\nc\n" + HOSTILE),
    releases=Releases((("0.26.0", ReleaseVerdict.PASSES), ("0.27.0", ReleaseVerdict.FAILS))),
)


def saved(found: FindingRecord, folder: Path) -> Path:
    folder.mkdir()
    tell, tensors = case_file.encode(found.case)
    contents = {case_file.JSON_NAME: tell, case_file.TENSORS_NAME: tensors, NAME: encode(found.doc)}
    contents |= {BEFORE: found.before.encode(), AFTER: found.after.encode()}
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    return folder


def test_what_is_stored_gives_the_same_reports(tmp_path: Path) -> None:
    found = read(saved(FOUND, tmp_path / "x"))
    assert (found.before, found.after) == (FOUND.before, FOUND.after)
    for format in Format:
        assert text(found, format) == text(FOUND, format)


def test_the_page_shows_control_characters_and_changes_of_the_writing_direction() -> None:
    """Otherwise a text may look like another one."""
    evidence = Raised(Stage.COMPILE, "E", "\u202eevil\u2066 \x1b[2J")
    html = page.html(record(CASE, Kind.INTERNAL_ERROR, TVM, evidence))
    assert "\\u202eevil\\u2066 \\x1b[2J" in html
    assert html.replace("\n", "").isprintable()


@pytest.mark.parametrize("verb", [report, show])
def test_printed_json_is_json_whatever_a_message_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: Callable[..., None]
) -> None:
    """A terminal must not get these characters, and no parser of JSON takes the escapes `\\x9b` and `\\U000e0001`."""
    message = "\x9b31m \x1b[2J \U000e0001 \u202e \U0001f600 " + "words " * 50
    found = record(CASE, Kind.INTERNAL_ERROR, TVM, Raised(Stage.COMPILE, "E", message))
    folder = saved(found, tmp_path / "x")
    verb([folder] if verb is report else folder, json=True)
    printed = capsys.readouterr().out
    assert printed.isascii()
    assert json.loads(printed)["finding"]["evidence"]["raised"]["message"] == message


def test_several_reports_of_json_are_a_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = record(CASE, Kind.INTERNAL_ERROR, TVM, Raised(Stage.COMPILE, "E", "another message"))
    report([saved(FOUND, tmp_path / "x"), saved(other, tmp_path / "y")], json=True)
    slugs = [each["finding"]["slug"] for each in json.loads(capsys.readouterr().out)]
    assert slugs == [FOUND.doc.slug, other.doc.slug]


def test_markdown_is_that_of_the_issue() -> None:
    assert text(FOUND, Format.MD) == issue.text(FOUND)


def test_json_holds_everything() -> None:
    parsed = json.loads(text(FOUND, Format.JSON))
    assert set(parsed) == {"title", "body", "repro", "finding", "case", "tensors", "ir", "onnx"}
    assert parsed["finding"]["evidence"]["raised"]["message"] == HOSTILE
    assert parsed["tensors"] == {"x0": ["nan", 1.5]}
    assert parsed["ir"] == {"before": FOUND.before, "after": FOUND.after}
    assert parsed["repro"] == repro.script(FOUND)
    assert document(FOUND)["title"] == issue.title(FOUND)


class Tags(HTMLParser):
    """Every tag with its attributes, and all text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_needs_nothing_else_and_escapes_everything() -> None:
    html = page.html(FOUND)
    tags = Tags()
    tags.feed(html)
    assert {"script", "img", "link", "iframe", "a"}.isdisjoint(tag for tag, _ in tags.tags)
    assert not any(
        "src" in attrs or "href" in attrs or any(key.startswith("on") for key in attrs) for _, attrs in tags.tags
    )
    assert "url(" not in html
    assert "@import" not in html
    assert HOSTILE in tags.text
    assert ("span", {"class": "removed"}) in tags.tags
    assert ("span", {"class": "added"}) in tags.tags
    assert "float32[2]" in tags.text
    assert "prefers-color-scheme: dark" in html


def test_the_difference_of_the_ir() -> None:
    shown = list(
        page.difference(
            record(
                CASE, Kind.WRONG_VALUE, TVM, Mismatch(0, "1", "2"), blame=Blame(None, "", "", "", "a\nb\n", "a\nc\n")
            )
        )
    )
    assert shown[2:] == [("place", "@@ -1,2 +1,2 @@"), ("same", " a"), ("removed", "-b"), ("added", "+c")]


def test_files_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [saved(FOUND, tmp_path / "x")]
    report(folders, Format.MD)
    assert capsys.readouterr().out == issue.text(FOUND)
    report(folders, Format.HTML, tmp_path / "new" / "page.html")
    assert (tmp_path / "new" / "page.html").read_text() == page.html(FOUND)
    with pytest.raises(Invalid, match="no-such"):
        report([tmp_path / "no-such"], Format.MD)


def test_several_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = record(CASE, Kind.WRONG_VALUE, TVM, Mismatch(0, "1", "2"))
    folders = [saved(FOUND, tmp_path / "x"), saved(other, tmp_path / "y")]
    report(folders, Format.JSON)
    assert [each["title"] for each in json.loads(capsys.readouterr().out)] == [issue.title(FOUND), issue.title(other)]
    report(folders, json=True)
    assert len(json.loads(capsys.readouterr().out)) == 2
    with pytest.raises(Invalid, match="--out DIR"):
        report(folders, Format.HTML)
    report(folders, Format.HTML, tmp_path / "pages")
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == sorted(
        f"{each.doc.slug}.html" for each in (FOUND, other)
    )


def test_findings_of_two_campaigns_with_one_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [saved(FOUND, tmp_path / "x"), saved(FOUND, tmp_path / "y")]
    report([*folders, folders[0]], Format.MD, tmp_path / "pages")
    slug = FOUND.doc.slug
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == [f"{slug}-2.md", f"{slug}.md"]
    assert capsys.readouterr().err.startswith(f"wrote 2 to {tmp_path / 'pages'}; ")
    report(folders, json=True)
    assert len(json.loads(capsys.readouterr().out)) == 2


def test_a_changed_case_is_refused(tmp_path: Path) -> None:
    folder = saved(FOUND, tmp_path / "x")
    path = folder / case_file.JSON_NAME
    path.write_text(re.sub("neg", "abs", path.read_text()))
    with pytest.raises(Invalid, match="not the case of this finding"):
        report([folder], Format.MD)
