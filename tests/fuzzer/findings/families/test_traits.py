"""What findings are compared by."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from fuzzer.findings import finding_file
from fuzzer.findings.families.traits import traits_of
from fuzzer.findings.finding_doc import FindingDoc, StoredEvidence
from fuzzer.signature.blame import Blame, Origin, Place
from fuzzer.triage.scope.statement import Answer, Condition, Hits, Property, Relation, Scope, Statement
from oracles.finding import Kind, Mismatch, WorstElement
from oracles.lane import Importer


@pytest.fixture
def doc(saved: Path) -> FindingDoc:
    return finding_file.read(saved)


def blamed(doc: FindingDoc, culprit: str, **origin: object) -> FindingDoc:
    blame = Blame(Place.FRONTEND, culprit=culprit, origin=replace(Origin(), **origin))  # type: ignore[arg-type]
    return msgspec.structs.replace(doc, blame=blame)


def wrong_value(doc: FindingDoc, expected: float, actual: float) -> FindingDoc:
    evidence = Mismatch(0, "", "", worst=WorstElement((0,), expected, actual, 0.1, 0.1))
    return msgspec.structs.replace(doc, kind=Kind.WRONG_VALUE, evidence=StoredEvidence.of(evidence))


def test_a_converter_of_many_operators_is_one_culprit_and_one_for_each(doc: FindingDoc) -> None:
    traits = traits_of(blamed(doc, "_binary_op of add"), ())
    assert traits.culprits == {"_binary_op", "_binary_op of add"}
    assert traits.place == "frontend"


def test_numbers_of_dimensions_do_not_count(doc: FindingDoc) -> None:
    one, other = (traits_of(blamed(doc, f"_conv{n}d_impl", calls=(f"relax.nn.conv{n}d",)), ()) for n in (1, 2))
    assert one.culprits & other.culprits == {"_conv#_impl"}
    assert one.calls == other.calls == {"relax.nn.conv#"}


def test_lines_of_helpers_are_left_out(doc: FindingDoc) -> None:
    lines = ("BaseFXGraphImporter._linear+3", "BaseFXGraphImporter._retrieve_args+1", "Elu._impl_v1+2")
    assert traits_of(blamed(doc, "", lines=lines), ()).lines == {"_linear+3", "Elu._impl_v1+2"}


@pytest.mark.parametrize(
    ("made", "right", "attributes", "symptom"),
    [
        ("float32[2]", "int64[2]", (), "always float32"),
        ("int64[2]", "float32[2]", (), "not promoted"),
        ("bool[2]", "int64[2]", (), "not promoted"),
        ("float16[2]", "float32[2]", (), "other precision"),
        ("float32[2]", "int8[2]", ("dtype: 'int8'",), "dtype argument ignored"),
        ("float32[2]", "float32[3]", (), "shape"),
    ],
)
def test_the_first_wrong_type_is_the_symptom(
    doc: FindingDoc, made: str, right: str, attributes: tuple[str, ...], symptom: str
) -> None:
    found = blamed(
        doc,
        "",
        made=made,
        right=right,
        converter="BaseFXGraphImporter._mm",
        operator="mm.default",
        attributes=attributes,
    )
    traits = traits_of(found, ())
    assert traits.symptom == symptom
    assert {"_mm", "mm"} <= traits.culprits


@pytest.mark.parametrize(
    ("expected", "actual", "symptom"),
    [
        (1.0, 2.0, "value"),
        (2.5, 2.51, "imprecise"),
        (2.0, 2.01, "value"),
        (float("nan"), 0.0, "NaN is lost"),
        (0.0, 1.0, "value"),
    ],
)
def test_values(doc: FindingDoc, expected: float, actual: float, symptom: str) -> None:
    assert traits_of(wrong_value(doc, expected, actual), ()).symptom == symptom


def test_accesses_out_of_bounds_are_one_symptom(doc: FindingDoc) -> None:
    kinds = (Kind.OUT_OF_BOUNDS_READ, Kind.OUT_OF_BOUNDS_WRITE, Kind.UNINITIALISED_READ, Kind.SECOND_RUN_DIFFERS)
    assert {traits_of(msgspec.structs.replace(doc, kind=kind), ()).symptom for kind in kinds} == {"memory"}


def test_types_of_the_operands(doc: FindingDoc) -> None:
    assert traits_of(doc, ("float32[2,3]",)).types == frozenset()
    assert traits_of(doc, ("bfloat16[]", "int8[2,0]", "bool[0]", "float64[10]")).types == {
        *("half", "integer", "bool", "float64", "mixed", "rank 0", "empty")
    }


def test_importers(doc: FindingDoc) -> None:
    names = {Importer.FX: "fx", Importer.ONNX_DYNAMO: "onnx", Importer.EXPORT_RAW: "export", Importer.DYNAMO: "export"}
    for importer, name in names.items():
        lane = replace(doc.lane, importer=importer)
        assert traits_of(msgspec.structs.replace(doc, lane=lane), ()).importer == name


def test_only_a_certain_statement_counts(doc: FindingDoc) -> None:
    condition = Condition(Property(0, "operand 1", "dtype"), Relation.IN, ("int8",))
    siblings = (("sin", Answer.FAILS), ("cos", Answer.PASSES))
    sure = Scope(Statement((condition,)), Hits(20, 20), Hits(20, 20), siblings=siblings)
    for scope, needs in (
        (sure, {"operand # dtype", "operand # dtype in int8"}),
        (replace(sure, inside=Hits(19, 20)), set()),
    ):
        traits = traits_of(msgspec.structs.replace(doc, scope=scope), ())
        assert traits.needs == needs
        assert traits.siblings == {"sin"}
