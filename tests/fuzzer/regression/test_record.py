"""The files of a regression corpus, and what is refused in them."""

from __future__ import annotations

import json
import os
import re
import zipfile
from pathlib import Path

import msgspec
import numpy as np
import pytest
from regression_by_hand import EXPORT, small_corpus

from fuzzer.regression import record
from fuzzer.regression.record import (
    CASES,
    DESCRIPTION,
    EXPECTED,
    MOST_BYTES,
    Entry,
    name_of,
    packed_size,
    read,
    short,
    write,
)
from generators import case_file
from generators.graph import Case, Invalid


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    kept = small_corpus()
    write(tmp_path / "kept", kept.description, kept.entries, kept.cases)
    return tmp_path / "kept"


def test_a_corpus_reads_back(folder: Path) -> None:
    kept, back = small_corpus(), read(folder)
    assert (back.description, list(back.entries), back.lanes) == (kept.description, kept.entries, kept.lanes)
    assert {name: case_file.encode(case) for name, case in back.cases.items()} == {
        name: case_file.encode(case) for name, case in kept.cases.items()
    }


def test_equal_corpora_have_equal_files(folder: Path, tmp_path: Path) -> None:
    kept = read(folder)
    write(tmp_path / "again", kept.description, kept.entries, kept.cases)
    for name in (DESCRIPTION, EXPECTED, CASES):
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_the_size_of_a_case_is_what_it_takes_in_the_archive(folder: Path) -> None:
    end = 22  # of an archive
    assert sum(map(packed_size, read(folder).cases.values())) + end == (folder / CASES).stat().st_size


@pytest.mark.slow
def test_a_corpus_that_is_too_large_is_not_written(tmp_path: Path) -> None:
    case = small_corpus().cases[small_corpus().entries[0].case]
    noise = np.frombuffer(np.random.default_rng(1).bytes(MOST_BYTES), dtype=np.int32)
    large = Case(case.graph, {**case.tensors, "noise": noise})
    entries = [Entry(name_of(large), ["add"], "test 0 of me", right=["relax-export-llvm"])]
    with pytest.raises(
        Invalid, match=r"kept: it would take 5,\d{3},\d{3} bytes, and 5,000,000 are too many; keep fewer"
    ):
        write(tmp_path / "kept", small_corpus().description, entries, {entries[0].case: large})
    assert not (tmp_path / "kept").exists()


def test_a_line_has_what_a_reviewer_needs(folder: Path) -> None:
    first, second = map(msgspec.json.decode, (folder / EXPECTED).read_text().splitlines())
    assert first == {
        "case": first["case"],
        "ops": ["add"],
        "source": "test 0 of me",
        "right": ["relax-export-llvm"],
        "unsupported": ["relax-fx-llvm"],
    }
    assert second["fails"] == {"relax-export-llvm": "0123456789ab"}


def test_a_lane_is_written_without_its_defaults() -> None:
    assert short(EXPORT) == {
        "name": "relax-export-llvm",
        "engine": "tvm",
        "importer": "export",
        "variant": "relax",
        "asserts": False,
        "checked": True,
    }


def change(folder: Path, name: str, before: str, after: str) -> None:
    text = (folder / name).read_text()
    assert before in text
    (folder / name).write_text(text.replace(before, after))


@pytest.mark.parametrize(
    ("name", "before", "after", "why"),
    [
        (DESCRIPTION, '"format": 1', '"format": 2', "format 2 is not known"),
        (DESCRIPTION, '"asserts": false', '"assert": false', "has no field 'assert'"),
        (DESCRIPTION, '"asserts": false', '"asserts": 3', "Expected `bool`"),
        (DESCRIPTION, '"asserts": false', '"target": "z80"', "no target is called 'z80'"),
        (DESCRIPTION, '"asserts": false', '"passes": ["os.system"]', "no pass is called"),
        (DESCRIPTION, '"cpu_seconds"', '"cpu"', "unknown field `cpu`"),
        (EXPECTED, '"relax-fx-llvm"', '"relax-gx-llvm"', "line 1: 'relax-gx-llvm' is not in corpus.json"),
        (EXPECTED, '"0123456789ab"', '"0123456789ac"', "line 2: '0123456789ac' is not in corpus.json"),
        (EXPECTED, '"case"', '"kase"', "line 1: Object contains unknown field"),
    ],
)
def test_what_is_wrong_ends_with_one_sentence(folder: Path, name: str, before: str, after: str, why: str) -> None:
    change(folder, name, before, after)
    with pytest.raises(Invalid, match=why) as error:
        read(folder)
    assert str(error.value).startswith(str(folder / name))
    assert "\n" not in str(error.value)


