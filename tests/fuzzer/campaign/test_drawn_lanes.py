"""Drawn lanes are legal, stay the same for the same choices, and reach every row of the tables."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest
from graphs_by_hand import case_of
from hypothesis import given
from hypothesis import strategies as st

from fuzzer.campaign.plan.drawn_lanes import DISABLED, OPTIONS, drawn, ordered
from fuzzer.lanes import SAMPLED_LANES, TVM_LANES
from fuzzer.lanes.model_lanes import MOST_OPT_LEVEL
from generators.choice import NumpySource
from generators.dialect import dialect_named
from generators.torch.strategies import HypothesisSource
from oracles.importers import drawn_importers
from oracles.lane import Execution, LaneSpec, Params, Pipeline
from oracles.lane_check import invalid_reason
from oracles.siblings import additions, covers, sibling
from oracles.transforms import LEGALIZE, RELAY_TRANSFORMS, TRANSFORMS, TRANSFORMS_BY_NAME, ModuleForm

PLAIN = case_of({"x0": "float32[2,3]"}, [("v0", "neg", "x0")], "v0")
LINEAR = case_of({"x0": "float32[2,3]", "w0": "float32[4,3]"}, [("v0", "linear", "x0 w0")], "v0")


@cache
def lanes() -> list[LaneSpec]:
    return [drawn(NumpySource(5, index), LINEAR) for index in range(2000)]


def test_the_same_choices_give_the_same_lane() -> None:
    assert [drawn(NumpySource(5, index), LINEAR) for index in range(50)] == lanes()[:50]
    assert len(set(lanes())) > 1500


def test_another_stream_of_a_test_decides_other_things() -> None:
    words = [[NumpySource(1, 2, stream).integer(0, 1 << 40) for _ in range(1)] for stream in (0, 1, 2)]
    assert len({word for (word,) in words}) == 3
    assert NumpySource(1, 2, 0).integer(0, 1 << 40) == NumpySource(1, 2).integer(0, 1 << 40)


def test_everything_in_the_tables_is_drawn() -> None:
    assert {name for lane in lanes() for name in lane.passes} == {row.name for row in TRANSFORMS}
    assert {lane.params for lane in lanes()} == set(Params)
    assert {lane.pipeline for lane in lanes()} == set(Pipeline)
    assert {lane.executor for lane in lanes()} == {Execution.BYTECODE, Execution.COMPILED}
    assert {lane.disabled for lane in lanes()} == {(), *DISABLED}
    assert {lane.options for lane in lanes()} == {(), *((name,) for name in OPTIONS)}
    assert {lane.opt_level for lane in lanes()} == set(range(MOST_OPT_LEVEL + 1))


def test_passes_come_alone_in_pairs_repeated_and_in_sequences() -> None:
    lengths = Counter(len(lane.passes) for lane in lanes())
    assert min(lengths[1], lengths[2], lengths[5]) > 50
    assert any(lane.passes == (name, name) for lane in lanes() for name in lane.passes[:1])


def test_passes_that_the_operators_wake_are_drawn_more_often() -> None:
    without = [drawn(NumpySource(5, index), PLAIN) for index in range(2000)]
    counts = [sum("ExpandMatmulOfSum" in lane.passes for lane in lanes) for lanes in (without, lanes())]
    assert counts[1] > 2 * counts[0] > 0


def test_a_lane_that_is_drawn_for_a_pass_has_it_and_each_importer_as_often() -> None:
    wanted = TRANSFORMS_BY_NAME["FuseTransposeMatmul"]
    lanes = [drawn(NumpySource(5, index), LINEAR, wanted=wanted) for index in range(1000)]
    assert all(wanted.name in lane.passes for lane in lanes)
    counts = Counter(lane.importer for lane in lanes)
    assert counts.keys() == set(drawn_importers("torch"))
    assert min(counts.values()) > 200


def test_what_has_no_parameters_passes_none() -> None:
    assert {drawn(NumpySource(5, index), PLAIN).params for index in range(500)} == {Params.BOUND}


@pytest.mark.slow
@given(st.data())
def test_a_drawn_lane_is_legal(data: Any) -> None:
    lane = drawn(HypothesisSource(data.draw), LINEAR)
    rows = [TRANSFORMS_BY_NAME[name] for name in lane.passes]
    for index, row in enumerate(rows):
        assert set(row.after) <= set(lane.passes[:index])
        if row.form is ModuleForm.OPERATORS and row.name != LEGALIZE:
            assert not {r.name for r in rows[:index] if r.form in (ModuleForm.KERNELS, ModuleForm.LOWERED)}
        if row.form is ModuleForm.LOWERED:
            assert all(
                later.form is ModuleForm.LOWERED or later.name in TRANSFORMS_BY_NAME[_next_after(lane, index)].after
                for later in rows[index + 1 :]
            )
    if any(row.form is ModuleForm.LOWERED for row in rows):
        assert lane.pipeline is Pipeline.DEFAULT
    if lane.params.is_lifted:
        assert lane.opt_level > 0
    if lane.params is Params.LIFTED_CONSUMING:
        assert not [name for name in lane.passes if name.startswith("TopologicalSort")]
    assert invalid_reason(lane) is None


def _next_after(lane: LaneSpec, index: int) -> str:
    """The last lowering pass: what it needs may stand before it."""
    return [name for name in lane.passes[index:] if TRANSFORMS_BY_NAME[name].form is ModuleForm.LOWERED][-1]


@pytest.mark.parametrize("row", TRANSFORMS, ids=lambda row: row.name)
def test_what_a_row_needs_is_put_before_it(row: object) -> None:
    names = ordered(NumpySource(0), [row])
    assert names == (*row.after, row.name)  # type: ignore[attr-defined]


@pytest.mark.slow
def test_each_drawn_lane_has_a_plain_sibling_among_those_with_a_name() -> None:
    for lane in lanes():
        plain = sibling(lane, (*TVM_LANES, *SAMPLED_LANES))
        assert plain is not None
        assert covers(lane, plain)
        assert additions(plain) == ()


WAKING = ("torch", "onnx", "relax")
"""The dialects that have convolutions and matrix products, which some passes alone rewrite."""


def test_these_dialects_have_operators_that_wake_each_pass() -> None:
    limited = [row for row in TRANSFORMS if row.relevant]
    assert limited
    rows = [dialect_named(name).rows().values() for name in WAKING]
    assert [row.name for row in limited for each in rows if not any(map(row.rewrites, each))] == []


def test_names_of_transforms_are_unique() -> None:
    assert len(TRANSFORMS_BY_NAME) == len(TRANSFORMS) + len(RELAY_TRANSFORMS)


def test_purity_is_given_up_only_after_dataflow_blocks_are_gone_however_passes_are_drawn_or_left_out() -> None:
    """As TVM documents RemovePurityChecking."""
    (row,) = [row for row in TRANSFORMS if "RemovePurityChecking" in row.source]
    assert row.source == "relax.transform.RemovePurityChecking()(relax.transform.ToNonDataflow()(mod))"
