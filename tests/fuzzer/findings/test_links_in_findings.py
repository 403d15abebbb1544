"""Nothing of a finding's folder is read or copied through a link: it may have come from elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fakes import CASE

from fuzzer.campaign.run.merge import merge
from fuzzer.campaign.store.store import Store
from fuzzer.cli import main
from fuzzer.cluster.collection import Collector
from fuzzer.dashboard.data import gather
from fuzzer.findings import record
from fuzzer.seeds import corpus
from generators import case_file
from generators.graph import Invalid
from generators.plain_file import LINK, NO_FILE, plain_files, read_plain

PRIVATE = "what only the user may read"


@pytest.fixture
def private(tmp_path: Path) -> Path:
    path = tmp_path / "private"
    path.write_text(PRIVATE)
    return path


def turned_into_a_link(path: Path, to: Path) -> Path:
    path.unlink(missing_ok=True)
    path.symlink_to(to)
    return path


def contents(folder: Path) -> str:
    return "".join(path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file())


READ = ["finding.json", "case.json", "tensors.safetensors", "ir-before.txt", "ir-after.txt", "onnx.json"]


@pytest.mark.parametrize("name", READ)
def test_a_report_embeds_nothing_from_behind_a_link(saved: Path, private: Path, name: str) -> None:
    link = turned_into_a_link(saved / name, private)
    with pytest.raises(Invalid) as caught:
        record.read(saved)
    assert str(caught.value) == f"{link}: {LINK}"


@pytest.mark.parametrize("name", ["ir-before.txt", "repro.py"])
def test_the_dashboard_embeds_nothing_from_behind_a_link(saved: Path, tmp_path: Path, private: Path, name: str) -> None:
    link = turned_into_a_link(saved / name, private)
    shown = gather(tmp_path)
    assert [row.detail for row in shown.findings] == [None]
    assert f"{link}: {LINK}" in shown.unreadable


@pytest.mark.parametrize("name", ["extra.txt", "repro.py", "finding.json"])
def test_a_merge_copies_nothing_from_behind_a_link(saved: Path, tmp_path: Path, private: Path, name: str) -> None:
    link = turned_into_a_link(saved / name, private)
    with pytest.raises(Invalid) as caught:
        merge([tmp_path], tmp_path / "into")
    assert f"{link}: {LINK}" in str(caught.value)
    assert not (tmp_path / "into").exists()


def test_a_folder_that_is_a_link_is_no_finding(saved: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere-of-the-user"
    saved.rename(elsewhere)
    saved.symlink_to(elsewhere)
    for read in (record.read, case_file.read):
        with pytest.raises(Invalid, match=f"^{saved}: {LINK}$"):
            read(saved)
    with pytest.raises(Invalid, match=f"{saved}: {LINK}"):
        merge([tmp_path], tmp_path / "into")


def test_a_node_sends_nothing_from_behind_a_link(
    saved: Path, tmp_path: Path, private: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(tmp_path, None) as store:
        store.save_state()
    assert any(name.startswith("crashes/") for name in Collector(tmp_path).collect()[0])
    link = turned_into_a_link(saved / "extra.txt", private)
    files, _ = Collector(tmp_path).collect()
    assert [name for name in files if name.startswith("crashes/")] == []
    assert capsys.readouterr().err == f"{saved} stays here: {link}: {LINK}\n"


def test_a_merged_finding_is_known_to_the_store_at_once(saved: Path, tmp_path: Path) -> None:
    """So that a campaign that takes it over while its workers save findings does not save it a second time."""
    doc = record.read(saved).doc
    with Store(tmp_path / "into", 2) as store:
        assert [store.copy_finding(saved, doc), store.copy_finding(saved, doc)] == [True, False]
        assert set(store.findings) == set(store._known_docs) == {doc.signature}
        names = {path.name for path in saved.iterdir()}
        assert plain_files(store.crashes / doc.slug, names) == plain_files(saved, names)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=NO_FILE):
        read_plain(tmp_path / "pipe")


@pytest.mark.parametrize("name", ["crashes", "corpus", "waiting", "parked", "errors", "elsewhere"])
def test_no_campaign_is_opened_whose_folder_is_a_link(tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    (outside / ".tmp-of-the-user").mkdir(parents=True)
    (tmp_path / "campaign").mkdir()
    (tmp_path / "campaign" / name).symlink_to(outside)
    with pytest.raises(Invalid, match=f"campaign/{name}: {LINK}"):
        Store(tmp_path / "campaign", 1)
    assert [path.name for path in outside.iterdir()] == [".tmp-of-the-user"]


def test_findings_behind_a_folder_that_is_a_link_are_not_listed(saved: Path, tmp_path: Path) -> None:
    saved.parent.rename(tmp_path / "elsewhere-of-the-user")
    (tmp_path / "crashes").symlink_to(tmp_path / "elsewhere-of-the-user")
    with pytest.raises(Invalid, match=f"crashes: {LINK}"):
        gather(tmp_path)


def test_a_corpus_that_is_a_link_is_neither_read_nor_written(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "corpus").symlink_to(tmp_path / "outside")
    with pytest.raises(Invalid, match=f"corpus: {LINK}"):
        corpus.names(tmp_path)
    with pytest.raises(Invalid, match=f"corpus: {LINK}"):
        corpus.add(tmp_path, "a", CASE)
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("verb", ["file", "minimize"])
def test_nothing_is_written_beside_a_finding_through_a_link(
    saved: Path, tmp_path: Path, verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "outside").mkdir()
    for name in ("drafts", "minimized"):
        (tmp_path / name).symlink_to(tmp_path / "outside")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("sys.argv", ["fuzz", verb, str(saved)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 64
    assert "it is a link" in capsys.readouterr().err
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_finding_behind_a_folder_of_a_campaign_that_is_a_link_is_not_read(saved: Path, tmp_path: Path) -> None:
    saved.parent.rename(tmp_path / "elsewhere-of-the-user")
    (tmp_path / "crashes").symlink_to(tmp_path / "elsewhere-of-the-user")
    with pytest.raises(Invalid, match=f"crashes: {LINK}"):
        record.read(saved)


def test_a_merge_copies_no_case_from_behind_a_corpus_that_is_a_link(tmp_path: Path) -> None:
    with Store(tmp_path / "theirs", 1) as store:
        store.save_state()
    corpus.add(tmp_path, "private", CASE)
    (tmp_path / "theirs" / "corpus").symlink_to(tmp_path / "corpus")
    with pytest.raises(Invalid, match=f"corpus: {LINK}"):
        merge([tmp_path / "theirs"], tmp_path / "into")
    assert not (tmp_path / "into").exists()
