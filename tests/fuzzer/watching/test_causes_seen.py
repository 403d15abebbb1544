"""What a campaign has shown, as causes: the query that all views use, and its words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from fuzzer.campaign.plan import last_run
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.triage.waiting import Queue
from fuzzer.commands.triage_list import Chosen, Listed
from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.severity import Level
from fuzzer.system.terminal import command
from fuzzer.triage.investigate import Investigated, Sighting
from fuzzer.triage.suspect import Certainty, Suspect
from fuzzer.watching.cause_lines import (
    apart_line,
    confirmed_line,
    further_line,
    lines_of_provisional,
    others_line,
    provisional_line,
    replay,
)
from fuzzer.watching.cause_rows import rows_of
from fuzzer.watching.causes import SHIPPED, CauseCounts, causes_in
from fuzzer.watching.entries import Facts, entry
from fuzzer.watching.glance import confirmed_lines, glance, waiting_lines
from fuzzer.watching.ranking import Grouping
from fuzzer.watching.titles import Titles
from oracles.finding import Component

Make = Callable[..., tuple[Investigated, Sighting]]

RELU = Suspect(("relu",), "relu of float32; rank 2", Certainty.SEEN)


def blamed_on(made: tuple[Investigated, Sighting], component: Component) -> tuple[Investigated, Sighting]:
    found, sighting = made
    signature = replace(found.signature, component=component)
    finding = replace(sighting.finding, component=component)
    return replace(found, signature=signature, finding=finding), replace(sighting, signature=signature, finding=finding)


@pytest.fixture
def campaign(tmp_path: Path, make: Make) -> Path:
    """A finding in TVM and one in an exporter; two sightings of one cause in TVM, and one of an exporter."""
    with Store(tmp_path, 1) as store:
        for made in (make("no kernel", "neg"), blamed_on(make("no symbol", "abs"), Component.EXPORTER)):
            store.save(made[0], {})
        store.save_state()
        queue = Queue(tmp_path)
        for op in ("tirx.acos", "tirx.cos"):
            found, sighting = make(f"Unresolved call {op}")
            queue.add(found.case, sighting, {}, RELU)
        found, sighting = blamed_on(make("no function"), Component.ONNXRUNTIME)
        queue.add(found.case, sighting, {})
    return tmp_path


def test_what_other_components_are_to_blame_for_is_no_part_of_what_waits(campaign: Path) -> None:
    causes = causes_in(campaign)
    others = (Component.EXPORTER, Component.ONNXRUNTIME)
    counts = CauseCounts({Level.HIGH: 1}, 1, 0, 1, 2, 1, 1, others, 0)
    assert causes.counts == counts
    assert counts.confirmed == 1
    assert [family.lead.doc.component for family in causes.families] == ["tvm", "exporter"]
    assert confirmed_line(counts) == "1 confirmed cause: 1 high; 1 finding"
    assert provisional_line(counts.provisional, counts.waiting) == "not confirmed yet: 1 cause, seen in 2 sightings"
    assert others_line(counts) == "not TVM's (exporter, onnxruntime): 1 finding, 1 sighting"


def test_sightings_of_a_confirmed_cause_are_named_below_its_finding(tmp_path: Path, make: Make) -> None:
    with Store(tmp_path, 1) as store:
        store.save(make("Unresolved call tirx.acos")[0], {})
        store.save_state()
        found, sighting = make("Unresolved call tirx.cos")
        Queue(tmp_path).add(found.case, sighting, {}, RELU)
    causes = causes_in(tmp_path)
    counts = causes.counts
    assert (counts.confirmed, counts.provisional, counts.sightings, counts.further, counts.waiting) == (1, 0, 0, 1, 1)
    assert "      1 further sighting waits for triage" in list(Listed(causes, Chosen(Grouping.AGE, 20, None)).lines())
    (slug,) = (doc.slug for docs in causes.further.values() for doc in docs)
    assert f"        {replay(tmp_path, slug)}" in list(Listed(causes, Chosen(Grouping.AGE, None, None)).lines())


def test_of_many_further_sightings_three_are_listed(tmp_path: Path, make: Make) -> None:
    with Store(tmp_path, 1) as store:
        store.save(make("Unresolved call tirx.acos")[0], {})
        store.save_state()
        for name in ("cos", "sin", "tan", "sinh", "cosh"):
            found, sighting = make(f"Unresolved call tirx.{name}")
            Queue(tmp_path).add(found.case, sighting, {}, RELU)
    lines = list(Listed(causes_in(tmp_path), Chosen(Grouping.AGE, None, None)).lines())
    at = lines.index("      5 further sightings wait for triage")
    assert all(" --replay " in line for line in lines[at + 1 : at + 4])
    work = command("triage", "--campaign", tmp_path, "--work")
    assert lines[at + 4] == f"        and 2 more: `{work}` investigates them"


def test_operators_that_may_be_at_fault_in_further_sightings_are_named(tmp_path: Path, make: Make) -> None:
    with Store(tmp_path, 1) as store:
        store.save(make("Unresolved call tirx.acos")[0], {})
        store.save_state()
    (family,) = causes_in(tmp_path).families
    doc = family.lead.doc

    def of(*operators: str) -> FindingDoc:
        return msgspec.structs.replace(doc, suspect=Suspect(operators, certainty=Certainty.SEEN))

    assert set(doc.ops) == {"relu"}
    assert further_line(doc, [of("relu"), of("exp", "log"), of()]) == "3 further sightings wait for triage"
    assert further_line(doc, [of("log")]) == "1 further sighting waits for triage, with another suspect: log"
    every = [of("LRN"), of("Selu"), of("LRN"), *map(of, "abcde")]
    assert further_line(doc, every) == (
        "8 further sightings wait for triage, some with another suspect, such as LRN, Selu, a, b, c, d"
    )


def test_nothing_has_no_line(tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        store.save_state()
    causes = causes_in(tmp_path)
    assert causes.counts == CauseCounts()
    assert (provisional_line(0, 0), others_line(causes.counts), apart_line(causes)) == ("", "", "")
    assert confirmed_line(causes.counts) == "no cause is confirmed yet"


def test_a_provisional_cause_has_its_suspect_and_a_case_that_replays(campaign: Path) -> None:
    (cause,) = causes_in(campaign).provisional
    first, *others = lines_of_provisional(campaign, [cause])
    assert first == "  `relu` fails: code generation has no `tirx.acos`"
    replays = replay(campaign, cause.lead.slug)
    assert others == ["      2 sightings; suspect: relu of float32; rank 2", f"      {replays}"]
    assert (campaign / "waiting" / cause.lead.slug / "case.json").exists()


def test_the_same_as_data(campaign: Path) -> None:
    causes = causes_in(campaign)
    rows = rows_of(causes, lambda name: f"replay {name}")
    assert [len(each) for each in (rows.confirmed, rows.provisional, rows.other_confirmed, rows.other_provisional)] == [
        1
    ] * 4
    (row,) = rows.provisional
    assert (row.kind, row.component, row.operators) == ("internal-error", "tvm", ("relu",))
    assert row.suspect == "suspect: relu of float32; rank 2"
    assert (row.sightings, len(row.members), row.replay) == (2, 2, f"replay {row.members[0]}")
    (confirmed,) = rows.confirmed
    assert (confirmed.level, confirmed.ops, confirmed.findings) == ("high", ["neg"], 1)
    assert msgspec.json.decode(msgspec.json.encode(rows))["confirmed"][0]["level"] == "high"


def test_findings_that_ship_with_difftvm_are_counted_and_not_listed(campaign: Path) -> None:
    """They are in the project's own folder, and no run has found them."""
    (slug,) = (family.lead.doc.slug for family in causes_in(campaign).confirmed)
    (campaign / "crashes" / SHIPPED).write_text(f"{slug}\nanother-name\n")
    causes = causes_in(campaign)
    assert causes.shipped == {slug}
    assert confirmed_line(causes.counts) == "1 known cause ships with difftvm, 1 of them met"
    assert list(confirmed_lines(glance(causes), causes.campaign, 3))[1:] == []


