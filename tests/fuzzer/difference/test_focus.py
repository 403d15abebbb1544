"""From entries that differ to operators, lanes, numbers, and the sentence that says what a run will do."""

from __future__ import annotations

import pytest

from fuzzer.campaign.plan.selection import ops_of_dialects
from fuzzer.difference.changed_code import ChangedCode
from fuzzer.difference.changed_entries import ChangedEntry, ChangedTable
from fuzzer.difference.focus import Focus, focus_of
from fuzzer.difference.torch.rows import RULES, rows_of_rule
from fuzzer.difference.touched_lanes import touched_lanes
from fuzzer.difference.touched_rows import hinted_rows, rows_of_converter, touched_rows
from fuzzer.toolchains.code_entries import Kind
from generators.graph import DType
from oracles.lane import SCHEDULES

OPS = ops_of_dialects("*", "torch,onnx")
MAKERS = {"relax.nn.softmax": ["export softmax.int", "onnx Softmax 13"]}


@pytest.mark.parametrize(
    ("converter", "rows"),
    [
        ("export relu.default", {"relu"}),
        ("fx nn.GELU", {"gelu"}),
        ("export constant_pad_nd.default", {"pad_constant"}),
        ("onnx Concat 13", {"Concat-13"}),
        ("onnx NoSuchOperator 1", set()),
        ("export no_such_operator.default", set()),
    ],
)
def test_the_rows_of_a_converter(converter: str, rows: set[str]) -> None:
    found = rows_of_converter(converter)
    assert rows <= found
    assert bool(rows) == bool(found)


def test_a_converter_of_onnx_has_the_rows_of_its_versions() -> None:
    assert not rows_of_converter("onnx Softmax 1") & rows_of_converter("onnx Softmax 13")
    assert "Softmax-13" in rows_of_converter("onnx Softmax 13")


def test_the_rows_of_a_legalization_are_those_of_the_converters_that_make_its_operator() -> None:
    rows = touched_rows(ChangedEntry(Kind.LEGALIZATION, "relax.nn.softmax"), ChangedTable(makers=MAKERS))
    assert {"softmax", "Softmax-13"} <= rows
    assert touched_rows(ChangedEntry(Kind.LEGALIZATION, "relax.nn.relu"), ChangedTable()) >= {"relu"}


def test_the_rows_of_a_rule_of_schedules() -> None:
    focus = focus_of(ChangedTable((ChangedEntry(Kind.SCHEDULE, "s_tir.dlight.gpu.Matmul"),)), ChangedCode(), OPS)
    assert {"matmul", "bmm", "linear"} <= focus.names
    assert "relu" not in focus.names


@pytest.mark.parametrize("rule", RULES)
def test_each_row_of_a_rule_is_one_of_the_table(rule: str) -> None:
    assert rows_of_rule(rule) == RULES[rule]


def test_a_pass_hints_at_operators() -> None:
    text = "if call.op == Op.get('relax.nn.softmax') or 'matmul' in name: return relax.op.minimum(x, y)"
    table = ChangedTable(makers={**MAKERS, "relax.minimum": ["export minimum.default"]})
    assert {"softmax", "matmul", "minimum"} <= hinted_rows([], text, table)


def names(*entries: ChangedEntry) -> tuple[set[str], set[str]]:
    found = touched_lanes(entries)
    return {lane.name for lane in found.always}, {lane.name for lane in found.in_turn}


