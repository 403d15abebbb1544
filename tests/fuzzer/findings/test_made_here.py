"""The mark by which a finding counts as made here by this user."""

from __future__ import annotations

import stat
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from fuzzer.campaign.store.store import Store
from fuzzer.findings import finding_file, made_here, record
from fuzzer.report import add_to
from fuzzer.signature.blame import Introduction
from fuzzer.system.state_folder import state_folder
from tests.fuzzer.conftest import raised

ELSEWHERE = "it comes from elsewhere, or from an earlier version of difftvm"
CHANGED = "it was changed, or made by another user or on another machine"


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def finding(tmp_path: Path) -> Path:
    with Store(tmp_path / "campaign", 1) as store:
        doc = store.save(raised("no relu for you", "relu")[0], {"tvm": "0.27.0"})
        assert doc is not None
        return store.crashes / doc.slug


def test_only_this_user_may_read_the_key(finding: Path) -> None:
    key = state_folder() / made_here.KEY
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(key.read_bytes()) == made_here.KEY_BYTES
    assert [path.name for path in state_folder().iterdir()] == [made_here.KEY]
    assert not made_here.why_not(finding)
    key.chmod(0o644)
    assert "it is no key that only this user may read" in made_here.why_not(finding)


@pytest.mark.parametrize("name", ["finding.json", "case.json", "tensors.safetensors", "natural.json", "onnx.json"])
def test_a_file_that_was_changed_or_added_ends_it(finding: Path, name: str) -> None:
    path = finding / name
    path.write_bytes((path.read_bytes() if path.exists() else b"{}") + b" ")
    assert made_here.why_not(finding) == CHANGED


def test_files_of_two_findings_together_have_no_mark(finding: Path) -> None:
    """Somebody who got both can give them back as one, with both marks."""
    with Store(finding.parents[1], None) as store:
        doc = store.save(raised("no abs for you", "abs")[0], {"tvm": "0.27.0"})
        assert doc is not None
        other = store.crashes / doc.slug
    made_here.write(other, {"natural.json": b"{}", "ir-before.txt": b"another"})
    assert not made_here.why_not(other)
    (finding / "ir-before.txt").write_bytes(b"another")
    (finding / made_here.NAME).write_text((finding / made_here.NAME).read_text() + (other / made_here.NAME).read_text())
    assert made_here.why_not(finding) == CHANGED
    (other / "natural.json").unlink()
    assert made_here.why_not(other) == CHANGED


def test_a_finding_of_another_user(finding: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    assert made_here.why_not(finding) == CHANGED


def test_a_finding_without_a_mark(finding: Path) -> None:
    (finding / made_here.NAME).unlink()
    assert made_here.why_not(finding) == ELSEWHERE
    add_to.add_introduction(finding, Introduction(("a",)))
    assert made_here.why_not(finding) == ELSEWHERE, "a verb of ours that changes it does not vouch for it"


def test_a_merge_keeps_the_mark(finding: Path, tmp_path: Path) -> None:
    with Store(tmp_path / "into", None) as store:
        assert store.copy_finding(finding, finding_file.read(finding))
        assert not made_here.why_not(store.crashes / finding.name)


def test_our_own_changes_keep_the_mark(finding: Path) -> None:
    for build in ("a", "b"):
        add_to.add_introduction(finding, Introduction((build,)))
        assert finding_file.read(finding).introduced.builds == (build,)
        assert not made_here.why_not(finding)


def test_a_change_that_is_cut_short_keeps_the_mark(finding: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = made_here.write_atomically

    def cut_short(path: Path, data: bytes, below: Path) -> None:
        if path.name == finding_file.NAME:
            raise OSError("no space")
        written(path, data, below)

    monkeypatch.setattr(made_here, "write_atomically", cut_short)
    with pytest.raises(OSError, match="no space"):
        add_to.add_introduction(finding, Introduction(("a",)))
    assert not finding_file.read(finding).introduced.builds
    assert not made_here.why_not(finding)


def test_a_flaky_finding_has_no_mark(tmp_path: Path) -> None:
    with Store(tmp_path / "campaign", 1) as store:
        doc = store.save(replace(raised("no relu for you", "relu")[0], again=1), {"tvm": "0.27.0"})
        assert doc is not None
        assert doc.flaky
        assert made_here.why_not(store.crashes / doc.slug) == ELSEWHERE


def test_a_finding_is_saved_where_there_can_be_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with Store(tmp_path / "campaign", 1) as store:
        doc = store.save(raised("no relu for you", "relu")[0], {"tvm": "0.27.0"})
        assert doc is not None
        assert finding_file.read(store.crashes / doc.slug).signature == doc.signature
    assert "its scripts need --trust later" in capsys.readouterr().err


def test_what_is_put_into_the_folder_meanwhile_gets_no_mark(finding: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process changes the case after each time that files were read."""
    read = made_here.plain_files

    def read_and_swapped(folder: Path, names: Collection[str]) -> dict[str, bytes]:
        found = read(folder, names)
        if folder == finding and names == made_here.MARKED:
            (finding / "case.json").write_bytes(b'{"hostile": 1}')
        return found

    with monkeypatch.context() as context:
        context.setattr(made_here, "plain_files", read_and_swapped)
        made_here.write(finding, {"issue.md": b"more"})
    assert made_here.why_not(finding) == CHANGED


def test_what_was_checked_is_what_is_decoded(finding: Path) -> None:
    own = made_here.own(finding)
    before = record.read(finding)
    (finding / "case.json").write_bytes(b'{"hostile": 1}')
    assert own.record().doc == before.doc
    with pytest.raises(made_here.NotMadeHere, match=CHANGED):
        made_here.own(finding)


@pytest.mark.parametrize("replaced", ["crashes", "the finding"])
def test_nothing_is_written_through_a_link(finding: Path, tmp_path: Path, replaced: str) -> None:
    folder = finding.parent if replaced == "crashes" else finding
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    before = {path: path.read_bytes() for path in (tmp_path / "moved").rglob("*") if path.is_file()}
    with pytest.raises(OSError, match=folder.name):
        made_here.write(finding, {"issue.md": b"more"})
    assert {path: path.read_bytes() for path in (tmp_path / "moved").rglob("*") if path.is_file()} == before