def test_what_the_last_run_found_is_new(tmp_path: Path, make: Make) -> None:
    """What ships is known, met or not, and what was found before is neither."""
    with Store(tmp_path, 1) as store:
        docs = [doc for op in ("neg", "abs", "exp") if (doc := store.save(make(f"no {op}", op)[0], {}))]
    dated(tmp_path, docs[0].slug, 100.0)
    dated(tmp_path, docs[1].slug, 900.0)
    (tmp_path / "crashes" / SHIPPED).write_text(docs[2].slug)
    (tmp_path / last_run.NAME).write_text('{"began": 500}')
    causes = causes_in(tmp_path)
    counts = causes.counts
    assert (counts.earlier, counts.new, counts.known) == ({Level.HIGH: 1}, {Level.HIGH: 1}, {Level.HIGH: 1})
    assert confirmed_line(counts) == (
        "1 new cause: 1 high; 1 found earlier: 1 high; 2 findings; 1 known cause ships with difftvm, 1 of them met"
    )
    listed = Listed(causes, Chosen(Grouping.AGE, 20, None))
    lines = list(listed.lines())
    assert [line for line in lines if not line.startswith(" ")][:3] == [
        "new in the last run: 1 cause",
        "found earlier: 1 cause",
        "known: they ship with difftvm: 1 cause",
    ]
    assert [folder.name for folder in listed.folders] == [docs[1].slug, docs[0].slug, docs[2].slug]
    title = "Compiling `torch.abs` fails: no abs in `LayoutOf`"
    assert re.match(rf"  1  high      {re.escape(title)}  \[new; met in 1 test, last \d+ s ago\]", lines[1])
    assert re.search(rf"  \[known; met in 1 test, last \d+ s ago\]  {docs[2].slug}$", lines[5])
    before = replace(Facts.of(causes), last={}, now=1000.0)  # an earlier version has counted the tests
    assert "  [met in 1 test; found 15 min 00 s ago]" in entry(causes.confirmed[0], before, Titles())
    assert not any("condition not yet" in line for line in lines[1:6])
    assert f"condition not yet looked for: 2 causes; `{command('scope', 1)}` looks for the first of them" in lines
    (tmp_path / last_run.NAME).write_text('{"began": 1000}')
    after = list(Listed(causes_in(tmp_path), Chosen(Grouping.AGE, 20, None, new=True)).lines())
    assert after[-1].startswith("the last run found nothing; 2 confirmed causes: 2 high; 2 findings; 1 known cause ")
    for chosen in (Chosen(Grouping.AGE, 20, None, new=True), Chosen(Grouping.AGE, 20, None, since=500.0)):
        assert [family.lead.doc.slug for family in chosen.families(causes)] == [docs[1].slug]


