"""The titles of lists: those of reports, and of what is not confirmed yet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from fuzzer.campaign.store.store import Store
from fuzzer.findings import finding_file, record
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.report.issue import title as title_of_report
from fuzzer.triage.investigate import Investigated, Sighting
from fuzzer.triage.suspect import Certainty, Suspect
from fuzzer.watching.titles import Titles, sighting_title, title_of
from oracles.finding import Kind

Make = Callable[..., tuple[Investigated, Sighting]]

CRASHES = Path(__file__).parents[3] / "crashes"


@pytest.mark.parametrize("folder", finding_file.folders_in(CRASHES), ids=lambda folder: folder.name)
def test_a_list_has_the_title_of_the_report(folder: Path) -> None:
    found = record.read(folder)
    shown = title_of(folder, found.doc)
    assert title_of_report(found).endswith(f"] {shown}")
    assert not shown.startswith("[")


@pytest.mark.parametrize("message", ["a*b _c_ <d> \\ e", "`x` [0] # 1", "many    blanks"])
def test_what_markdown_escapes_is_text_again(tmp_path: Path, make: Make, message: str) -> None:
    with Store(tmp_path, 1) as store:
        doc = store.save(make(message)[0], {})
    assert doc is not None
    assert " ".join(message.split()) in title_of(tmp_path / "crashes" / doc.slug, doc)


def test_without_a_report_it_is_what_failed(tmp_path: Path, saved: Path) -> None:
    assert title_of(tmp_path, finding_file.read(saved)) == "`relu` fails: no layout for it"


@pytest.mark.parametrize("text", ["# [Bug] " + "x " * 99999, "\0", "# ", "\x1b[2J", "# [Bug][" * 999])
def test_a_report_from_elsewhere_gives_one_short_line(saved: Path, text: str) -> None:
    (saved / "issue.md").write_text(text)
    shown = title_of(saved, finding_file.read(saved))
    assert 0 < len(shown) <= 1000
    assert "\n" not in shown


def test_a_report_that_is_a_link_is_not_read(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("# [Bug] a secret")
    (saved / "issue.md").unlink()
    (saved / "issue.md").symlink_to(tmp_path / "other")
    assert title_of(saved, finding_file.read(saved)) == "`relu` fails: no layout for it"


def test_a_title_is_read_again_when_the_report_is_written_again(saved: Path) -> None:
    titles, doc = Titles(), finding_file.read(saved)
    assert titles.of(saved, doc) == "Compiling `torch.relu` fails: no layout for it"
    (saved / "issue.md").unlink()
    assert titles.of(saved, doc) == "`relu` fails: no layout for it"


def of(doc: FindingDoc, kind: Kind, ops: list[str], suspects: tuple[str, ...], certainty: Certainty) -> str:
    return sighting_title(msgspec.structs.replace(doc, kind=kind, ops=ops, suspect=Suspect(suspects, "", certainty)))


def test_what_is_not_confirmed_has_its_suspect(saved: Path) -> None:
    doc = finding_file.read(saved)
    assert of(doc, Kind.WRONG_VALUE, ["a", "b"], ("a",), Certainty.SEEN) == "`a` gives wrong values"
    assert of(doc, Kind.DIED, ["a", "b"], ("a", "b"), Certainty.ONE_OF) == "Perhaps `a` or `b` ends the process"
    assert of(doc, Kind.DIED, ["a", "b"], (), Certainty.UNKNOWN) == "A model of 2 operators ends the process"
    assert of(doc, Kind.OUT_OF_BOUNDS_READ, ["a", "b"], ("a", "b"), Certainty.ONE_OF) == (
        "Perhaps `a` or `b` reads outside a tensor"
    )
    assert of(doc, Kind.DIED, ["a"] * 9, tuple("abcd"), Certainty.ONE_OF) == (
        "Perhaps `a`, `b` or one of 2 others ends the process"
    )
    assert of(doc, Kind.TIMED_OUT, ["a"], (), Certainty.UNKNOWN) == "`a` does not come to an end"
