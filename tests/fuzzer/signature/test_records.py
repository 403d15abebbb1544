"""Identity of real failures (recording.py): equal where a file says that they are one bug, and different elsewhere; and
nothing that changes from run to run changes it."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from itertools import combinations
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recording import Bug, RecordedFailure, bug_of, paths, read, text_of

from fuzzer.signature import Signature, classify_failure, signature_of, skeleton
from oracles.finding import Component
from oracles.outcome import Frame, IllFormed, Raised, Stage


@cache
def bugs() -> dict[str, Bug]:
    return {path.name: read(path) for path in paths()}


def every_failure() -> list[RecordedFailure]:
    return [failure for bug in bugs().values() for failure in bug.failures]


def test_each_recorded_failure_has_the_identity_of_its_bug() -> None:
    assert {name: bug.failures[0].signature for name, bug in bugs().items()} == {
        name: bug.identity for name, bug in bugs().items()
    }
    of = [
        (name, failure.origin, failure.lane, failure.signature.id)
        for name, bug in bugs().items()
        for failure in bug.failures
    ]
    assert [row for row in of if row[-1] != bugs()[row[0]].identity.id] == []


def test_a_file_is_called_by_its_identity() -> None:
    assert [name for name, bug in bugs().items() if not name.endswith(f"-{bug.identity.id}.txt")] == []


def test_what_is_written_is_read_back() -> None:
    assert [name for name, bug in bugs().items() if bug_of(text_of(bug)) != bug] == []


def test_a_line_that_cannot_be_read_is_named() -> None:
    good = "kind: rejected\ncomponent: tvm\nstage: import\n\n=== by hand\nraised: E\n\nno\n"
    assert bug_of(good).failures[0].finding.evidence == Raised(Stage.IMPORT, "E", "no")
    with pytest.raises(ValueError, match="by hand: no such key: lame"):
        bug_of(good.replace("raised", "lame: x\nraised"))
    with pytest.raises(ValueError, match="not of the form `key: value`: 'raised'"):
        bug_of(good.replace("raised: E", "raised"))
    with pytest.raises(ValueError, match="by hand: not one line of evidence, but 0"):
        bug_of(good.replace("raised: E", "lane: x"))
    with pytest.raises(msgspec.ValidationError, match="Invalid enum value 'refused'"):
        bug_of(good.replace("rejected", "refused"))


def test_there_are_enough_bugs_of_each_component() -> None:
    of = [bug.identity.component for bug in bugs().values()]
    assert len(of) >= 100
    assert of.count(Component.TVM) >= 60
    assert min(of.count(Component.EXPORTER), of.count(Component.ONNXRUNTIME)) >= 3
    assert {failure.tvm for failure in every_failure()} >= {"0.27.0.post1", "0.25.0.post1"}


def test_different_bugs_have_different_identities() -> None:
    assert len({bug.identity.id for bug in bugs().values()}) == len(bugs())


def test_no_skeleton_holds_a_number_an_address_or_a_path() -> None:
    for bug in bugs().values():
        assert not re.search(r"\d|/tmp|site-packages", bug.identity.skeleton)


def test_no_recorded_failure_is_unsupported() -> None:
    evidence = [failure.evidence.raised for failure in every_failure() if failure.evidence.raised]
    assert [raised for raised in evidence if classify_failure(raised) != raised] == []


def pairs() -> list[tuple[RecordedFailure, RecordedFailure]]:
    return [pair for bug in bugs().values() for pair in combinations(bug.failures, 2)]


def test_one_bug_has_many_failures() -> None:
    assert len(pairs()) >= 60
    for differ in (
        lambda failure: [call.types for call in failure.calls],  # shapes and dtypes
        lambda failure: [call.op for call in failure.calls],
        lambda failure: failure.lane,
        lambda failure: failure.origin,
        lambda failure: failure.tvm,
    ):
        assert sum(differ(one) != differ(other) for one, other in pairs()) >= 4


def identity_of(signature: Signature) -> tuple[str, str, str]:
    return signature.skeleton, signature.frame, ",".join(signature.ops)


@pytest.mark.parametrize(
    ("shared", "differs", "least"),
    [("skeleton", "frame", 15), ("frame", "skeleton", 15), ("ops", "kind", 3), ("ops", "component", 2)],
)
def test_near_misses_are_among_them(shared: str, differs: str, least: int) -> None:
    """A message from several functions; several messages from one; an operator with several bugs."""
    identities = [bug.identity for bug in bugs().values()]
    near = [
        (one, other)
        for one, other in combinations(identities, 2)
        if getattr(one, shared) and getattr(one, shared) == getattr(other, shared)
        if getattr(one, differs) != getattr(other, differs)
    ]
    assert len(near) >= least
    assert not any(one.same_bug(other) for one, other in near)


# --- what changes from machine to machine


def moved(frame: Frame) -> Frame:
    """The same line in another installation, of a release with other line numbers."""
    file = re.sub(r"^.*/site-packages/", "/opt/other place/lib64/python3.14/site-packages/", frame.file)
    return replace(frame, file=re.sub(r"^/project/", "/home/ci/build-7/", file), line=frame.line + 17)


def test_where_things_are_installed_does_not_matter() -> None:
    for failure in every_failure():
        if isinstance(evidence := failure.finding.evidence, Raised):
            elsewhere = replace(evidence, frames=tuple(map(moved, evidence.frames)))
            assert signature_of(replace(failure.finding, evidence=elsewhere)) == signature_of(failure.finding)


# --- what changes from run to run

MESSAGES = {
    evidence.message
    for failure in every_failure()
    for evidence in (failure.finding.evidence,)
    if isinstance(evidence, Raised | IllFormed)
}
CHANGES = tuple(
    (re.compile(pattern), others)
    for pattern, others in (
        (r"0x[0-9a-f]+", ("0x7f00aa", "0xDEADBEEF", "0x0")),
        (r"(?<![\w./-])(lv|gv|x|v|w|b|args_|inp_)\d+\b", ("lv7", "gv12", "x0", "w3", "args_1", "v40")),
        (r"(?<![\w./#:-])\d+(?![\w./:])", ("0", "7", "12", "100000", "3")),
        (r"(?<![\w./])(/[\w.+-]+){2,}/(?=[\w.+-])", ("/srv/", "/tmp/tmpa1b2c3d4/", "/home/me/src-2.0/build+x/")),
        (r"(?<![\w.`])(float32|float64|int32|int64|bfloat16)(?![\w(])", ("float16", "int8", "uint8", "bool")),
        (r"(?<=[ (:'])/\w+(?=[)' ])", ("/Add_1_output_0", "/layer.3/Not", "/b")),
    )
)


def otherwise(message: str, random: Random) -> str:
    for pattern, others in CHANGES:
        message = pattern.sub(lambda _, others=others: random.choice(others), message)
    return message


@pytest.mark.slow
@given(st.sampled_from(sorted(MESSAGES)), st.randoms(use_true_random=False))
@settings(max_examples=400, deadline=None)
def test_names_numbers_addresses_dtypes_and_paths_do_not_matter(message: str, random: Random) -> None:
    assert skeleton(otherwise(message, random)) == skeleton(message)


def test_the_skeleton_of_a_skeleton_is_itself() -> None:
    skeletons = {skeleton(message) for message in MESSAGES}
    assert {text: skeleton(text) for text in skeletons} == {text: text for text in skeletons}


@pytest.mark.slow
@given(st.text(st.sampled_from("RT.add(x1, '/[]{}\n0xfN-:Tensor lvDTYPE \\\"i8"), max_size=80) | st.text())
@settings(max_examples=400, deadline=None)
def test_so_is_that_of_any_text(text: str) -> None:
    once = skeleton(text)
    assert skeleton(once) == once
    assert len(once) <= 300
