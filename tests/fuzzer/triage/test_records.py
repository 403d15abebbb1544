"""Identity of real failures (recording.py): equal where a file says that they are one bug, and different elsewhere; and
nothing that changes from run to run changes it."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recording import FOLDER, Bug, Seen, read

from fuzzer.triage.signature import Signature, signature_of, skeleton
from oracles.finding import Component
from oracles.outcome import Frame, IllFormed, Raised

PATHS = sorted(FOLDER.glob("*.json"))


@cache
def bugs() -> dict[str, Bug]:
    return {path.name: read(path) for path in PATHS}


def every_seen() -> list[Seen]:
    return [seen for bug in bugs().values() for seen in bug.seen]


@pytest.mark.parametrize("name", [path.name for path in PATHS])
def test_what_was_seen_of_a_bug_has_its_identity(name: str) -> None:
    bug = bugs()[name]
    assert bug.seen[0].signature == bug.identity
    assert {seen.signature.id for seen in bug.seen} == {bug.identity.id}
    assert name.endswith(f"-{bug.identity.id}.json")


def test_there_are_enough_bugs_of_everybody() -> None:
    of = [bug.identity.component for bug in bugs().values()]
    assert len(of) >= 100
    assert of.count(Component.TVM) >= 60
    assert min(of.count(Component.EXPORTER), of.count(Component.ONNXRUNTIME)) >= 3
    assert {seen.tvm for seen in every_seen()} >= {"0.27.0.post1", "0.25.0.post1"}


def test_different_bugs_have_different_identities() -> None:
    assert len({bug.identity.id for bug in bugs().values()}) == len(bugs())


def pairs() -> list[tuple[Seen, Seen]]:
    return [pair for bug in bugs().values() for pair in combinations(bug.seen, 2)]


def test_one_bug_is_seen_in_many_ways() -> None:
    assert len(pairs()) >= 60
    for differ in (
        lambda seen: [call.types for call in seen.calls],  # shapes and dtypes
        lambda seen: [call.op for call in seen.calls],
        lambda seen: seen.lane,
        lambda seen: seen.origin,
        lambda seen: seen.tvm,
    ):
        assert sum(differ(one) != differ(other) for one, other in pairs()) >= 4


def told(signature: Signature) -> tuple[str, str, str]:
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


@pytest.mark.parametrize("name", [path.name for path in PATHS])
def test_where_things_are_installed_does_not_matter(name: str) -> None:
    for seen in bugs()[name].seen:
        if isinstance(evidence := seen.finding.evidence, Raised):
            elsewhere = replace(evidence, frames=tuple(map(moved, evidence.frames)))
            assert signature_of(replace(seen.finding, evidence=elsewhere)) == signature_of(seen.finding)


# --- what changes from run to run

MESSAGES = {
    evidence.message
    for seen in every_seen()
    for evidence in (seen.finding.evidence,)
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
        message = pattern.sub(lambda _, others=others: random.choice(others), message)  # type: ignore[misc]
    return message


@given(st.sampled_from(sorted(MESSAGES)), st.randoms(use_true_random=False))
@settings(max_examples=400, deadline=None)
def test_names_numbers_addresses_dtypes_and_paths_do_not_matter(message: str, random: Random) -> None:
    assert skeleton(otherwise(message, random)) == skeleton(message)


@pytest.mark.parametrize("message", sorted(MESSAGES))
def test_the_skeleton_of_a_skeleton_is_itself(message: str) -> None:
    assert skeleton(skeleton(message)) == skeleton(message)


@given(st.text(st.sampled_from("RT.add(x1, '/[]{}\n0xfN-:Tensor lvDTYPE \\\"i8"), max_size=80) | st.text())
@settings(max_examples=400, deadline=None)
def test_so_is_that_of_any_text(text: str) -> None:
    once = skeleton(text)
    assert skeleton(once) == once
    assert len(once) <= 300
