"""What a report says of an attribute that TVM ignores: the title, the scope, and the name of the test."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from fakes import TVM
from graphs_by_hand import case_of
from records import record

from fuzzer.findings.record import FindingRecord
from fuzzer.report.regression_test import name
from fuzzer.report.scope_section import ignored_in_words
from fuzzer.report.title import plain_title
from fuzzer.signature.blame import NO_BLAME, Blame, Place
from fuzzer.triage.scope.statement import Condition, Hits, Ignored, Property, Relation, Scope, Statement
from oracles.finding import Kind, Mismatch

SUB = case_of({"x0": "float32[3]", "x1": "float32[3]"}, [("v0", "sub", "x0 x1", {"alpha": 2})], "v0")
CHAIN = case_of(
    {"x0": "float32[3]", "x1": "float32[3]"},
    [("v0", "relu", "x0"), ("v1", "sub", "v0 x1", {"alpha": 2})],
    "v1",
)
ALPHA = Ignored(0, "alpha", "2", "1")
NOT_ONE = Condition(Property(0, "alpha", "value"), Relation.NOT_IN, (1,))
OF_HALVES = Condition(Property(0, "operand 0", "dtype"), Relation.IN, ("float16",))


def found(scope: Scope, blame: Blame = NO_BLAME, case: object = SUB) -> FindingRecord:
    of = record(case, Kind.WRONG_VALUE, TVM, Mismatch(0, "1.0", "2.0"), blame=blame)  # type: ignore[arg-type]
    return replace(of, doc=msgspec.structs.replace(of.doc, scope=scope))


def certain(*conditions: Condition) -> Scope:
    return Scope(Statement(conditions), Hits(20, 20), Hits(20, 20), ignored=(ALPHA,), cases=60)


def test_the_title_says_what_is_ignored() -> None:
    assert plain_title(found(Scope(ignored=(ALPHA,), cases=60))) == "`torch.sub` ignores `alpha`"
    assert plain_title(found(Scope(cases=60))) == "`torch.sub` gives wrong values"


@pytest.mark.parametrize(
    ("conditions", "title"),
    [
        ((NOT_ONE,), "`torch.sub` ignores `alpha`"),
        ((NOT_ONE, OF_HALVES), "`torch.sub` ignores `alpha` (where x0 is float16)"),
    ],
)
def test_a_condition_on_the_attribute_itself_is_left_out(conditions: tuple[Condition, ...], title: str) -> None:
    assert plain_title(found(certain(*conditions))) == title


def test_of_several_calls_the_one_is_named_that_has_the_attribute() -> None:
    scope = Scope(ignored=(replace(ALPHA, call=1),), cases=60)
    assert plain_title(found(scope, case=CHAIN)) == "`torch.sub` ignores `alpha`"


@pytest.mark.parametrize("ignored", [replace(ALPHA, call=2), replace(ALPHA, attribute="beta")])
def test_what_the_case_does_not_have_is_left_out(ignored: Ignored) -> None:
    assert "ignores" not in plain_title(found(Scope(ignored=(ignored,), cases=60)))


def test_a_pass_is_at_fault_itself() -> None:
    blame = Blame(Place.PASS, "sub", "FuseOps")
    title = plain_title(found(Scope(ignored=(ALPHA,), cases=60), blame))
    assert title == "`torch.sub` after `FuseOps` gives wrong values"


def test_the_scope_says_how_it_shows() -> None:
    assert ignored_in_words(found(Scope(ignored=(ALPHA,), cases=60))) == (
        "Where `alpha` alone is 1 and not 2, PyTorch's result is another one. TVM's is the same, and right."
    )
    assert ignored_in_words(found(Scope(cases=60))) == ""


def test_the_name_of_the_test() -> None:
    assert name(found(Scope(ignored=(ALPHA,), cases=60))) == "test_sub_ignores_alpha"
    assert name(found(Scope(cases=60))) == "test_sub_wrong_value"
