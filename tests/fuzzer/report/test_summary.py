"""The beginning of an issue: three lines, the table that tells failing from passing values, a control, siblings."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from fakes import TVM
from graphs_by_hand import case_of
from records import record

from fuzzer.findings.record import FindingRecord
from fuzzer.report import sentences, summary
from fuzzer.report.what_is_wrong import failure
from fuzzer.signature.blame import Blame, Place
from fuzzer.triage.scope.statement import Answer, Condition, Hits, Property, Relation, Scope, Statement, Variation
from oracles.finding import Kind, Mismatch, WorstElement
from oracles.outcome import Raised, Stage

POOL = case_of({"x0": "float32[2,3]"}, [("v0", "flip", "x0", {"dims": (-1,)})], "v0")
WORST = WorstElement((1, 2), 1.0, 3.5, 0.25, 0.125, 1.5)
INTEGERS = Statement((Condition(Property(0, "operand 0", "dtype"), Relation.IN, ("int64",)),))


def variations(what: str, **answers: str) -> tuple[Variation, ...]:
    by_letter = {"f": Answer.FAILS, "p": Answer.PASSES, "o": Answer.OTHER}
    return tuple(Variation(what, value.strip("_"), by_letter[letter]) for value, letter in answers.items())


SCOPE = Scope(
    None,
    variations=(
        *variations("dtype of x0", float32="f", float16="f"),
        *variations("size", _1="f", _0="p"),
        *variations("divisor", _2="f", _3="f", None_="p", _1="p"),
        *variations("rank of x0", _1="f", _2="o"),
    ),
    siblings=(("add", Answer.FAILS), ("rsub", Answer.FAILS), ("mul", Answer.PASSES), ("div", Answer.OTHER)),
    routes=(("from_fx", Answer.FAILS), ("from_onnx", Answer.PASSES), ("torch.compile", Answer.PASSES)),
    cases=40,
)


def wrong(scope: Scope = SCOPE) -> FindingRecord:
    made = record(POOL, Kind.WRONG_VALUE, TVM, Mismatch(0, "1.0", "3.5", WORST, 24, 3), blame=Blame(Place.FRONTEND))
    return replace(made, doc=msgspec.structs.replace(made.doc, scope=scope))


def test_the_whole_beginning() -> None:
    assert summary.text(wrong()).split("\n") == [
        "- **What**: `torch.flip` gives wrong values, for example 3.5 instead of 1 at \\[1, 2\\] "
        "(3 of 24 elements are wrong).",
        "- **Where**: the frontend. Steps: `torch.export`, `run_decompositions`, `from_exported_program`, "
        "target `llvm`.",
        "- **Since**: Seen in TVM 0.27.0; no other release was run.",
        "",
        "|changed alone|fails|passes|",
        "|---|---|---|",
        "|divisor|2, 3|None, 1|",
        "",
        "**Control**: the model passes with `divisor=None`, and unchanged through `from_onnx` and `torch.compile`.",
        "",
        "**Siblings**: `add` and `rsub` fail too; `div` fails in another way; `mul` passes.",
    ]


def test_without_a_scope_there_are_three_lines() -> None:
    assert summary.text(wrong(Scope())).count("\n") == 2


def test_an_exception_of_difftvm_is_not_named() -> None:
    no_tensor = Raised(Stage.RUN, "fuzzer.lanes.base.compiler_error.NotATensor", "output 0 is a shape, no tensor")
    found = record(POOL, Kind.INTERNAL_ERROR, TVM, no_tensor)
    assert failure(found) == "running compiled `torch.flip` fails: output 0 is a shape, no tensor"
    theirs = replace(no_tensor, type="tvm.error.InternalError")
    assert failure(record(POOL, Kind.INTERNAL_ERROR, TVM, theirs)).endswith(" fails with `InternalError`")


def test_the_condition_is_in_the_first_line_where_it_is_certain() -> None:
    certain = replace(SCOPE, statement=INTEGERS, inside=Hits(9, 9), outside=Hits(9, 9))
    assert "(3 of 24 elements are wrong), where x0 is int64.\n" in summary.text(wrong(certain))
    assert "where x0 is int64" not in summary.text(wrong(replace(certain, outside=Hits(8, 9))))


def test_nothing_without_elements_is_a_control() -> None:
    empty = Scope(None, variations=variations("size", _1="f", _0="p"), cases=2)
    assert "**Control**" not in summary.text(wrong(empty))
    dtypes = Scope(None, variations=variations("dtype of x0", int8="f", float32="p"), cases=2)
    assert "**Control**: the model passes with the dtype of x0 changed to float32." in summary.text(wrong(dtypes))


def test_semicolons_separate_lists_in_a_cell_and_the_control_is_a_whole_one() -> None:
    lists = (("[-2]", Answer.FAILS), ("[1:2:3, ...]", Answer.PASSES), ("[]", Answer.PASSES))
    text = summary.text(wrong(Scope(None, variations=tuple(Variation("index", *each) for each in lists), cases=3)))
    assert "|index|\\[-2\\]|\\[1:2:3, ...\\]; \\[\\]|" in text
    assert "**Control**: the model passes with `index=[1:2:3, ...]`." in text


@pytest.mark.parametrize(
    ("operator", "culprit", "words"),
    [
        ("flip", "_flip", "the frontend: its converter `_flip`, at `torch.flip`"),
        ("sub", "_binary_op of sub", "the frontend: its converter `_binary_op` of `sub`"),
        ("SplitToSequence", "SequenceAt._impl_v11", "the frontend: its converter `SequenceAt._impl_v11`"),
        ("flip", "create_input_vars", "the frontend: its function `create_input_vars`"),
    ],
)
def test_the_part_at_fault_has_the_call_of_the_model(operator: str, culprit: str, words: str) -> None:
    blamed = record(POOL, Kind.WRONG_VALUE, TVM, Mismatch(0, "1", "2"), blame=Blame(Place.FRONTEND, operator, culprit))
    assert sentences.culprit(blamed) == words


def test_operators_of_findings_of_perhaps_the_same_cause_are_siblings() -> None:
    other = record(
        case_of({"x0": "float32[2,3]"}, [("v0", "relu", "x0", {})], "v0"), Kind.WRONG_VALUE, TVM, Mismatch(0, "1", "2")
    )
    text = summary.text(wrong(Scope()), [other, wrong()])
    assert text.endswith("\n\n**Siblings**: findings of `relu` have perhaps the same cause.")


def test_numbers_that_differ_late_are_whole() -> None:
    worst = replace(WORST, expected=1.00000001, actual=1.00000002)
    made = record(POOL, Kind.WRONG_VALUE, TVM, Mismatch(0, "1.0", "1.0", worst, 1, 1))
    assert "for example 1.00000002 instead of 1.00000001 at" in summary.text(made).replace("`", "")


def test_an_exception_is_named_and_its_message_is_left_to_the_title() -> None:
    made = record(POOL, Kind.INTERNAL_ERROR, TVM, Raised(Stage.COMPILE, "tvm.error.InternalError", "no @somebody"))
    assert summary.text(made).startswith("- **What**: Compiling `torch.flip` fails with `InternalError`.\n")


@pytest.mark.parametrize("version", ["0.27.0", "0.28.dev3+g1a2b", ""])
def test_the_releases_are_never_guessed(version: str) -> None:
    made = wrong()
    made.doc.versions = {"tvm": version} if version else {}
    line = f"Seen in TVM {version}; no other release was run." if version else "Not known."
    assert f"- **Since**: {line}".replace("_", "\\_") in summary.text(made)
