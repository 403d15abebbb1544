"""The cases of a campaign around a model: its pieces, other types of them, its operators, and mutations."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from graphs_by_hand import case_of
from hypothesis import given
from hypothesis import strategies as st

from fuzzer.campaign.cases.around_cases import Kind, draw_around, kind_of
from fuzzer.campaign.cases.cases import random_cases
from fuzzer.campaign.cases.guidance import Guidance
from fuzzer.campaign.plan.settings import Settings
from fuzzer.seeds import corpus
from fuzzer.seeds.around import Around
from generators import case_file
from generators.builder import Limits
from generators.check import check
from generators.choice import NumpySource
from generators.dialect import dialect_named
from generators.guards import is_guard
from generators.table import TABLE

LARGE = case_of(
    {"x0": "float32[2,3]", "w0": "float32[4,3]"},
    [("v0", "linear", "x0 w0"), ("v1", "relu", "v0"), ("v2", "add", "v1 v1")],
    "v2",
)
SMALL = case_of({"x0": "float32[2,3]"}, [("v0", "relu", "x0")], "v0")
CALLS = {"relu": 6, "linear": 3, "add": 1}
AROUND = Around({"net-large": LARGE, "net-small": SMALL}, CALLS, {"eq.Scalar": 1})
GUARDED = {*CALLS, *filter(is_guard, TABLE)}
DIGESTS = [case_file.digest(case) for case in (LARGE, SMALL)]


def settings(folder: Path) -> Settings:
    return Settings(folder, 3, around=AROUND)


def test_operators_are_as_frequent_as_in_the_model() -> None:
    assert Counter(op.name for op in AROUND.ops["torch"]) == CALLS


def test_the_pieces_run_first_the_largest_before_the_others(tmp_path: Path) -> None:
    corpus.add(tmp_path, "another", case_of({"x0": "float32[2]"}, [("v0", "neg", "x0")], "v0"))
    for make in (random_cases(settings(tmp_path), 3), Guidance(settings(tmp_path), 3).case):
        made = [case_file.digest(case) for index in range(2) if (case := make(index))]
        assert made == DIGESTS, "and no other case of the corpus"
        (tmp_path / "corpus" / ".run").unlink()


@pytest.mark.slow
@pytest.mark.parametrize("guided", [False, True])
def test_later_cases_have_operators_of_the_model_alone(guided: bool, tmp_path: Path) -> None:
    make = Guidance(settings(tmp_path), 3).case if guided else random_cases(settings(tmp_path), 3)
    made = [case for index in range(80) if (case := make(index))][2:]
    assert len({case_file.digest(case) for case in made}) > 60
    assert {op for case in made for op in case.graph.ops} - GUARDED == set()
    for case in made:
        check(case)
    by_kind = Counter(kind_of(3, index) for index in range(2, 80))
    drawn = [case.origin for case in made if case.origin.startswith("seed 3 test ")]
    assert len(drawn) == by_kind[Kind.COMBINED], "guidance does not change the shares"


def test_each_kind_has_its_share() -> None:
    counts = Counter(kind_of(1, index) for index in range(2000))
    assert {kind: round(counts[kind] / 200) for kind in Kind} == {Kind.VARIED: 4, Kind.COMBINED: 3, Kind.MUTATED: 3}


@pytest.mark.slow
@given(st.integers(0, 10_000))
def test_a_varied_piece_keeps_its_calls(index: int) -> None:
    case = draw_around(NumpySource(5, index), AROUND, Kind.VARIED, Limits(), "", "torch")
    check(case)
    assert case.graph.ops in (LARGE.graph.ops, SMALL.graph.ops)


@pytest.mark.slow
def test_types_vary_in_dtype_shape_layout_and_open_sizes() -> None:
    made = [draw_around(NumpySource(6, index), AROUND, Kind.VARIED, Limits(), "", "torch") for index in range(200)]
    items = [case.bound.inputs[0] for case in made if len(case.graph.nodes) == 1]
    assert len({item.value.type.dtype for item in items}) > 3
    assert len({item.value.type.sizes for item in items}) > 5
    assert len({item.layout for item in items}) > 1
    assert 5 < sum(bool(case.graph.symbols) for case in made) < 60


@given(st.integers(0, 10_000))
def test_a_combination_is_a_new_graph_of_the_operators(index: int) -> None:
    case = draw_around(NumpySource(7, index), AROUND, Kind.COMBINED, Limits(), "mine", "torch")
    check(case)
    assert case.origin == "mine"
    assert set(case.graph.ops) <= GUARDED


ONNX = Around(
    {
        "net-17": case_of(
            {"x0": "float32[2,3]", "w0": "float32[4,3]"},
            [
                ("v0", "Gemm-13", "x0 w0", {"transB": 1, "inputs": (True, True, False)}),
                ("v1", "Relu-14", "v0"),
                ("v2", "Add-14", "v1 v1"),
            ],
            "v2",
            opset=17,
        ),
        "net-11": case_of({"x0": "float32[2,3]"}, [("v0", "Relu-6", "x0")], "v0", opset=11),
        "net-torch": SMALL,
    },
    {"Relu-14": 3, "Gemm-13": 1, "Add-14": 1, "Relu-6": 1, "relu": 1},
    {},
)


def test_operators_and_pieces_have_a_dialect() -> None:
    assert ONNX.dialects == {"torch", "onnx"}
    assert {dialect: len(ops) for dialect, ops in ONNX.ops.items()} == {"onnx": 6, "torch": 1}


@pytest.mark.slow
@given(st.integers(0, 10_000), st.sampled_from(Kind))
def test_a_case_of_onnx_has_the_operators_and_an_opset_of_the_model(index: int, kind: Kind) -> None:
    case = draw_around(NumpySource(9, index), ONNX, kind, Limits(), "mine", "onnx")
    check(case)
    own = {17: {"Relu-14", "Gemm-13", "Add-14"}, 11: {"Relu-6"}}[case.graph.opset]
    called = {node.op for node in case.graph.nodes}
    assert {op for op in called if not is_guard(op)} <= own
    if kind is Kind.COMBINED:
        assert case.origin == "mine"


@pytest.mark.slow
@pytest.mark.parametrize("guided", [False, True])
def test_a_campaign_around_a_model_draws_both_dialects(guided: bool, tmp_path: Path) -> None:
    both = Settings(tmp_path, 3, around=ONNX, ops={name: dialect_named(name).drawn() for name in ("torch", "onnx")})
    make = Guidance(both, 3).case if guided else random_cases(both, 3)
    counts = Counter(case.graph.dialect for index in range(60) if (case := make(index)))
    assert min(counts["torch"], counts["onnx"]) > 10


def test_where_no_operator_begins_a_graph_a_piece_is_mutated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("generators.random_graph.ATTEMPTS_PER_NODE", 0)
    case = draw_around(NumpySource(8), AROUND, Kind.COMBINED, Limits(), "mine", "torch")
    check(case)
    assert case.origin != "mine"


def test_the_seed_and_the_number_decide_without_guidance(tmp_path: Path) -> None:
    one, other = (random_cases(settings(tmp_path), 3) for _ in range(2))
    digests = [[case_file.digest(case) for n in range(12) if (case := draw(n))] for draw in (one, other)]
    assert digests[0] == digests[1]
