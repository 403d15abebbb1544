"""A lane may put a link in the place of a folder of the campaign while it runs. Nothing is written behind it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from fuzzer.campaign.cases.cases import UnchangedCases
from fuzzer.campaign.plan.test_numbers import Share
from fuzzer.campaign.store import own_errors
from fuzzer.campaign.store.layout import ELSEWHERE, ERRORS, PARKED, WAITING
from fuzzer.campaign.store.store import Store, add_elsewhere
from fuzzer.campaign.triage import waiting_item
from fuzzer.campaign.triage.waiting import Queue
from fuzzer.filing import draft as drafts
from fuzzer.findings import made_here
from fuzzer.seeds import corpus
from generators.graph import Invalid
from tests.fuzzer.conftest import VERSIONS, raised, small_case

FIXED = "fixed"


class Running:
    """A campaign that has written to each of its folders."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store(folder, 1)
        doc = self.store.save(raised()[0], VERSIONS)
        assert doc is not None
        self.finding = self.store.crashes / doc.slug
        self.queue = Queue(folder)
        self.queue.add(small_case(), raised("no buffer")[1], VERSIONS)
        self.cases = {"a": small_case(), "b": small_case("neg")}
        for name, case in self.cases.items():
            corpus.add(folder, name, case)
        self.unchanged = UnchangedCases(folder / corpus.FOLDER, self.cases, Share())
        self.unchanged.case(0)
        for folder_of_sightings in (PARKED, FIXED):
            self.keep(folder_of_sightings, "no buffer")
        own_errors.keep(folder / ERRORS, own_errors.LANE, 1, None, "an error")
        add_elsewhere(folder, "internal-error-neg-0123456789ab", b"{}")
        drafts.write(drafts.read(self.finding), folder / "drafts")

    def keep(self, where: str, message: str) -> None:
        case, sighting = small_case(), raised(message)[1]
        doc = waiting_item.document(case, sighting, VERSIONS)
        waiting_item.written(self.folder / where / doc.slug, doc, case)

    def park(self) -> None:
        item = self.queue.take()
        assert item is not None
        item.attempts.failed = item.attempts.begun = 3
        self.queue.put_back(item)
        self.queue.take()

    def draft(self) -> None:
        draft = drafts.read(self.finding)
        drafts.write(draft, drafts.own_folder(draft))


@pytest.mark.parametrize(
    ("name", "writes"),
    [
        ("crashes", lambda it: it.store.save(raised("no layout for neg", "neg")[0], VERSIONS)),
        ("crashes", lambda it: made_here.write(it.finding, {"issue.md": b"new"})),
        (WAITING, lambda it: it.queue.add(small_case("neg"), raised("no rule", "neg")[1], VERSIONS)),
        (WAITING, lambda it: it.queue.begin(it.queue.take())),
        (WAITING, lambda it: it.queue.done(it.queue.take(), lambda tests: tests)),
        (WAITING, Running.park),
        (PARKED, Running.park),
        (FIXED, lambda it: it.keep(FIXED, "no rule")),
        (ERRORS, lambda it: own_errors.keep(it.folder / ERRORS, own_errors.LANE, 2, None, "an error")),
        (ELSEWHERE, lambda it: add_elsewhere(it.folder, "internal-error-abs-0123456789ab", b"{}")),
        (ELSEWHERE, lambda it: add_elsewhere(it.folder, "internal-error-neg-0123456789ab", b"other")),
        (corpus.FOLDER, lambda it: corpus.add(it.folder, "c", small_case())),
        (corpus.FOLDER, lambda it: it.unchanged.case(1)),
        ("drafts", Running.draft),
    ],
)
def test_nothing_is_written_or_deleted_behind_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, writes: Callable[[Running], object]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "outside").mkdir()
    running = Running(tmp_path / "campaign")
    (running.folder / name).rename(tmp_path / "outside" / name)
    (running.folder / name).symlink_to(tmp_path / "outside" / name)
    before = files_in(tmp_path / "outside")
    with suppress(OSError, Invalid):
        writes(running)
    assert files_in(tmp_path / "outside") == before


def files_in(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes() for path in folder.glob("**/*")}
