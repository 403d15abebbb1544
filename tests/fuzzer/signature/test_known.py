from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from recorded_logs import logs

from fuzzer.campaign.store import tables
from fuzzer.campaign.store.counters import MAX_REASONS, OTHER_REASONS, Counters
from fuzzer.campaign.store.store import State
from fuzzer.findings import upstream
from fuzzer.lanes import TVM_LANES
from fuzzer.signature import Signature, known, signature_of
from fuzzer.signature.known import KnownIssue, match, parse, possible_match
from generators.graph import Invalid
from oracles.finding import Component, Finding, Kind
from oracles.outcome import Result, Skipped, Stage, Unsupported

POWER = Signature(
    Kind.INTERNAL_ERROR, Component.TVM, Stage.COMPILE, "tvm.error.InternalError", "power only applies to float", "op.cc"
)
WRONG = Signature(Kind.WRONG_VALUE, Component.TVM, Stage.RUN, ops=("linear", "squeeze"), where="export")


def entry(**fields: Any) -> KnownIssue:
    return KnownIssue("name", "why", **fields)


# --- what matches


@pytest.mark.parametrize(
    ("fields", "matches"),
    [
        ({"skeleton": "only applies"}, True),
        ({"skeleton": "^only applies"}, False),
        ({"skeleton": "power", "kind": Kind.INTERNAL_ERROR, "component": Component.TVM, "stage": Stage.COMPILE}, True),
        ({"skeleton": "power", "kind": Kind.REJECTED}, False),
        ({"skeleton": "power", "component": Component.EXPORTER}, False),
        ({"skeleton": "power", "stage": Stage.IMPORT}, False),
        ({"skeleton": "power", "error": "tvm.error.InternalError"}, True),
        ({"skeleton": "power", "error": "InternalError"}, False),
        ({"frame": r"^op\.cc$"}, True),
        ({"frame": "codegen"}, False),
        ({"skeleton": "power", "ops": ("pow",)}, False),
    ],
)
def test_all_that_an_entry_says_must_hold(fields: dict[str, Any], matches: bool) -> None:
    assert (match(POWER, [entry(**fields)]) is not None) is matches


def test_operators_are_exactly_those_of_the_reduced_case() -> None:
    assert match(WRONG, [entry(ops=("squeeze", "linear", "squeeze"))])
    assert match(WRONG, [entry(ops=("squeeze", "linear"), where="export")])
    assert not match(WRONG, [entry(ops=("squeeze", "linear"), where="onnx")])
    assert not match(WRONG, [entry(ops=("linear",))])
    assert not match(replace(WRONG, ops=()), [entry(ops=("squeeze", "linear"))])


def test_before_reduction_it_may_be_an_entry_whose_operators_are_there() -> None:
    sighted, among = replace(WRONG, ops=(), where=""), [entry(ops=("squeeze", "linear"), kind=Kind.WRONG_VALUE)]
    assert possible_match(sighted, ("relu", "linear", "squeeze"), among)
    assert possible_match(sighted, ("linear", "squeeze"), among)
    assert not possible_match(sighted, ("relu", "linear"), among)
    assert not possible_match(replace(sighted, kind=Kind.DIED), ("linear", "squeeze"), among)
    assert not possible_match(POWER, ("pow",), [entry(skeleton="power")])  # no guess where a message tells


# --- the file


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("known = 3", "known_issues.toml: Expected `array`, got `int` - at `$[...]`"),
        ("[[known]]\nname = 'a'\nwhy = 'b'\nissue = 1", "'a' would match too much: give it a skeleton, a frame or ops"),
        ("[[known]]\nname = 'a'\nskeleton = 'c'", "Object missing required field `why` - at `$[...][0]`"),
        ("[[known]]\nname = 'a'\nwhy = 'b'\nskeletton = 'c'", "unknown field `skeletton` - at `$[...][0]`"),
        (
            "[[known]]\nname = 'a'\nwhy = 'b'\nkind = 'oops'\nops = []",
            "Invalid enum value 'oops' - at",
        ),
        (
            "[[known]]\nname = 'a'\nwhy = 'b'\nissue = 1\nframe = '('",
            "'a': '(' is not a regular expression: missing ), unterminated",
        ),
        ("[[other]]\nname = 'a'\nwhy = 'b'\nframe = 'c'", "unknown table 'other'; each known issue is a [[known]]"),
        ("[[known]]\nname = 'a'\nwhy = 'b'\nissue = 1\nframe = 'c'\n" * 2, "'a' is defined twice"),
        ("[[known]]\nname = 'a'\nwhy = 'b'\nframe = 'c'", "'a' may be a new bug: give it an issue, or a page that"),
        ("[[known]]\nname = 'a'\nwhy = 'b'\nframe = 'c'\npage = 'see'", "'a' may be a new bug: give it an issue, or a"),
        ("[[known]", "known_issues.toml: "),
    ],
)
def test_the_file_is_read_strictly(text: str, message: str) -> None:
    with pytest.raises(Invalid, match=re.escape(message)) as error:
        parse(text, "known_issues.toml")
    assert "\n" not in str(error.value)


