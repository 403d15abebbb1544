"""A campaign or a ledger from elsewhere with a journal that names a file of the user, which SQLite would delete: each
command that opens the database ends with one sentence, and the file is there afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from in_process import fuzz
from journals import write_journal

from fuzzer.campaign.store import index
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.triage.waiting import Queue
from fuzzer.filing.ledger import Ledger
from tests.fuzzer.conftest import VERSIONS, raised, small_case


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "status --campaign {campaign}",
        "status --repair --campaign {campaign}",
        "run --tests 1 --campaign {campaign}",
        "merge {other} --into {campaign}",
        "merge {campaign} --into {other}",
        "triage --known --campaign {campaign}",
        "triage --work --campaign {campaign}",
        "dashboard --campaign {campaign}",
        "dashboard --campaign {other} --ledger {ledger}",
        "file {finding} --ledger {ledger}",
        "minimize {finding} --out {campaign}",
    ],
)
def test_a_journal_that_names_a_file_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    mine, campaign, other, ledger = (tmp_path / name for name in ("mine", "campaign", "other", "filed.sqlite"))
    mine.write_text("mine")
    with Store(other, 2), Store(campaign, 1) as store:
        doc = store.save(raised()[0], VERSIONS)
        assert doc is not None
        Queue(campaign).add(small_case("neg"), raised("no rule", "neg")[1], VERSIONS)
    Ledger(ledger).__exit__(None, None, None)
    for database in (campaign / index.NAME, ledger):
        write_journal(database, str(mine))
    places = {"campaign": campaign, "finding": campaign / "crashes" / doc.slug, "ledger": ledger, "other": other}
    code = fuzz(monkeypatch, *words.format(**places).split())
    (line,) = capsys.readouterr().err.splitlines()
    assert code == 64
    assert line.startswith("fuzz: ")
    assert "it names another file, which SQLite would delete" in line
    assert mine.read_text() == "mine"
