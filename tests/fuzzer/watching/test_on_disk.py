"""The messages about a campaign's folder without an index."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fuzzer.campaign.store import filing_progress
from fuzzer.campaign.store.index import NAME
from fuzzer.campaign.store.store import Store
from fuzzer.watching.on_disk import opened
from generators.graph import Invalid


def why(folder: Path) -> str:
    with pytest.raises(Invalid) as caught:
        opened(folder)
    return str(caught.value).removeprefix(f"{folder}: ")


def test_where_there_is_no_index_the_next_step_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    assert why(folder) == f"no campaign; `fuzz run --campaign {folder}` starts one"
    starting = f"process {os.getpid()} is just starting this campaign; nothing of it is written yet"
    with Store(folder, 1):
        assert why(folder) == starting
    opened(folder).close()
    (folder / NAME).unlink()
    assert why(folder) == f"this campaign has no index; `fuzz status --repair --campaign {folder}` makes one"
    (tmp_path / "file").touch()
    assert why(tmp_path / "file") == "no campaign, but a file"


@pytest.mark.parametrize("contents", [b"\xff", b'{"trouble": "\xff"}', b"[" * 5000, b'{"x": ' + b"[" * 5000])
def test_progress_of_filing_that_is_no_document_is_refused(tmp_path: Path, contents: bytes) -> None:
    (tmp_path / filing_progress.NAME).write_bytes(contents)
    with pytest.raises(Invalid, match=r"filing\.json: .*; remove it"):
        filing_progress.read(tmp_path)
