"""A lane that costs much more than in the base; one that costs a little more, and one that nothing is compared with."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes import CASE, EXACT, TVM, correct

from oracles.dearer_than_base import dearer_than_base
from oracles.finding import BASE, Component, Excess, Finding, Kind, Quantity
from oracles.outcome import BaseCosts, Facts, Outcome, Raised, Stage

COSTS = BaseCosts(compile_seconds=1.0, constant_bytes=100_000, built_bytes=50_000, peak_bytes=1 << 30)
SAME = Facts(compile_seconds=1.0, constant_bytes=100_000, built_bytes=50_000, peak_bytes=1 << 30, base=COSTS)


def found(facts: Facts) -> list[Finding]:
    return list(dearer_than_base(CASE, {TVM: replace(correct(EXACT), facts=facts)}))


@pytest.mark.parametrize(
    ("allowed", "more", "kind", "excess"),
    [
        (
            replace(SAME, compile_seconds=3.25),
            replace(SAME, compile_seconds=3.26),
            Kind.SLOW,
            Excess(Quantity.TIME, 3.26, 3.25, BASE),
        ),
        (
            replace(SAME, constant_bytes=208_192),
            replace(SAME, constant_bytes=208_193),
            Kind.BLOAT,
            Excess(Quantity.CONSTANTS, 208_193, 208_192.0, BASE),
        ),
        (
            replace(SAME, built_bytes=168_192),
            replace(SAME, built_bytes=168_193),
            Kind.BLOAT,
            Excess(Quantity.LIBRARY, 168_193, 168_192.0, BASE),
        ),
        (
            replace(SAME, peak_bytes=9 << 29),
            replace(SAME, peak_bytes=(9 << 29) + 1),
            Kind.BLOAT,
            Excess(Quantity.MEMORY, (9 << 29) + 1, float(9 << 29), BASE),
        ),
    ],
    ids=lambda each: str(each.quantity) if isinstance(each, Excess) else None,
)
def test_each_cost_has_a_bound(allowed: Facts, more: Facts, kind: Kind, excess: Excess) -> None:
    assert found(allowed) == []
    assert found(more) == [Finding(kind, Component.TVM, TVM, Stage.COMPILE, excess)]


def test_nothing_is_found_where_nothing_is_compared() -> None:
    dear = Facts(compile_seconds=99.0, constant_bytes=1 << 30, built_bytes=1 << 30, peak_bytes=1 << 36)
    assert found(dear) == []
    raised: Outcome = Raised(Stage.COMPILE, "E", "no")
    assert list(dearer_than_base(CASE, {TVM: raised})) == []


def test_what_was_not_measured_in_the_base_is_left_out() -> None:
    dear = Facts(compile_seconds=99.0, built_bytes=1 << 30, peak_bytes=1 << 36, base=BaseCosts())
    assert found(dear) == []
    assert len(found(replace(dear, constant_bytes=1 << 20))) == 1


def test_cheaper_is_fine() -> None:
    assert found(replace(SAME, compile_seconds=0.1, built_bytes=10)) == []
