"""What is read of a finding's folder names no other place."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fuzzer.campaign.merge import merge
from fuzzer.findings import field_forms, finding_file
from generators.graph import Invalid
from generators.ops import TABLE

SHIPPED = Path(__file__).parents[3] / "crashes"


def renamed(folder: Path, slug: str) -> None:
    path = folder / finding_file.NAME
    path.write_text(json.dumps({**json.loads(path.read_text()), "slug": slug}))


@pytest.mark.parametrize("slug", ["../../x", "/etc/x", "a/b", "..", ".", "", "-rf", "a b", "a$(b)", "a\n", "a" * 201])
def test_a_name_that_leads_elsewhere_is_refused(slug: str, saved: Path) -> None:
    renamed(saved, slug)
    with pytest.raises(Invalid, match=r"finding\.json: .* is not a name for the folder of a finding$"):
        finding_file.read(saved)


def test_nothing_is_written_outside_of_the_campaign_that_takes_it(tmp_path: Path, saved: Path) -> None:
    renamed(saved, "../../../stolen")
    with pytest.raises(Invalid):
        merge([tmp_path], tmp_path / "into" / "deeper")
    assert not list(tmp_path.glob("**/stolen*"))


def test_all_names_that_difftvm_gives_are_taken() -> None:
    folders = [path.parent for path in SHIPPED.glob(f"*/{finding_file.NAME}")]
    assert len(folders) >= 39
    assert [finding_file.read(folder).slug for folder in folders] == [folder.name for folder in folders]
    assert all(field_forms.SLUG.fullmatch(f"wrong-value-{name.replace('_', '')}-0123456789ab") for name in TABLE)


def test_a_folder_that_is_still_being_written_is_no_finding(tmp_path: Path, saved: Path) -> None:
    shutil.copytree(saved, saved.with_name(".tmp-abc"))
    assert finding_file.folders_in(saved.parent) == [saved]
    assert finding_file.folders_in(tmp_path / "nowhere") == []
