"""Bisection past builds that cannot tell."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzer.signature.blame import ReleaseVerdict
from fuzzer.triage.blame.first_failing import Bisection, first_failing

PASSES, FAILS = ReleaseVerdict.PASSES, ReleaseVerdict.FAILS
OTHERWISE, NOT_RUN = ReleaseVerdict.OTHERWISE, ReleaseVerdict.NOT_RUN
LETTERS = {"p": PASSES, "f": FAILS, "o": OTHERWISE, "n": NOT_RUN}


def bisected(builds: str) -> Bisection:
    return first_failing(len(builds), lambda place: LETTERS[builds[place]])


@pytest.mark.parametrize(
    ("builds", "suspects"),
    [
        ("pf", range(1, 2)),
        ("ppppfff", range(4, 5)),
        ("pffffff", range(1, 2)),
        ("ppppppf", range(6, 7)),
        ("ppnnfff", range(2, 5)),
        ("ppofnff", range(2, 4)),
        ("pnnnnnf", range(1, 7)),
    ],
)
def test_the_first_build_that_fails(builds: str, suspects: range) -> None:
    found = bisected(builds)
    assert (found.suspects, found.why_not) == (suspects, "")


@pytest.mark.parametrize(
    ("builds", "why_not"),
    [
        ("", "there are no builds"),
        ("pp", "the last build does not show it"),
        ("pn", "the last build does not show it"),
        ("ff", "the first build shows it already"),
        ("f", "the first build shows it already"),
        ("nf", "the first build cannot tell"),
        ("of", "the first build cannot tell"),
    ],
)
def test_where_there_is_no_answer(builds: str, why_not: str) -> None:
    found = bisected(builds)
    assert (found.suspects, found.why_not) == (range(0), why_not)


@given(st.integers(1, 200), st.data())
def test_each_build_is_tried_once_and_few_are(count: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(1, count))
    tried: list[int] = []

    def run(place: int) -> ReleaseVerdict:
        tried.append(place)
        return FAILS if place >= first else PASSES

    assert first_failing(count + 1, run).suspects == range(first, first + 1)
    assert len(set(tried)) == len(tried) <= 3 + math.log2(count + 1)


@given(st.lists(st.sampled_from("pn"), max_size=12), st.lists(st.sampled_from("fo"), max_size=12))
def test_the_suspects_are_all_that_may_have_introduced_it(before: list[str], after: list[str]) -> None:
    builds = "p" + "".join(before) + "".join(after) + "f"
    last_pass, first_fail = builds.rindex("p"), builds.index("f")
    assert bisected(builds).suspects == range(last_pass + 1, first_fail + 1)
