"""The list of misuses: what it holds back, and that it cannot hold back everything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from fuzzer.filing import misuse
from fuzzer.filing.draft import Draft
from fuzzer.findings.finding_doc import FindingDoc
from generators.graph import Invalid
from oracles.finding import Kind
from oracles.outcome import Stage


def changed(doc: FindingDoc, **lane: Any) -> FindingDoc:
    return msgspec.structs.replace(doc, lane=replace(doc.lane, **lane))


def test_the_list_is_read_and_lets_the_plain_finding_pass(finding: Draft) -> None:
    assert len(misuse.entries()) >= 8
    assert misuse.match(finding.doc) is None


@pytest.mark.parametrize(
    ("kind", "lane", "name"),
    [
        (Kind.INTERNAL_ERROR, {"variant": "contradiction"}, "contradicting-module"),
        (Kind.CHECKER_GAP, {}, "checker-gap"),
        (Kind.ALIASED_OUTPUT, {}, "output-is-the-input"),
        (Kind.TIMED_OUT, {}, "our-deadline"),
        (Kind.OUT_OF_MEMORY, {}, "our-memory-limit"),
        (Kind.SLOW, {}, "compile-time"),
        (Kind.DIED, {"target": "c-asan"}, "sanitizer"),
        (Kind.INTERNAL_ERROR, {"passes": ("LegalizeOps", "MetaSchedule-2")}, "unmeasured-schedule"),
        (Kind.REJECTED, {"passes": ("SplitLayoutRewritePreproc",)}, "SplitLayoutRewritePreproc-elsewhere"),
    ],
)
def test_what_is_held_back(finding: Draft, kind: Kind, lane: dict[str, object], name: str) -> None:
    doc = msgspec.structs.replace(changed(finding.doc, **lane), kind=kind)
    entry = misuse.match(doc)
    assert entry is not None
    assert entry.name == name


def test_everything_that_an_entry_says_must_hold(finding: Draft) -> None:
    (entry,) = misuse.parse('[[misuse]]\nname="n"\nwhy="w"\nsource="s"\nstage="compile"\nops=["relu","neg"]\n', "x")
    doc = finding.doc
    assert entry.matches(doc)
    assert not entry.matches(msgspec.structs.replace(doc, ops=["relu", "exp"]))
    assert not entry.matches(msgspec.structs.replace(doc, identity=replace(doc.identity, stage=Stage.RUN)))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[misuse", "x: "),
        ("[[others]]\nname='a'\nwhy='b'\nsource='c'\nkind='slow'", "'others' is not allowed here"),
        ("[[misuse]]\nname='a'\nwhy='b'\nsource='c'", "'a' matches every finding"),
        ("[[misuse]]\nname='a'\nwhy='b'\nsource='c'\ncomponent='tvm'", "'a' matches every finding"),
        ("[[misuse]]\nname='a'\nwhy='b'\nsource='c'\nkind='slower'", "slower"),
        ("[[misuse]]\nname='a'\nwhy='b'\nkind='slow'", "source"),
        ("[[misuse]]\nname='a'\nwhy='b'\nsource='c'\npasses=['Nosuch']", "there is no pass or target 'Nosuch'"),
        ("[[misuse]]\nname='a'\nwhy='b'\nsource='c'\ntargets=['cpu']", "there is no pass or target 'cpu'"),
        ("[[misuse]]\nname='a'\nwhy='b'\nsource='c'\nkind='slow'\n" * 2, "'a' is there twice"),
    ],
)
def test_a_list_that_is_none(text: str, says: str) -> None:
    with pytest.raises(Invalid) as refused:
        misuse.parse(text, "x")
    assert says in str(refused.value)