def test_what_ships_can_be_read_and_says_where_it_is_filed_or_documented() -> None:
    shipped = known.known_issues()
    assert [entry.name for entry in shipped] == [
        "add-float-to-integers",
        "multiply-integers-by-float",
        "mean-with-dtype",
        "square-root-of-integers",
    ]
    assert all(entry.why.endswith(".") and entry.component is Component.TVM for entry in shipped)
    assert all(re.fullmatch(r"apache/tvm #\d{4,}|https://\S+", entry.upstream) for entry in shipped)


def test_a_page_takes_the_place_of_an_issue() -> None:
    (entry,) = parse("[[known]]\nname = 'a'\nwhy = 'b'\nframe = 'c'\npage = 'https://tvm.apache.org/docs'", "file")
    assert entry.upstream == "https://tvm.apache.org/docs"


@pytest.mark.parametrize(
    "log",
    [
        "internal-error-export-llvm-power-only-applies-to-float",
        "internal-error-export-c-unresolved-call-tirx-exp",
        "internal-error-export-c-compilation-error-inf-undeclared-first-use-i",
        "internal-error-export-llvm-relax-tanh-requires-the-input-tensor-to-have",
    ],
)
def test_a_failure_without_an_issue_is_a_finding(log: str) -> None:
    assert log in logs()
    assert log not in recorded()


def recorded() -> dict[str, str]:
    """The entry that each recorded failure of TVM matches, by the name of the log."""
    found = {}
    for name, log in logs().items():
        if log.expected == Kind.INTERNAL_ERROR:
            finding = Finding(
                Kind(log.expected), Component(log.component), TVM_LANES[0], log.failure.stage, log.failure
            )
            if entry := match(signature_of(finding)):
                found[name] = entry.name
    return found


def test_entries_with_a_message_match_recorded_failures_and_few_of_them() -> None:
    found = recorded()
    with_message = {entry.name for entry in known.known_issues() if entry.ops is None}
    assert set(found.values()) == with_message
    assert len(found) == 1


# --- books


def test_what_is_lacking_is_counted_by_name_and_bounded() -> None:
    counters = Counters()
    lane, other = TVM_LANES[:2]
    both = Unsupported(Stage.IMPORT, "Unsupported function types ['amax.default', 'amin.default']")
    one = Unsupported(Stage.IMPORT, "Unsupported function types ['amax.default']")
    full = Skipped("No space left on device", environment=True)
    for outcomes in ({lane: both, other: full}, {lane: one}, {lane: Skipped("no C compiler")}):
        counters.add(Result(outcomes))  # type: ignore[arg-type]
    state = State(1, counters=counters)
    assert tables.lacking(state) == {lane.name: {"amax.default": 2, "amin.default": 1}}
    assert list(tables.lacking_lines(state)) == [
        f"{lane.name}: 2 things lacking, met in 2 tests",
        "      2 amax.default",
        "      1 amin.default",
        "the machine failed 1 lane: No space left on device",
    ]
    del counters.unsupported[lane.name]  # as in a file that another program wrote
    assert next(tables.lacking_lines(state)) == f"{lane.name}: 2 things lacking, met in 0 tests"
    for number in range(2 * MAX_REASONS):
        name = "op_" + "".join(chr(97 + int(digit)) for digit in str(number))
        counters.add(Result({lane: Unsupported(Stage.IMPORT, f"Unsupported function types ['{name}']")}))
    assert len(counters.lacking[lane.name]) == MAX_REASONS + 1
    assert counters.lacking[lane.name][OTHER_REASONS] == MAX_REASONS + 2


def test_findings_that_were_saved_before_their_issue_was_known_count(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = renamed(entry(skeleton="power"), "one"), renamed(entry(ops=("linear", "squeeze")), "other")
    monkeypatch.setattr(known, "known_issues", lambda: (one, other))
    assert known.count_matches({"one": 3, "gone": 7}, [POWER, POWER, replace(POWER, skeleton="no")]) == {
        one: 5,
        other: 0,
    }


def renamed(entry: KnownIssue, name: str) -> KnownIssue:
    return msgspec.structs.replace(entry, name=name)


def test_an_entry_that_matches_nothing_is_reported() -> None:
    lines = list(tables.known_lines(State(1, known={"square-root-of-integers": 3}), []))
    assert lines[0].startswith("      3 square-root-of-integers (apache/tvm #18443): ")
    assert len(lines) == len(known.known_issues()) + sum(
        map(len, (upstream.rows().unspecified, upstream.rows().related))
    )
    assert all(line.startswith("  matches nothing here: ") for line in lines[1:])
