"""What upstream has said about findings: which rows match, and what the rows may be."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fuzzer.campaign.store.state import State
from fuzzer.campaign.store.tables import known_lines
from fuzzer.findings import finding_file, upstream
from fuzzer.findings.finding_doc import FindingDoc, StoredEvidence
from fuzzer.findings.record import read
from fuzzer.lanes.evaluated.nan import COMPARING
from fuzzer.report import issue
from fuzzer.signature.blame import Blame, Origin, Place
from generators.graph import Invalid
from generators.table import TABLE
from oracles.finding import Component, Kind, Mismatch, WorstElement
from oracles.transforms import TRANSFORMS_BY_NAME

SHIPPED = Path(__file__).parents[3] / "crashes"


def wrong(expected: float) -> StoredEvidence:
    return StoredEvidence(mismatch=Mismatch(0, "a", "b", WorstElement((0,), expected, 0.0, 0.0, 0.0)))


@pytest.fixture
def doc(saved: Path) -> FindingDoc:
    """NaN through relu."""
    return msgspec.structs.replace(
        finding_file.read(saved), kind=Kind.WRONG_VALUE, component=Component.TVM, ops=["relu"], evidence=wrong(math.nan)
    )


def test_nan_that_a_pass_loses_within_an_operator_is_left_unspecified(doc: FindingDoc) -> None:
    """A norm is the maximum of absolute values."""
    norm = msgspec.structs.replace(doc, ops=["linalg_vector_norm"])
    assert upstream.unspecified(norm) is None

    def blamed(place: Place, *calls: str) -> FindingDoc:
        return msgspec.structs.replace(norm, blame=Blame(place, origin=Origin(calls=calls)))

    row = upstream.unspecified(blamed(Place.PASS, "relax.abs", "relax.max"))
    assert row is not None
    assert row.number == 19847
    assert upstream.unspecified(blamed(Place.LEGALIZATION, "relax.abs", "relax.max")) is None
    assert upstream.unspecified(blamed(Place.PASS, "relax.abs", "relax.sum")) is None


def test_the_evaluation_decides_nothing_where_upstream_leaves_nan_unspecified() -> None:
    (row,) = (each for each in upstream.rows().unspecified if each.calls)
    assert {call.removeprefix("relax.") for call in row.calls} <= COMPARING


@pytest.mark.parametrize("op", ["relu", "Relu", "Sign", "Max"])
def test_nan_through_comparisons_is_left_unspecified(doc: FindingDoc, op: str) -> None:
    row = upstream.unspecified(msgspec.structs.replace(doc, ops=[op]))
    assert row is not None
    assert (row.name, row.number) == ("nan-through-comparisons", 19847)


@pytest.mark.parametrize(
    "changes",
    [
        {"evidence": wrong(1.0)},
        {"kind": Kind.WRONG_SHAPE},
        {"ops": ["conv2d"]},
        {"component": Component.EXPORTER},
        {"evidence": StoredEvidence(mismatch=Mismatch(0, "a", "b"))},
    ],
)
def test_other_findings_are_specified(doc: FindingDoc, changes: dict[str, Any]) -> None:
    assert upstream.unspecified(msgspec.structs.replace(doc, **changes)) is None


@pytest.mark.parametrize(
    ("slug", "numbers"),
    [
        ("wrong-dtype-softsign-3b0e52a5b390", [20373]),
        ("internal-error-divscalar-81dc6305a33d", [20373, 20372]),
        ("wrong-value-avgpool2d-6e4dd706fa5e", [14795]),
        ("internal-error-isfinite-295716393534", [20399]),
        ("internal-error-padreflect-2edae6ebb483", [19577]),
        ("ill-formed-zeros-layernorm-d65b6f7afd98", [17460]),
        ("internal-error-interpolatelinear-d81084e91401", [20371]),
        ("wrong-value-sub-5e839dcd652e", []),
        ("wrong-value-selu-253a62bf677c", []),
    ],
)
def test_a_report_names_the_issues_that_are_perhaps_related(slug: str, numbers: list[int]) -> None:
    record = read(SHIPPED / slug)
    assert [row.number for row in upstream.related(record.doc)] == numbers
    text = issue.body(record)
    assert text.count("* perhaps related: apache/tvm") == len(numbers)
    for number in numbers:
        assert f"apache/tvm `#{number}`" in text  # no link, which would be shown in that issue


def test_every_row_names_what_exists() -> None:
    rows = upstream.rows()
    names = {name.partition("-")[0] for name in TABLE}
    for row in (*rows.unspecified, *rows.related):
        assert set(row.ops) <= names
        assert set(row.passes) <= TRANSFORMS_BY_NAME.keys()
        assert row.number > 0


def test_rows_that_match_nothing_are_printed_and_so_are_the_findings_that_are_kept_apart(doc: FindingDoc) -> None:
    lines = list(known_lines(State(1), [doc]))
    place = next(i for i, line in enumerate(lines) if "nan-through-comparisons" in line)
    assert lines[place].split()[0] == "1"
    assert lines[place + 1].strip() == doc.slug
    assert sum(line.startswith("  matches nothing here: apache/tvm #") for line in lines) == len(
        upstream.rows().related
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[[related]", "x.toml: "),
        ("[[other]]\nnumber = 1", "x.toml: "),
        ('[[related]]\nnumber = 1\nread_on = 2026-01-01\nwhat = "a"\nstate = "b"', "would match too much"),
        ('[[related]]\nnumber = 1\nread_on = "once"\nwhat = "a"\nstate = "b"\nops = ["relu"]', "x.toml: "),
    ],
)
def test_other_rows_are_refused(text: str, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        upstream.parse(text, "x.toml")


def test_a_row_of_ones_own(doc: FindingDoc) -> None:
    text = '[[unspecified]]\nname = "a"\nwhy = "b"\nnumber = 1\nread_on = 2026-01-01\nskeletons = ["no layout"]'
    rows = upstream.parse(text, "x.toml").unspecified
    assert upstream.unspecified(doc, rows) is (rows[0] if "no layout" in doc.identity.skeleton else None)
    assert (
        upstream.unspecified(msgspec.structs.replace(doc, identity=replace(doc.identity, skeleton="other")), rows)
        is None
    )