def test_nothing_is_new_where_no_run_is_recorded(campaign: Path) -> None:
    (campaign / last_run.NAME).write_text("no JSON")
    causes = causes_in(campaign)
    assert (causes.began, causes.counts.new) == (None, {})
    listed = list(Listed(causes, Chosen(Grouping.AGE, 20, None, new=True)).lines())
    assert listed[-1].startswith("no run is recorded here; 1 confirmed cause: 1 high; 1 finding; next: ")


def dated(campaign: Path, slug: str, found: float) -> None:
    folder = campaign / "crashes" / slug
    doc = finding_file.read(folder)
    doc.found = found
    (folder / finding_file.NAME).write_bytes(finding_file.encode(doc))


def test_a_damaged_list_of_duplicates_is_reported_and_hides_nothing(campaign: Path) -> None:
    (campaign / "merged.json").write_text("{")
    causes = causes_in(campaign)
    assert len(causes.confirmed) == 1
    assert [reason.startswith(f"{campaign / 'merged.json'}: ") for reason in causes.unreadable] == [True]


def test_what_cannot_be_read_is_left_out(campaign: Path) -> None:
    for folder in finding_file.folders_in(campaign / "waiting"):
        (folder / finding_file.NAME).write_text("{")
    assert causes_in(campaign).counts.waiting == 0


def test_at_a_glance_what_is_new_comes_first(tmp_path: Path, make: Make) -> None:
    with Store(tmp_path, 1) as store:
        slugs = [doc.slug for op in ("neg", "abs") if (doc := store.save(make(f"no {op}", op)[0], {}))]
    causes = causes_in(tmp_path)
    leads = [family.lead.doc.slug for family in causes.confirmed]
    for new in slugs:
        shown = glance(causes, {new})
        (position,) = (place for place, slug in enumerate(leads) if slug == new)
        op = causes.confirmed[position].lead.doc.ops[0]
        assert (shown.new, [cause.is_new for cause in shown.confirmed]) == (1, [True, False])
        assert shown.confirmed[0].text == f"Compiling `torch.{op}` fails: no {op} in `LayoutOf`"


def test_at_a_glance_the_first_are_named_and_the_others_counted(campaign: Path) -> None:
    shown = glance(causes_in(campaign))
    (sighting,) = (cause.sighting for cause in shown.provisional)
    assert list(waiting_lines(shown, campaign, 3)) == [
        "not confirmed yet: 1 cause, seen in 2 sightings",
        "  2 sightings: `relu` fails: code generation has no `tirx.acos`",
        f"      {replay(campaign, sighting)}",
        "not TVM's (exporter, onnxruntime): 1 finding, 1 sighting",
    ]
    assert list(waiting_lines(shown, campaign, 0))[1] == (
        f"  and 1 more; `{command('triage', '--campaign', campaign)}` lists them"
    )
    assert list(confirmed_lines(shown, campaign, 0)) == [
        "1 confirmed cause: 1 high; 1 finding",
        f"  and 1 more; `{command('triage', '--campaign', campaign)}` lists them",
    ]


def test_at_a_glance_two_suspects_are_named(tmp_path: Path, make: Make) -> None:
    with Store(tmp_path, 1) as store:
        store.save_state()
        found, sighting = make("no layout")
        many = Suspect(("relu", "abs", "neg"), certainty=Certainty.ONE_OF)
        Queue(tmp_path).add(found.case, sighting, {}, many)
    (cause,) = glance(causes_in(tmp_path)).provisional
    assert cause.text == "Perhaps `relu`, `abs` or another fails: no layout in `LayoutOf`"
