"""The scope of a bug in its report, and in the folder of its finding."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec

from fuzzer.findings import finding_doc, finding_file
from fuzzer.findings.record import FindingRecord, read
from fuzzer.report import issue, scope_section
from fuzzer.report.add_to import add_scope
from fuzzer.triage.scope.statement import (
    NO_SCOPE,
    Answer,
    Condition,
    Hits,
    Property,
    Relation,
    Scope,
    Statement,
    Variation,
)

INTEGERS = Condition(Property(0, "operand 0", "dtype"), Relation.IN, ("int32", "int64"))
DTYPES = {"float32": Answer.PASSES, "int64": Answer.FAILS, "int32": Answer.FAILS, "int8": Answer.OTHER}
SCOPE = Scope(
    Statement((INTEGERS,)),
    Hits(20, 20),
    Hits(20, 20),
    (
        *(Variation("dtype of x0", value, answer) for value, answer in DTYPES.items()),
        Variation("rank of x0", "1", Answer.FAILS),
        Variation("dim", "None", Answer.INVALID),
    ),
    (("neg", Answer.FAILS), ("abs", Answer.PASSES), ("exp", Answer.PASSES)),
    (("from_fx", Answer.FAILS), ("from_onnx", Answer.PASSES)),
    cases=60,
    cpu_seconds=3.25,
)


def with_scope(folder: Path, scope: Scope) -> FindingRecord:
    record = read(folder)
    return replace(record, doc=msgspec.structs.replace(record.doc, scope=scope))


def text_of(record: FindingRecord) -> str:
    return scope_section.text(record, record.case.graph)


def test_the_section(saved: Path) -> None:
    assert text_of(with_scope(saved, SCOPE)).split("\n") == [
        "It fails where x0 is int32 or int64 (40 of 40 held-out cases agree).",
        "",
        "<details>",
        "<summary>All that was tried</summary>",
        "",
        "|one thing changed|fails|passes|fails in another way|",
        "|---|---|---|---|",
        "|dtype of x0|int64, int32|float32|int8|",
        "",
        "|route| |",
        "|---|---|",
        "|from\\_fx|**fails**|",
        "|from\\_onnx|passes|",
        "",
        "</details>",
        "",
    ]


def test_an_issue_has_the_section_only_where_the_scope_is_known(saved: Path) -> None:
    assert "### Scope\n\nIt fails where x0 is int32 or int64" in issue.text(with_scope(saved, SCOPE))
    assert "### Scope" not in issue.text(with_scope(saved, NO_SCOPE))


def test_without_a_statement_the_table_stays(saved: Path) -> None:
    text = text_of(with_scope(saved, replace(SCOPE, statement=None)))
    condition = "In the table it fails where the dtype of x0 is int64 or int32; "
    assert text.startswith(
        f"{condition}no simple condition fits all other cases.\n\n"
        "<details>\n<summary>All that was tried</summary>\n\n|one"
    )


def test_the_scope_is_saved_in_the_folder_and_nothing_else_changes(saved: Path) -> None:
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    record = add_scope(saved, SCOPE)
    after = {path.name: path.read_bytes() for path in saved.iterdir()}
    assert finding_file.read(saved).scope == SCOPE
    assert msgspec.structs.replace(record.doc, scope=NO_SCOPE) == msgspec.json.decode(
        before["finding.json"], type=finding_doc.FindingDoc
    )
    assert {name for name in before if before[name] != after[name]} == {"finding.json", "issue.md", "mark.txt"}
    assert before.keys() == after.keys()
    assert after["issue.md"].decode() == issue.text(record)


def test_a_finding_of_an_earlier_version_has_no_scope(saved: Path) -> None:
    document = msgspec.json.decode((saved / "finding.json").read_bytes())
    del document["scope"]
    (saved / "finding.json").write_bytes(msgspec.json.encode(document))
    assert finding_file.read(saved).scope == NO_SCOPE


def test_conditions_on_any_kind_of_value_come_back(saved: Path) -> None:
    values = (None, True, 1, 1.0, "a", -3, float("inf"))
    statement = Statement((Condition(Property(0, "dim", "value"), Relation.IN, values[:-1]),))
    add_scope(saved, Scope(statement, cases=1))
    found = finding_file.read(saved).scope.statement
    assert found == statement
    assert found is not None
    assert [type(value) for value in found.conditions[0].values] == [type(value) for value in values[:-1]]


def test_a_certain_statement_stands_in_the_title(saved: Path) -> None:
    assert issue.title(with_scope(saved, SCOPE)).endswith(" (where x0 is int32 or int64)")
    doubtful = replace(SCOPE, inside=Hits(19, 20))
    always = replace(SCOPE, statement=Statement())
    for scope in (NO_SCOPE, doubtful, always):
        assert "where" not in issue.title(with_scope(saved, scope))


def test_a_long_statement_does_not_stand_in_the_title(saved: Path) -> None:
    many = Statement((INTEGERS, Condition(Property(0, "operand 0", "rank"), Relation.IN, (1, 3, 5)), INTEGERS))
    assert "where" not in issue.title(with_scope(saved, replace(SCOPE, statement=many)))