@pytest.mark.parametrize(
    ("entry", "always", "among"),
    [
        (
            ChangedEntry(Kind.CONVERTER, "export relu.default"),
            {"relax-export-llvm", "relax-export-raw-llvm"},
            "relax-export-tvm-llvm",
        ),
        (ChangedEntry(Kind.CONVERTER, "fx relu"), {"relax-fx-llvm"}, "relax-dynamo-llvm"),
        (ChangedEntry(Kind.IMPORTER, "onnx"), {"relax-onnx-model-llvm"}, "relax-onnx-llvm"),
        (
            ChangedEntry(Kind.LEGALIZATION, "relax.nn.relu"),
            {"relax-export-llvm", "relax-onnx-model-llvm"},
            "relax-export-c",
        ),
        (ChangedEntry(Kind.GRADIENT, "relax.nn.relu"), {"relax-export-gradient"}, None),
        (
            ChangedEntry(Kind.PIPELINE, "relax.pipeline.zero_pipeline"),
            {"relax-export-zero", "relax-onnx-model-zero"},
            "relax-onnx-zero",
        ),
        (ChangedEntry(Kind.PASS, "relax.transform.BundleModelParams"), {"relax-export-bundled"}, None),
        (ChangedEntry(Kind.PASS, "relax.transform.NoSuchPass"), set(), None),
    ],
)
def test_the_lanes_of_an_entry(entry: ChangedEntry, always: set[str], among: str | None) -> None:
    found, in_turn = names(entry)
    assert always <= found
    assert bool(found) == bool(always)
    assert among is None or among in in_turn or entry.kind is Kind.PIPELINE


def test_a_rule_of_gpus_has_the_lanes_that_compare_schedules() -> None:
    found = touched_lanes([ChangedEntry(Kind.SCHEDULE, "s_tir.dlight.gpu.Matmul")])
    assert found.always
    assert {lane.variant for lane in found.all} == {SCHEDULES}


def test_the_lanes_of_a_target() -> None:
    assert all(lane.target.startswith("c") for lane in touched_lanes([], ["c"]).all)


SOFTMAX = ChangedTable((ChangedEntry(Kind.CONVERTER, "export softmax.int", ("mine.py f",), (4,)),), makers=MAKERS)


def test_the_focus_of_a_converter() -> None:
    focus = focus_of(SOFTMAX, ChangedCode(text="if dtype == 'bfloat16':"), OPS)
    assert focus.dialects == ("torch",)
    assert {op.name for op in focus.rows["torch"]} >= {"softmax", "softmin"}
    assert (focus.numbers, focus.dtypes) == ((-5, -4, -3, 3, 4, 5), {DType.BFLOAT16})
    assert {3, 4, 5, 7, 8, 9, 13} <= set(focus.sizes)
    words = focus.in_words(7)
    assert words.startswith("the change touches 1 converter: ")
    assert words.endswith("; 7 kept cases reach them")


def test_a_pass_that_runs_in_every_case_has_no_rows() -> None:
    zero = ChangedEntry(Kind.PIPELINE, "relax.pipeline.zero_pipeline")
    focus = focus_of(ChangedTable((ChangedEntry(Kind.PASS, "relax.transform.FuseTIR"), zero)), ChangedCode(), OPS)
    assert (focus.rows, focus.is_known) == ({}, True)
    assert "all operators" in focus.in_words(3)
    assert "1 pass, 1 pipeline" in focus.in_words(3)


def test_files_of_cpp_stand_for_entries() -> None:
    table = ChangedTable(makers=MAKERS, pipelines={"FuseOps": ["relax.pipeline.zero_pipeline"]})
    operator = focus_of(table, ChangedCode(parts=frozenset(("operator relax.nn.softmax",))), OPS)
    assert "softmax" in operator.names
    fuse = focus_of(table, ChangedCode(parts=frozenset(("pass FuseOps", "pass relax.Unknown"))), OPS)
    assert [entry.kind for entry in fuse.entries] == [Kind.PASS, Kind.PIPELINE]
    assert {"relax-export-zero"} <= {lane.name for lane in fuse.lanes.all}
    assert focus_of(table, ChangedCode(parts=frozenset(("target c",))), OPS).is_known


def test_nothing_is_aimed_at_where_no_lane_is_known() -> None:
    assert not focus_of(ChangedTable(), ChangedCode(), OPS).is_known
    assert "it is not known" in Focus().in_words(0)