def test_a_name_that_leads_elsewhere_is_refused(folder: Path) -> None:
    case = read(folder).entries[0].case
    change(folder, EXPECTED, f'"{case}"', '"../../x"')
    with pytest.raises(Invalid, match=r"line 1: '\.\./\.\./x'"):
        read(folder)


def test_an_empty_or_endless_list_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "MOST_CASES", 1)
    with pytest.raises(Invalid, match="2 cases; a corpus has 1 to 1"):
        read(folder)
    (folder / EXPECTED).write_text("")
    with pytest.raises(Invalid, match="0 cases"):
        read(folder)


def test_a_second_line_of_a_case_is_refused(folder: Path) -> None:
    path = folder / EXPECTED
    first = path.read_text().splitlines()[0]
    path.write_text(path.read_text() + first + "\n")
    number, name = len(path.read_text().splitlines()), json.loads(first)["case"]
    with pytest.raises(Invalid) as caught:
        read(folder)
    assert str(caught.value) == f"{path}, line {number}: a second line of the case {name!r}"


@pytest.mark.parametrize(("bound", "why"), [("MOST_NODES", "calls together"), ("MOST_UNPACKED", "MiB together")])
def test_all_cases_together_are_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch, bound: str, why: str) -> None:
    monkeypatch.setattr(record, bound, 1)
    with pytest.raises(Invalid, match=f"^{re.escape(str(folder / CASES))}: .*{why}"):
        read(folder)


def test_a_case_that_is_missing_or_damaged_is_named(folder: Path) -> None:
    case = read(folder).entries[0].case
    with zipfile.ZipFile(folder / CASES, "w") as archive:
        archive.writestr(f"{case}.json", "{}")
    with pytest.raises(Invalid, match=case):
        read(folder)
    (folder / CASES).write_bytes(b"no zip")
    with pytest.raises(Invalid, match=r"cases\.zip"):
        read(folder)


@pytest.mark.parametrize("name", [DESCRIPTION, EXPECTED])
def test_no_file_is_read_through_a_link(folder: Path, name: str, tmp_path: Path) -> None:
    (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    with pytest.raises(Invalid, match="link"):
        read(folder)


def test_the_archive_is_not_read_through_a_link(folder: Path, tmp_path: Path) -> None:
    (folder / CASES).rename(tmp_path / CASES)
    (folder / CASES).symlink_to(tmp_path / CASES)
    with pytest.raises(Invalid, match="link"):
        read(folder)


def test_a_pipe_in_the_place_of_the_archive_is_refused_at_once(folder: Path) -> None:
    (folder / CASES).unlink()
    os.mkfifo(folder / CASES)
    with pytest.raises(Invalid, match=r"cases\.zip: it is not a regular file$"):
        read(folder)


def test_a_folder_that_is_no_corpus_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        Invalid, match=r": no corpus: it has no corpus\.json; `fuzz corpus keep` makes one of campaigns$"
    ):
        read(tmp_path)
    with pytest.raises(Invalid, match=r"/none: no corpus: there is no such folder; "):
        read(tmp_path / "none")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    kept = small_corpus()
    (tmp_path / "kept").write_text("in the way")
    with pytest.raises(Invalid, match="kept"):
        write(tmp_path / "kept", kept.description, kept.entries, kept.cases)
