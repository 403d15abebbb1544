"""A campaign's corpus: whole folders, in the order of names, without the cases that have a command of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzer.seeds import corpus
from generators import case_file
from generators.choice import NumpySource
from generators.graph import Invalid
from generators.torch.random_graph import generate

CASE = generate(NumpySource(1))


def test_what_is_added_is_there_and_stays(tmp_path: Path) -> None:
    assert corpus.names(tmp_path) == []
    assert corpus.add(tmp_path, "b", CASE)
    assert corpus.add(tmp_path, "a", generate(NumpySource(2)))
    assert not corpus.add(tmp_path, "b", generate(NumpySource(3)))
    assert corpus.names(tmp_path) == ["a", "b"]
    assert case_file.digest(corpus.cases(tmp_path)["b"]) == case_file.digest(CASE)


def test_cases_with_an_expected_result_are_left_alone(tmp_path: Path) -> None:
    corpus.add(tmp_path, "mine", CASE)
    corpus.add(tmp_path, "founding", CASE)
    (tmp_path / "corpus" / "founding" / "expect.json").write_text("{}")
    assert corpus.names(tmp_path) == ["mine"]
    assert corpus.names(Path(__file__).parents[3]) == []


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "corpus").write_text("in the way")
    with pytest.raises(Invalid, match="corpus"):
        corpus.add(tmp_path, "a", CASE)
