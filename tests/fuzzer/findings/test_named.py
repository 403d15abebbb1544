"""A finding is named by its folder, by a part of its name that no other has, or by its number in the last list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fuzzer.campaign.store.store import Store
from fuzzer.findings.named import finding_named
from fuzzer.system import last_list
from fuzzer.triage.investigate import Investigated, Sighting
from generators.graph import Invalid


@pytest.fixture
def folders(tmp_path: Path, make: Callable[..., tuple[Investigated, Sighting]]) -> list[Path]:
    """Three findings, of `neg`, `abs` and `absolute`."""
    with Store(tmp_path, 1) as store:
        docs = [store.save(make(f"no {op}", op)[0], {}) for op in ("neg", "sqrt", "rsqrt")]
    return [tmp_path / "crashes" / doc.slug for doc in docs if doc]


def test_a_part_of_a_name_that_no_other_has(tmp_path: Path, folders: list[Path]) -> None:
    neg, sqrt, rsqrt = folders
    assert finding_named("neg", tmp_path) == neg
    assert finding_named(sqrt.name[-12:], tmp_path) == sqrt
    assert finding_named("rsqrt", tmp_path) == rsqrt
    assert finding_named(tmp_path / "crashes" / "neg") == neg
    assert finding_named(neg) == neg
    with pytest.raises(
        Invalid, match=f"^sqrt: 2 findings have this in their names: .*{sqrt.name}.*; write more of one$"
    ):
        finding_named("sqrt", tmp_path)


def test_what_nothing_has_as_a_name_is_left_to_its_reader(tmp_path: Path, folders: list[Path]) -> None:
    assert finding_named("cos", tmp_path) == Path("cos")


def test_the_number_of_the_list_that_was_shown_last(
    tmp_path: Path, folders: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with pytest.raises(Invalid, match=r"^1: no list was shown in this folder yet; `fuzz triage` shows one$"):
        finding_named("1")
    last_list.keep(folders)
    assert finding_named("2") == folders[1]
    with pytest.raises(Invalid, match=r"^4: the list that was shown last has numbers from 1 to 3$"):
        finding_named("4")
    with pytest.raises(
        Invalid, match=r"^3: the list that was shown last is not of other; `.* triage --campaign other` shows its list$"
    ):
        finding_named("3", Path("other"))
    monkeypatch.chdir(tmp_path)
    assert finding_named("3") == folders[2].relative_to(tmp_path)
    assert finding_named("3", tmp_path) == folders[2].relative_to(tmp_path)
    folders[2].rename(tmp_path / "elsewhere")
    with pytest.raises(Invalid, match=f"^3: {folders[2]}, which the list .* is gone; `fuzz triage` lists anew$"):
        finding_named("3")
    (tmp_path / "state" / "difftvm" / last_list.NAME).write_text("{")
    assert last_list.read() == []


@pytest.mark.parametrize("listed", ["../camp", "{}/camp", "../link"])
@pytest.mark.parametrize("campaign", ["../camp", "{}/camp", "../link"])
def test_one_campaign_may_be_named_in_several_ways(
    listed: str, campaign: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    finding = tmp_path / "camp" / "crashes" / "neg"
    for folder in (finding, tmp_path / "work"):
        folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "camp")
    monkeypatch.chdir(tmp_path / "work")
    last_list.keep([Path(listed.format(tmp_path)) / "crashes" / "neg"])
    assert finding_named("1", Path(campaign.format(tmp_path))).samefile(finding)


def test_where_a_list_cannot_be_remembered_nothing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    last_list.keep([tmp_path])
    assert last_list.read() == []
