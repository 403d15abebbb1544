"""Campaigns of many boxes become one, and nothing is lost or counted twice."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from graphs_by_hand import case_of

from fuzzer.campaign.run.merge import Merged, merge
from fuzzer.campaign.store.index import Index
from fuzzer.campaign.store.layout import FOLDER_FILES, WAITING
from fuzzer.campaign.store.rows import index_row
from fuzzer.campaign.store.store import Store, repair
from fuzzer.campaign.triage.waiting import Queue
from fuzzer.findings import finding_file
from fuzzer.lanes import TORCH
from fuzzer.seeds import corpus
from fuzzer.system.machine_facts import MachineFacts
from fuzzer.triage.investigate import Investigated, Sighting
from fuzzer.watching.finding_summary import found_at
from fuzzer.watching.on_disk import counted_in, counters_of
from generators.graph import Invalid
from oracles.outcome import Ran

Make = Callable[..., tuple[Investigated, Sighting]]
VERSIONS = {"torch": "2.13.0", "tvm": "0.27.0"}


def campaign(folder: Path, seed: int, tests: int, *found: tuple[Investigated, Sighting]) -> Path:
    with Store(folder, seed) as store:
        for number in range(tests):
            store.record(index_row(number, 0.5, {TORCH: Ran(())}, ("relu",)))
        store.finished(tests)
        store.state.counters.tests = tests
        for each in found:
            store.save(each[0], VERSIONS)
    return folder


def other(made: tuple[Investigated, Sighting]) -> tuple[Investigated, Sighting]:
    found, sighting = made
    signature = replace(found.signature, skeleton="another")
    return replace(found, signature=signature), replace(sighting, signature=signature)


def slugs(folder: Path) -> list[str]:
    return sorted(finding_file.read(path).slug for path in (folder / "crashes").iterdir())


def test_tests_findings_and_books_of_all(tmp_path: Path, make: Make) -> None:
    a = campaign(tmp_path / "a", 1, 3, make())
    b = campaign(tmp_path / "b", 2, 4, make(), other(make()))
    into = tmp_path / "c"
    assert merge([a, b], into) == [Merged(a, 3, 1, 0), Merged(b, 4, 1, 1)]
    assert slugs(into) == slugs(b)
    with Index(into, writes=False) as read:
        assert [(seed, counters.tests) for _, seed, counters in read.origins()[1:]] == [(1, 3), (2, 4)]
        assert read.tests == 7
        assert read.operators() == [("relu", "torch", "ran", 7)]
        assert read.rows(tuple, "SELECT sum(tests) FROM counts WHERE kind = 'finding'") == [(3,)]


def test_sightings_that_wait_wait_in_the_merged_campaign(tmp_path: Path, make: Make) -> None:
    (known, sighting), (unknown, another) = make(), make("another message", op="neg")
    a = campaign(tmp_path / "a", 1, 3)
    for found, each in ((known, sighting), (unknown, another)):
        Queue(a).add(found.case, each, VERSIONS)
    into = campaign(tmp_path / "c", 2, 1, (known, sighting))
    for _ in range(2):
        merge([a], into)
        assert len(Queue(into)) == 2
    assert len(Queue(a)) == 2
    (next((a / WAITING).iterdir()) / "case.json").unlink()
    (next((a / WAITING).iterdir()) / "case.json").symlink_to("/etc/hostname")
    with pytest.raises(Invalid, match=r"case\.json"):
        merge([a], into)


def test_a_finding_is_as_old_as_it_was(tmp_path: Path, make: Make, made_at: Callable[[Path, float], None]) -> None:
    a = campaign(tmp_path / "a", 1, 1, make())
    (slug,) = slugs(a)
    made_at(a / "crashes" / slug, 1e9)
    merge([a], tmp_path / "b")
    merge([tmp_path / "b"], tmp_path / "c")
    os.utime(tmp_path / "c" / "crashes" / slug / finding_file.NAME, (2e9, 2e9))
    assert found_at([finding_file.read(tmp_path / "c" / "crashes" / slug)]) == {slug: 1e9}


def test_again_changes_nothing_and_what_came_since_is_brought(tmp_path: Path, make: Make) -> None:
    a, into = campaign(tmp_path / "a", 1, 3, make()), tmp_path / "c"
    merge([a], into)
    assert merge([a], into) == [Merged(a, 0, 0, 1)]
    campaign(a, 1, 5, other(make()))
    assert merge([a], into) == [Merged(a, 2, 1, 1)]


def test_all_machines_that_showed_a_finding_are_kept(tmp_path: Path, make: Make) -> None:
    """Those of a finding that both campaigns have, too; a finding of an earlier version names none."""
    folders = [campaign(tmp_path / name, 1, 3, make()) for name in "abc"]
    machines = [MachineFacts("Linux", "A CPU", ("avx2",)), MachineFacts("Linux", "Another CPU", ("neon",)), None]
    for folder, machine in zip(folders, machines, strict=True):
        (path,) = (folder / "crashes").iterdir()
        doc = finding_file.read(path)
        doc.machines = (machine,) if machine else ()
        (path / finding_file.NAME).write_bytes(finding_file.encode(doc))
    a, b, c = folders
    merge([a, c], b)
    merge([a, c], b)
    (path,) = (b / "crashes").iterdir()
    assert finding_file.read(path).machines == (machines[1], machines[0])
    environment = (path / "issue.md").read_text().partition("### Environment")[2]
    assert (
        "- Seen on Linux; Another CPU; with neon; 1 thread\n- Seen on Linux; A CPU; with avx2; 1 thread\n"
        in environment
    )


def test_merged_campaigns_merge_on_and_back(tmp_path: Path) -> None:
    a, b = campaign(tmp_path / "a", 1, 3), campaign(tmp_path / "b", 2, 4)
    merge([a], b)
    merge([b], tmp_path / "c")
    assert merge([b], a) == [Merged(b, 4, 0, 0)], "its own tests came back, and are there"
    with Index(tmp_path / "c", writes=False) as read:
        assert read.tests == 7
        assert read.operators() == [("relu", "torch", "ran", 7)]


def test_an_older_copy_of_a_campaign_brings_nothing_back(tmp_path: Path, make: Make) -> None:
    a, into = campaign(tmp_path / "a", 1, 3), tmp_path / "c"
    shutil.copytree(a, tmp_path / "older")
    campaign(a, 1, 5)
    merge([a], into)
    assert merge([tmp_path / "older"], into) == [Merged(tmp_path / "older", 0, 0, 0)]
    with Index(into, writes=False) as read:
        assert [counters.tests for *_, counters in read.origins()] == [0, 5]
        assert read.operators() == [("relu", "torch", "ran", 8)]


def test_a_running_source_is_read(tmp_path: Path) -> None:
    campaign(tmp_path / "a", 1, 3)
    with Store(tmp_path / "a", 1):
        assert merge([tmp_path / "a"], tmp_path / "c")[0].tests == 3


def test_what_is_no_campaign_stops_it_before_anything_is_written(tmp_path: Path) -> None:
    a = campaign(tmp_path / "a", 1, 3)
    with pytest.raises(Invalid, match=r"nowhere: no campaign; `fuzz run --campaign .*nowhere` starts one$"):
        merge([a, tmp_path / "nowhere"], tmp_path / "c")
    (campaign(tmp_path / "b", 2, 1) / "index.sqlite").unlink()
    with pytest.raises(Invalid, match=r"b: this campaign has no index; `fuzz status --repair --campaign .*b` makes"):
        merge([a, tmp_path / "b"], tmp_path / "c")
    with pytest.raises(Invalid, match="into itself"):
        merge([a], a)
    assert not (tmp_path / "c").exists()


def test_what_cannot_be_read_stops_it_before_anything_is_written(tmp_path: Path, make: Make) -> None:
    a, b, into = campaign(tmp_path / "a", 1, 3, make()), campaign(tmp_path / "b", 2, 4, make()), tmp_path / "c"
    damaged = b / "crashes" / slugs(b)[0]
    (damaged / finding_file.NAME).write_text("{}")
    with pytest.raises(Invalid, match=f"; move {damaged} out of {b / 'crashes'}/ to go on without it$"):
        merge([a, b], into)
    assert not into.exists()
    damaged.rename(tmp_path / "damaged")
    assert merge([a, b], into) == [Merged(a, 3, 1, 0), Merged(b, 4, 0, 0)]
    (b / "index.sqlite").write_bytes(b"garbage" * 999)
    with pytest.raises(Invalid, match="status --repair"):
        merge([a, b], tmp_path / "d")
    assert not (tmp_path / "d").exists()


def test_an_index_that_is_damaged_somewhere_stops_it_too(tmp_path: Path) -> None:
    a, b = campaign(tmp_path / "a", 1, 3), campaign(tmp_path / "b", 2, 2000)
    path = b / "index.sqlite"
    whole = bytearray(path.read_bytes())
    last = len(whole) - 4096
    whole[last : last + 2048] = bytes(2048)
    path.write_bytes(whole)
    Index(b, writes=False).close()  # its beginning is sound
    with pytest.raises(Invalid, match=r"b/index\.sqlite: .*status --repair --campaign .*b`"):
        merge([a, b], tmp_path / "c")
    assert not (tmp_path / "c").exists()


HUGE = (1 << 63) - 1


@pytest.mark.parametrize(
    "values",
    [
        f"operators VALUES (1, 'relu', 1, 'ran', {HUGE})",
        "counts VALUES ('finding', 'x', 1, -1)",
        f"features VALUES ('x', 1, 0, {HUGE})",
        "tests VALUES (1, -5, 0)",
        "tests VALUES (1, 5, 'x')",
    ],
)
def test_a_number_that_no_campaign_counts_stops_it_too(tmp_path: Path, values: str) -> None:
    """Sums of such numbers would be no numbers of SQLite, and the merged campaign could not be read."""
    a, b = campaign(tmp_path / "a", 1, 3), campaign(tmp_path / "b", 2, 3)
    with closing(sqlite3.connect(b / "index.sqlite")) as db:
        db.execute(f"INSERT OR REPLACE INTO {values}")
        db.commit()
    with pytest.raises(Invalid, match=r"b/index\.sqlite: Expected"):
        merge([a, b], tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_sums_beyond_sqlite_s_integers_can_be_read(tmp_path: Path) -> None:
    """An earlier version merged any numbers."""
    folder = campaign(tmp_path / "a", 1, 3)
    with closing(sqlite3.connect(folder / "index.sqlite")) as db:
        for origin in (2, 3):
            db.execute("INSERT INTO operators VALUES (?, 'relu', 1, 'ran', ?)", (origin, HUGE))
            db.execute("INSERT INTO counts VALUES ('finding', 'x', ?, ?)", (origin, HUGE))
        db.commit()
    with Index(folder, writes=False) as read:
        assert read.operators() == [("relu", "torch", "ran", HUGE)]
        assert counters_of(read).found == {"x": HUGE}


def test_a_finding_was_met_last_in_the_campaign_that_met_it_last(tmp_path: Path) -> None:
    folder = campaign(tmp_path / "a", 1, 3)
    with closing(sqlite3.connect(folder / "index.sqlite")) as db:
        db.executemany("INSERT INTO counts VALUES ('last', 'x', ?, ?)", [(2, 300), (3, 100)])
        db.commit()
    assert counted_in(folder).last == {"x": 300}


def test_books_that_were_lost_with_the_index_come_back_when_it_is_done_again(tmp_path: Path, make: Make) -> None:
    a, into = campaign(tmp_path / "a", 1, 3, make()), campaign(tmp_path / "c", 2, 4)
    merge([a], into)
    (into / "index.sqlite").unlink()
    repair(into)
    with Index(into, writes=False) as read:
        assert [counters.tests for *_, counters in read.origins()] == [4], "docs/watching.md says so"
    assert merge([a], into) == [Merged(a, 3, 0, 1)]
    with Index(into, writes=False) as read:
        assert [counters.tests for *_, counters in read.origins()] == [4, 3]


def test_only_files_that_a_finding_may_have_are_copied(tmp_path: Path, make: Make) -> None:
    source = campaign(tmp_path / "a", 1, 1, make())
    (folder,) = (source / "crashes").iterdir()
    (folder / "notes.txt").write_text("mine")
    os.mkfifo(folder / "pipe")
    merge([source], tmp_path / "into")
    (copy,) = (tmp_path / "into" / "crashes").iterdir()
    assert {path.name for path in copy.iterdir()} == {path.name for path in folder.iterdir()} - {"notes.txt", "pipe"}


def test_two_findings_of_one_name_stop_it_before_anything_is_written(tmp_path: Path, make: Make) -> None:
    source = campaign(tmp_path / "a", 1, 1, make())
    (folder,) = (source / "crashes").iterdir()
    shutil.copytree(folder, folder.with_name("copy"))
    with pytest.raises(Invalid, match=f"crashes: two findings have the name {folder.name}; move one of them away$"):
        merge([source], tmp_path / "into")
    assert not (tmp_path / "into").exists()


def test_another_finding_of_that_name_is_not_replaced(tmp_path: Path, make: Make) -> None:
    source = campaign(tmp_path / "a", 1, 1, make())
    (folder,) = (source / "crashes").iterdir()
    (tmp_path / "into" / "crashes" / folder.name).mkdir(parents=True)
    with Store(tmp_path / "into", 2) as store, pytest.raises(Invalid, match=f"it has the name of {folder}, and is"):
        store.copy_finding(folder, finding_file.read(folder))


def test_all_files_of_shipped_findings_are_copied() -> None:
    shipped = Path(__file__).parents[3] / "crashes"
    assert {path.name for path in shipped.glob("*/*")} <= FOLDER_FILES


@pytest.mark.parametrize("damage", ["garbage", json.dumps({"format": 2, "dialect": "torch"})])
def test_a_case_of_the_corpus_that_cannot_be_read_is_refused_before_anything_is_written(
    tmp_path: Path, damage: str
) -> None:
    a, into = campaign(tmp_path / "a", 1, 3), tmp_path / "c"
    corpus.add(a, "good", case_of({"x0": "float32[2]"}, [("v0", "relu", "x0")], "v0"))
    shutil.copytree(a / "corpus" / "good", a / "corpus" / "bad")
    (a / "corpus" / "bad" / "case.json").write_text(damage)
    with pytest.raises(Invalid, match=r"corpus/bad/case\.json: "):
        merge([a], into)
    assert not into.exists()


@pytest.mark.parametrize("folder", ["crashes", "corpus", "crashes/x", "waiting"])
def test_a_campaign_is_not_merged_into_its_own_folders(tmp_path: Path, folder: str) -> None:
    a = campaign(tmp_path / "a", 1, 3)
    with pytest.raises(Invalid, match="into itself or one of its own folders"):
        merge([a], a / folder)
