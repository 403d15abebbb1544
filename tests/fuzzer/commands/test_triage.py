"""`fuzz triage`: which findings it lists, and what it prints if there is nothing to list."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fuzzer.campaign.run.merge import merge
from fuzzer.campaign.store import index, state
from fuzzer.campaign.store.state import State
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.triage.waiting import Queue
from fuzzer.commands.triage import triage
from fuzzer.commands.triage_work import members_of
from fuzzer.signature.blame import Blame, Origin, Place
from fuzzer.signature.known import known_issues
from fuzzer.system import last_list
from fuzzer.system.terminal import command, next_line
from fuzzer.triage.investigate import Investigated, Sighting
from fuzzer.watching.causes import causes_in
from fuzzer.watching.ranking import Grouping
from generators.graph import Invalid
from oracles.finding import Component, Kind

Make = Callable[..., tuple[Investigated, Sighting]]


def printed(capsys: pytest.CaptureFixture[str], campaign: Path, **options: Any) -> tuple[list[str], list[str]]:
    """Lines of stdout and of stderr."""
    capsys.readouterr()
    triage(campaign, **options)
    output = capsys.readouterr()
    return output.out.splitlines(), output.err.splitlines()


@pytest.mark.parametrize("options", [{}, {"merge": True}, {"known": True}, {"unsupported": True}, {"json": True}])
def test_a_folder_that_is_no_campaign_is_reported(tmp_path: Path, options: dict[str, Any]) -> None:
    """An empty list would look as if a campaign found nothing, although only its name was mistyped."""
    nowhere, other, file = tmp_path / "nowhere", tmp_path / "other", tmp_path / "file"
    (other / "crashes").mkdir(parents=True)
    (other / "crashes" / "README.md").touch()
    file.touch()
    for folder in (nowhere, other):
        with pytest.raises(Invalid) as caught:
            triage(folder, **options)
        assert str(caught.value) == f"{folder}: no campaign; `fuzz run --campaign {folder}` starts one"
    with pytest.raises(Invalid, match=f"^{file}: no campaign, but a file$"):
        triage(file, **options)
    assert not nowhere.exists()


def test_findings_are_listed_wherever_they_were_copied_to(
    tmp_path: Path, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved.parent.rename(tmp_path / "copy-crashes")
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy-crashes").rename(tmp_path / "copy" / "crashes")
    out, _ = printed(capsys, tmp_path / "copy")
    assert out[1].endswith(f"  {saved.name}")
    assert out[-1].endswith(next_line("show", 1))
    assert last_list.read() == [tmp_path / "copy" / "crashes" / saved.name]


def test_a_campaign_without_findings_says_so_and_suggests_to_continue(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store(tmp_path / "a c", 1):
        (line,), _ = printed(capsys, Path("a c"))  # during the warm-up nothing is written
        assert line.startswith("no findings; next: ")
        assert sorted(os.listdir("a c")) == ["campaign.lock", "crashes"]
    (line,), _ = printed(capsys, Path("a c"))
    assert line.endswith(" run --campaign 'a c'")
    monkeypatch.chdir("a c")
    for here in (Path("."), tmp_path / "a c"):
        (line,), _ = printed(capsys, here)
        assert line.endswith(" run")


@pytest.mark.parametrize("options", [{}, {"json": True}, {"known": True}])
def test_a_finding_that_cannot_be_read_is_left_out_and_reported(
    tmp_path: Path, saved: Path, capsys: pytest.CaptureFixture[str], options: dict[str, bool]
) -> None:
    damaged = saved.parent / "damaged" / "finding.json"
    damaged.parent.mkdir()
    damaged.write_text("[" * 9999)
    out, err = printed(capsys, tmp_path, **options)
    assert [line.startswith(f"left out: {damaged}: ") for line in err] == [True]
    if not options:
        assert out[-1].startswith("1 confirmed cause: 1 high; 1 finding; 1 cannot be read; next: ")
        (saved / "finding.json").unlink()
        assert printed(capsys, tmp_path)[0][0].startswith("1 finding that cannot be read, no other; next: ")
    if "json" in options:
        assert [cause["slug"] for cause in json.loads("".join(out))["causes"]] == [saved.name]


@pytest.mark.parametrize("name", ["finding.json", "case.json"])
def test_findings_are_merged_only_if_all_can_be_read(tmp_path: Path, saved: Path, name: str) -> None:
    (saved / name).write_text("{}")
    with pytest.raises(Invalid, match=f"{name}: .*; move {saved} out of {saved.parent}/ to go on without it$"):
        triage(tmp_path, merge=True)
    assert not (tmp_path / "merged.json").exists()


def test_a_damaged_record_of_earlier_merges_blames_no_finding(tmp_path: Path, saved: Path) -> None:
    (tmp_path / "merged.json").write_text("{")
    with pytest.raises(Invalid, match=r"merged\.json: .* writes it again$"):
        triage(tmp_path, merge=True)


def test_sightings_that_wait_are_counted(tmp_path: Path, make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    with Store(tmp_path, 1) as store:
        store.save_state()
        found, sighting = make()
        Queue(tmp_path).add(found.case, sighting, {"tvm": "0.27.0"})
    (head, shown, suspect, replays, one, line), _ = printed(capsys, tmp_path)
    assert head == "not confirmed yet: 1 cause, seen in 1 sighting"
    assert shown == "  `relu` fails: no layout for it"
    assert suspect == "      1 sighting; no suspect"
    (name,) = os.listdir(tmp_path / "waiting")
    short = "-".join(name.split("-")[-2:])
    assert replays == f"      {command('--replay', short, '--campaign', tmp_path)}"
    assert members_of(causes_in(tmp_path), short) == {name}
    assert one == f"  `{command('triage', '--campaign', tmp_path, '--work', short)}` investigates the first of them now"
    work = command("triage", "--work", "--campaign", tmp_path)
    assert line == f"no findings yet; 1 sighting waiting for triage; `{work}` investigates them"
    with Store(tmp_path, 1) as store:
        store.save(make("another message")[0], {"tvm": "0.27.0"})
    out, _ = printed(capsys, tmp_path)
    assert out[-3] == f"1 sighting waiting for triage; `{work}` investigates them"
    assert out[-1].startswith("1 confirmed cause: 1 high; 1 finding; next: ")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"seconds": 1.0}, "--seconds: only together with --work"),
        ({"workers": 2, "preload": Path("p.py")}, "--workers and --preload: only together with --work"),
        ({"releases": "0.25", "merge": True}, "--releases: only together with --work"),
        ({"work": True, "merge": True}, "--work and --merge exclude each other"),
        ({"work": True, "known": True}, "--work and --known exclude each other"),
        ({"work": True, "unsupported": True}, "--work and --unsupported exclude each other"),
        ({"merge": True, "known": True}, "--merge and --known exclude each other"),
        ({"cause": "died-x"}, "died-x: only together with --work"),
    ],
)
def test_no_option_is_ignored(tmp_path: Path, saved: Path, options: dict[str, Any], why: str) -> None:
    with pytest.raises(Invalid) as caught:
        triage(tmp_path, **options)
    assert str(caught.value) == why


def test_work_on_nothing_starts_no_compiler(tmp_path: Path, saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = printed(capsys, tmp_path, work=True)
    assert (out, err) == ([f"no sighting waits for triage; {next_line('triage', '--campaign', tmp_path)}"], [])


def test_a_cause_that_does_not_wait_cannot_be_investigated(tmp_path: Path, saved: Path) -> None:
    lists = command("triage", "--all", "--campaign", tmp_path)
    with pytest.raises(Invalid) as caught:
        triage(tmp_path, work=True, cause=f"crashes/{saved.name}")
    assert str(caught.value) == f"crashes/{saved.name}: no sighting of this name waits; `{lists}` lists them"


def test_each_sighting_of_a_cause_names_it(tmp_path: Path, make: Make) -> None:
    with Store(tmp_path, 1) as store:
        store.save_state()
        queue = Queue(tmp_path)
        for message in ("Unresolved call tirx.acos", "Unresolved call tirx.cos", "another"):
            found, sighting = make(message)
            queue.add(found.case, sighting, {})
    causes = causes_in(tmp_path)
    together = next(cause for cause in causes.provisional if len(cause.members) == 2)
    names = {doc.slug for doc in together.members}
    for name in names:
        assert members_of(causes, name) == members_of(causes, str(tmp_path / "waiting" / name)) == names


def test_what_other_components_are_to_blame_for_is_listed_on_demand(
    tmp_path: Path, make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(tmp_path, 1) as store:
        found, sighting = make("no function")
        signature = replace(found.signature, component=Component.EXPORTER)
        finding = replace(sighting.finding, component=Component.EXPORTER)
        Queue(tmp_path).add(found.case, replace(sighting, signature=signature, finding=finding), {})
        store.save(make("no layout")[0], {})
    out, _ = printed(capsys, tmp_path)
    assert out[-3] == "not TVM's (exporter): 1 sighting; --component lists them"
    assert not any("waiting for triage" in line or "not confirmed" in line for line in out)
    for options in ({"everything": True}, {"component": Component.EXPORTER}):
        out, _ = printed(capsys, tmp_path, **options)
        assert "not confirmed yet: 1 cause, seen in 1 sighting" in out
        assert any("no function" in line for line in out)
    assert not any("no layout" in line for line in out)
    listed = json.loads("".join(printed(capsys, tmp_path, json=True)[0]))
    assert [len(listed[key]) for key in ("causes", "provisional", "other_causes", "other_provisional")] == [1, 0, 0, 1]


# --- the order of the list


def test_each_level_says_how_many_of_it_are_not_listed(
    tmp_path: Path, make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign_of(make, tmp_path, Kind.DIED, Kind.REJECTED)
    out, _ = printed(capsys, tmp_path, top=1, by=Grouping.SEVERITY)
    assert [line for line in out[:-1] if not line.startswith("    ")] == [
        "critical: 1 cause",
        out[1],
        "medium: 1 cause, not listed",
        f"`{command('triage', '--all', '--campaign', tmp_path)}` lists all",
        f"condition not yet looked for: 2 causes; `{command('scope', 1)}` looks for the first of them",
    ]


def test_what_is_perhaps_known_upstream_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    """`divisor_override` of avg_pool2d, among the findings that ship with difftvm."""
    out, _ = printed(capsys, Path(__file__).parents[3], everything=True)
    (place,) = (place for place, line in enumerate(out) if line.endswith("  wrong-value-avgpool2d-6e4dd706fa5e"))
    assert out[place + 2].startswith("      perhaps known upstream: apache/tvm #14795 (")


def campaign_of(make: Make, folder: Path, *kinds: Kind) -> Path:
    """A campaign with findings of these kinds, each of another cause."""
    with Store(folder, 1) as store:
        for number, kind in enumerate(kinds):
            found, _ = make(f"message {kind}", op=OPS[number])
            frame = f"some.cc:tvm::relax::{OPS[number]}"
            signature = replace(found.signature, kind=kind, skeleton=f"{kind} {number}", frame=frame)
            found = replace(found, signature=signature)
            store.save(found, {})
    return folder


OPS = ("neg", "sqrt", "sigmoid")


def test_severe_findings_come_first_with_the_reasons(
    tmp_path: Path, make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign_of(make, tmp_path, Kind.REJECTED, Kind.DIED, Kind.INTERNAL_ERROR)
    out, _ = printed(capsys, tmp_path)
    assert out[0] == "found earlier: 3 causes"
    shown = [line.split("  ") for line in out[1:4]]
    assert [(each[1], each[2].strip(), each[-1].split("-")[0]) for each in shown] == [
        ("1", "critical", "died"),
        ("2", "high", "internal"),
        ("3", "medium", "rejected"),
    ]
    out, _ = printed(capsys, tmp_path, everything=True)
    assert out[2].startswith("      it ends the process; ")


def test_the_first_causes_are_listed_and_the_rest_is_counted(
    tmp_path: Path, make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign_of(make, tmp_path, *[Kind.DIED] * 3)
    out, _ = printed(capsys, tmp_path, top=1)
    assert sum("  died-" in line for line in out[:-2]) == 1
    assert out[0] == "found earlier: 3 causes"
    assert out[-4:-2] == ["  and 2 more", f"`{command('triage', '--all', '--campaign', tmp_path)}` lists all"]
    assert out[-1].startswith("3 confirmed causes: 3 critical; 3 findings; next: ")
    out, _ = printed(capsys, tmp_path, top=1, everything=True)
    assert sum("  died-" in line for line in out[:-1]) == 3


def test_the_findings_of_one_cause_are_one_entry_and_all_are_listed_on_request(
    tmp_path: Path, make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    blame = Blame(Place.FRONTEND, "relu", "_relu", origin=Origin(converter="_relu", lines=("_relu+1", "_relu+2")))
    with Store(tmp_path, 1) as store:
        slugs = [
            doc.slug
            for word in ("here", "there", "below")
            if (doc := store.save(replace(make(f"no layout for it {word}")[0], blame=blame), {}))
        ]
    out, _ = printed(capsys, tmp_path)
    assert sum("  internal-error-" in line for line in out) == 1
    assert "; met in 3 tests, last " in out[1]
    assert "  [3 findings; " in out[1]
    assert out[-1].startswith("1 confirmed cause: 1 high; 3 findings; next: ")
    out, _ = printed(capsys, tmp_path, everything=True)
    assert "      perhaps one cause with 2 other findings: internal-error relu" in out
    assert all(sum(slug in line for line in out[:-1]) == 1 for slug in slugs)
    docs = json.loads("".join(printed(capsys, tmp_path, json=True, everything=True)[0]))["findings"]
    assert len({doc["family"] for doc in docs}) == 1


@pytest.mark.parametrize(
    ("by", "heads"),
    [
        (Grouping.AGE, ["found earlier: 2 causes"]),
        (Grouping.SEVERITY, ["critical: 1 cause", "medium: 1 cause"]),
        (Grouping.COMPONENT, ["tvm: 2 causes"]),
        (Grouping.OPERATOR, ["neg: 1 cause", "sqrt: 1 cause"]),
        (Grouping.PASS, ["no pass: not located: 2 causes"]),
        (Grouping.KIND, ["died: 1 cause", "rejected: 1 cause"]),
        (Grouping.RELEASE, ["in all releases that were run: 2 causes"]),
    ],
)
def test_groups(tmp_path: Path, make: Make, capsys: pytest.CaptureFixture[str], by: Grouping, heads: list[str]) -> None:
    campaign_of(make, tmp_path, Kind.DIED, Kind.REJECTED)
    out, _ = printed(capsys, tmp_path, by=by)
    assert [line for line in out[:-2] if not line.startswith(" ")] == heads
    assert out[-2].startswith("condition not yet looked for: 2 causes")


def test_csv_and_json_have_all_findings_in_this_order(
    tmp_path: Path, make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign_of(make, tmp_path, Kind.REJECTED, Kind.DIED)
    rows = list(csv.DictReader(printed(capsys, tmp_path, csv=True, top=1)[0]))
    assert [row["kind"] for row in rows] == ["died", "rejected"]
    assert rows[0]["severity"] == "critical"
    docs = json.loads("".join(printed(capsys, tmp_path, json=True, top=1, everything=True)[0]))["findings"]
    assert [doc["kind"] for doc in docs] == ["died", "rejected"]
    assert docs[0]["severity"]["level"] == "critical"
    assert docs[0]["severity"]["reasons"][0] == "it ends the process"


# --- what is counted


def counting(folder: Path, seed: int) -> Path:
    with Store(folder, seed) as store:
        counters = store.state.counters
        counters.tests, counters.unsupported, counters.lacking = seed, {"lane": seed}, {"lane": {"op": seed}}
        store.state.known[known_issues()[0].name] = seed
    return folder


def counts(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """The first line of each table."""
    return printed(capsys, folder, known=True)[0][0].split()[0], printed(capsys, folder, unsupported=True)[0][0]


def test_merged_campaigns_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    into = counting(tmp_path / "c", 1)
    merge([counting(tmp_path / "a", 20), counting(tmp_path / "b", 300)], into)
    assert counts(into, capsys) == ("321", "lane: 1 thing lacking, met in 321 tests")


def test_the_counters_are_read_from_the_index_or_from_campaign_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = ("20", "lane: 1 thing lacking, met in 20 tests")
    (counting(tmp_path / "a", 20) / state.NAME).write_text('{"seed": ')
    assert counts(tmp_path / "a", capsys) == expected
    (counting(tmp_path / "b", 20) / index.NAME).unlink()
    assert counts(tmp_path / "b", capsys) == expected
    state.write(tmp_path, State(0, known={known_issues()[0].name: 7}))
    index.Index(tmp_path).close()  # killed before it wrote its counters there
    assert counts(tmp_path, capsys) == ("7", "nothing is counted yet")


def test_a_damaged_index_is_reported_because_it_may_hold_more(tmp_path: Path) -> None:
    (counting(tmp_path, 20) / index.NAME).write_bytes(b"garbage" * 999)
    with pytest.raises(Invalid, match="--repair"):
        triage(tmp_path, known=True)
