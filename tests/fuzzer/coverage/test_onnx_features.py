"""`fuzz ops --coverage --dialect onnx`: what cases of ONNX reach of TVM's converters, and why not the rest."""

from __future__ import annotations

import pytest

from fuzzer.coverage.onnx import features as onnx_features
from fuzzer.coverage.onnx import report as onnx_report
from fuzzer.coverage.onnx.features import Feature, converter_at, converters, features_of, reason_of, reasons, wanted
from generators.graph import DType, Graph, Input, Node, TensorType, Value
from generators.onnx.operator import INPUTS, OUTPUTS
from generators.onnx.rows import OPS, ROWS

X = Value("x0", TensorType(DType.FLOAT32, (2, 3)))


def test_the_converter_of_an_opset_is_the_newest_that_is_not_newer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_features, "converters", lambda: {"Pad": (2, 11)})
    assert [converter_at("Pad", opset) for opset in (7, 10, 11, 18)] == [2, 2, 11, 11]
    monkeypatch.setattr(onnx_features, "converters", lambda: {"Equal": (13,)})
    assert converter_at("Equal", 7) == 13, "TVM takes its oldest version for older opsets"


def test_the_features_of_a_call_are_its_converter_and_what_it_has() -> None:
    attrs = {"min": 0.0, "max": None}
    node = Node("Clip-13", ("x0",), attrs, (Value("v0", X.type),))
    graph = Graph((Input(X),), (node,), ("v0",), "onnx", (), 17)
    version = converter_at("Clip", 17)
    assert set(features_of(graph)) == {Feature("Clip", version), Feature("Clip", version, "input min")}


def test_operators_of_one_name_in_two_domains_have_their_own_features() -> None:
    parts = {feature.part for feature in wanted() if feature.operator == "com.microsoft.Attention"}
    assert {"", "attribute num_heads", "input mask_index", "input past", "output present"} <= parts
    own = {feature.part for feature in wanted() if feature.operator == "Attention"}
    assert {"", "attribute is_causal", "input attn_mask"} <= own
    assert not {"attribute num_heads", "input mask_index"} & own
    found = onnx_report.measured([ROWS["Attention-1"]], 1, 1)
    assert {feature.operator for feature in found.times} == {"com.microsoft.Attention"}


def test_each_converter_of_tvm_has_a_row_or_a_reason() -> None:
    named = {op.name.partition("-")[0] for op in OPS}
    assert {name for name in converters() if name not in named} == {name for name in reasons() if " " not in name}


def test_each_reason_names_a_part_of_an_operator() -> None:
    parts = {f"{feature.operator} {feature.part}" for feature in wanted()}
    assert {name for name in reasons() if " " in name} <= parts


def test_a_reason_is_found_by_operator_part_or_feature() -> None:
    assert reason_of(Feature("Unique", 11, "output counts")).startswith("its size depends")
    assert reason_of(Feature("NonZero", 9)).startswith("the size of its only result")
    assert reason_of(Feature("Relu", 13)) == ""


@pytest.mark.slow
def test_the_report_counts_what_is_drawn() -> None:
    found = onnx_report.measured([ROWS["Clip-13"], ROWS["Unique-11"]], 20, 1)
    lines = list(onnx_report.text(found))
    assert lines[0].endswith("features of 2 converters of TVM are drawn")
    assert any(line.startswith("  never: Unique v11 output counts: its size depends") for line in lines)
    features = onnx_report.document(found)["features"]
    assert {row["operator"] for row in features} == {"Clip", "Unique"}


@pytest.mark.slow
def test_what_few_cases_do_not_have_is_missed_by_chance() -> None:
    """Reasons are for what no number of cases reaches."""
    found = onnx_report.measured([ROWS["Clip-13"]], 1, 0)
    missed = [feature for feature, times in found.times.items() if not times]
    assert missed
    by_chance = "not drawn in 1 case; a larger --count may draw it"
    assert [line for line in onnx_report.text(found) if "never: " in line] == [
        f"  never: {feature}: {by_chance}" for feature in missed
    ]
    rows = [row for row in onnx_report.document(found)["features"] if not row["cases"]]
    assert {row["reason"] for row in rows} == {by_chance}
    more = onnx_report.measured([ROWS["Clip-13"]], 40, 0)
    assert all(more.times[feature] for feature in missed)


def test_a_converter_without_a_row_and_a_reason_has_no_reason() -> None:
    found = onnx_report.Measured({}, {}, ("NonZero", "Unheard"))
    assert list(onnx_report.text(found))[1:] == [
        f"NonZero: no row: {reasons()['NonZero']}",
        "Unheard: no row: no reason is known",
    ]


def test_a_part_that_is_not_drawn_is_an_attribute_of_its_row() -> None:
    """So a larger number of cases may draw each part without a reason."""
    for op in OPS:
        for feature in onnx_features._of_row(op):
            kind, _, name = feature.part.partition(" ")
            there = name in op.schema or (kind == "input" and INPUTS in op.schema)
            assert there or not kind or (kind == "output" and OUTPUTS in op.schema), feature


@pytest.mark.slow
@pytest.mark.long
def test_what_is_not_drawn_has_a_reason() -> None:
    found = onnx_report.measured(OPS, 40, 0)
    assert [str(each) for each, times in found.times.items() if not times and not reason_of(each)] == []
