"""What holds for every reducer."""

from __future__ import annotations

import builtins
import copy
import subprocess

import pytest
from small_graphs import CHAIN, FORK, MIXED, SISTERS, WRITTEN, shapes, texts, writing

from fuzzer.triage.reducers import REDUCERS, Reducer
from generators.graph import DType

BFLOAT16 = DType.BFLOAT16.numpy


SUBJECTS = (CHAIN, SISTERS, FORK, MIXED, WRITTEN)


@pytest.mark.parametrize("propose", REDUCERS, ids=lambda propose: propose.__name__)
def test_a_pass_runs_nothing_and_changes_nothing(propose: Reducer, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*args: object, **kwargs: object) -> None:
        raise AssertionError("a pass ran something")

    before = [copy.deepcopy(dict(subject.case.tensors)) for subject in SUBJECTS]
    with monkeypatch.context() as patch:
        for name in ("exec", "eval"):
            patch.setattr(builtins, name, forbidden)
        patch.setattr(subprocess.Popen, "__init__", forbidden)
        for subject in SUBJECTS:
            assert [c.lane for c in propose(subject)] == [subject.lane] * sum(1 for _ in propose(subject))
    for subject, tensors in zip(SUBJECTS, before, strict=True):
        assert {name: array.tolist() for name, array in subject.case.tensors.items()} == {
            name: array.tolist() for name, array in tensors.items()
        }


@pytest.mark.parametrize("propose", REDUCERS, ids=lambda propose: propose.__name__)
def test_a_pass_proposes_the_same_each_time(propose: Reducer) -> None:
    for subject in SUBJECTS:
        assert texts(propose, subject) == texts(propose, subject)
        assert [writing(c) for c in propose(subject)] == [writing(c) for c in propose(subject)]
        assert [shapes(c) for c in propose(subject)] == [shapes(c) for c in propose(subject)]
