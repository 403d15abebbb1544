"""A file or folder that the user names with `--out`: a device in its place stays, and the command ends with one
sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from in_process import fuzz

FULL = "/dev/full"


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.parametrize(
    "words",
    [
        ["dashboard", "--campaign", "{campaign}"],
        ["report", "{finding}"],
        ["report", "{finding}", "--format", "html"],
        ["file", "{finding}"],
        ["gen", "--count", "1"],
        ["minimize", "{finding}"],
        ["sweep", "--ops", "neg"],
    ],
    ids=lambda words: words[0],
)
def test_a_device_stays(
    saved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    words = [word.format(campaign=saved.parent.parent, finding=saved) for word in words]
    code = fuzz(monkeypatch, *words, "--out", FULL)
    *before, line = capsys.readouterr().err.splitlines()
    assert code == 64
    assert line.startswith(f"fuzz: {FULL}")
    assert not any(each.startswith("fuzz: ") for each in before)
    assert Path(FULL).is_char_device()


@pytest.mark.parametrize(
    "words", [["dashboard", "--campaign", "{campaign}"], ["report", "{finding}"]], ids=lambda words: words[0]
)
def test_a_device_is_written(saved: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    words = [word.format(campaign=saved.parent.parent, finding=saved) for word in words]
    assert fuzz(monkeypatch, *words, "--out", "/dev/null") == 0
    assert Path("/dev/null").is_char_device()
