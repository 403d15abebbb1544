"""Cases of Relax: TVM's parser, checker and inference agree with their graphs, and references compute them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
import tvm
from graphs_by_hand import Call, case_of, graph_of
from tvm import relax

from fuzzer.lanes import MODULE_LANES, MODULE_SAMPLED_LANES, RELAX, RELAX_ENVELOPE, RELAX_F64
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.relax.importing import imported
from fuzzer.lanes.relax.references import evaluated, shared
from fuzzer.lanes.relax.trace import result_types
from fuzzer.lanes.runners import runner_of
from generators.choice import NumpySource
from generators.graph import Case, Form, Invalid
from generators.limits import Limits
from generators.op import Op
from generators.relax.network import network
from generators.relax.ops import FAMILIES, TABLE
from generators.relax.random_graph import generate
from generators.relax.source import render
from oracles.lane import LaneSpec
from oracles.outcome import Ran

OTHER_IN_TVM = {"relax.arange": "TVM 0.27 infers two more numbers for a negative step"}
"""Rows whose types TVM infers otherwise, and how it is wrong."""

pytestmark = pytest.mark.tvm


def drawn(op: Op, count: int, *, symbolic: bool = False) -> list[Case]:
    found = []
    for number in range(count):
        with suppress(Invalid):  # a drawn call that fits no graph of one node
            found.append(generate(NumpySource(31, number), Limits(max_nodes=1), [op], symbolic=symbolic))
    return found


def families() -> list[tuple[Op, ...]]:
    return list({family[0].name: family for family in FAMILIES.values()}.values())


@pytest.mark.slow
@pytest.mark.parametrize("family", families(), ids=lambda family: family[0].name)
def test_tvm_infers_the_types_of_a_row(family: Sequence[Op]) -> None:
    for case in (case for op in family if op.name not in OTHER_IN_TVM for case in drawn(op, 3)):
        module = tvm.script.from_source(render(case.graph))
        declared = [f"{type.dtype}{list(type.sizes)}" for type in case.graph.output_types]
        assert result_types(module) == tuple(declared), render(case.graph)


@pytest.mark.slow
@pytest.mark.parametrize("family", families(), ids=lambda family: family[0].name)
def test_definitions_give_the_types_of_a_row(family: Sequence[Op]) -> None:
    for case in (case for op in family for case in drawn(op, 3)):
        found = [f"{array.dtype}{list(array.shape)}" for array in evaluated(case)]
        assert found == [f"{type.dtype}{list(type.sizes)}" for type in case.graph.output_types]


def test_a_negative_step_has_the_numbers_that_python_gives() -> None:
    (case,) = [case for case in drawn(TABLE["relax.arange"], 40) if case.graph.nodes[0].attrs["step"] == -2][:1]
    attrs = case.graph.nodes[0].attrs
    expected = list(range(int(str(attrs["start"])), int(str(attrs["end"])), -2))
    assert evaluated(case)[0].tolist() == expected


FORMS = (
    *(Form.BINDING, Form.BRANCH, Form.SUBROUTINE, Form.TUPLE, Form.MATCH_CAST),
    *(Form.RECURSION, Form.LOCAL, Form.TWICE, Form.SAME_NAME),
)


@pytest.mark.parametrize("form", FORMS)
def test_a_form_changes_no_result(form: Form) -> None:
    case = network()
    written = replace(case.graph, nodes=tuple(replace(node, form=form) for node in case.graph.nodes))
    require_right(run(replace(case, graph=written), MODULE_LANES[0]), case)


@pytest.mark.parametrize("form", [Form.OPEN, Form.PRIMITIVE])
def test_variable_sizes_change_no_result(form: Form) -> None:
    calls: tuple[Call, ...] = (
        ("v0", f"relax.nn.relu:{form}", "x0"),
        ("v1", f"relax.sum:{form}", "v0", {"axis": (1,), "keepdims": False}),
        ("v2", f"relax.permute_dims:{form}", "v0", {"axes": None}),
    )
    case = case_of({"x0": "float32[2,3]"}, calls, "v1 v2")
    require_right(run(case, MODULE_LANES[0]), case)


def test_what_a_closure_returns_is_returned() -> None:
    """TVM 0.27 compiles no other reader of it."""
    types = {"x0": "bool[2]", "x1": "float32[2]", "x2": "float32[2]"}
    case = case_of(types, [("v0", "relax.where:closure", "x0 x1 x2")], "v0")
    require_right(run(case, MODULE_LANES[0]), case)


def test_functions_are_called_by_name() -> None:
    calls: tuple[Call, ...] = (
        ("v0", "relax.call_pure_packed-double", "x0"),
        ("v1", "relax.call_dps_packed-difference:subroutine", "v0 x1"),
        ("v2", "relax.call_pure_packed-difference", "v1 x0"),
        ("v3", "relax.call_dps_packed-double", "v2"),
    )
    case = case_of({"x0": "float16[2,3]", "x1": "float16[2,3]"}, calls, "v0 v3")
    require_right(run(case, MODULE_LANES[0]), case)


def require_right(outcome: Ran, case: Case) -> None:
    expected = evaluated(case)
    assert len(outcome.outputs) == len(expected)
    for found, right in zip(outcome.outputs, expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-4)


def run(case: Case, lane: LaneSpec) -> Ran:
    outcome = runner_of(lane).run(PreparedCase(case, lambda stage: None), lane, Quiet())
    assert isinstance(outcome, Ran)
    return outcome


def test_references_run_the_network() -> None:
    case = network()
    eager, exact = run(case, RELAX).outputs[0], run(case, RELAX_F64).outputs[0]
    measured = run(case, RELAX_ENVELOPE).outputs
    assert (eager.dtype, exact.dtype) == (np.float32, np.float64)
    assert np.all(np.abs(eager - exact) <= measured[0])
    assert not measured[len(measured) // 2].any()


def lane_named(name: str) -> LaneSpec:
    return next(lane for lane in (*MODULE_LANES, *MODULE_SAMPLED_LANES) if lane.name == f"relax-module-{name}")


@pytest.mark.parametrize("name", ["inputs", "lifted", "zero", "script", "opt0", "opt1", "opt3"])
def test_lanes_agree_with_the_reference(name: str) -> None:
    require_right(run(network(), lane_named(name)), network())


def test_a_lane_with_open_sizes_runs_at_those_of_the_case() -> None:
    ops = [TABLE[f"relax.{name}"] for name in ("nn.relu", "add", "sum", "call_tir-double")]
    lane = lane_named("symbolic")
    cases = [generate(NumpySource(3, number), Limits(max_nodes=4), ops, symbolic=True) for number in range(30)]
    supported = [case for case in cases if case.graph.symbols and runner_of(lane).supports(case, lane) is None][:4]
    assert len(supported) == 4
    for case in supported:
        found = [array.shape for array in run(case, lane).outputs]
        assert found == [type.sizes for type in case.bound.output_types]


def test_constants_of_a_case_are_bound_or_kept() -> None:
    prepared = PreparedCase(network(), lambda stage: None)
    bound = imported(prepared, lane_named("llvm"), Quiet())
    kept = imported(prepared, lane_named("inputs"), Quiet())
    assert (len(bound.module["main"].params), bound.params) == (1, ())
    assert (len(kept.module["main"].params), len(kept.params)) == (4, 3)
    relax.analysis.well_formed(bound.module)


def test_outputs_that_only_move_numbers_may_share_memory_with_inputs() -> None:
    calls: tuple[Call, ...] = (
        ("v0", "relax.reshape", "x0", {"shape": (4,)}),
        ("v1", "relax.astype", "v0", {"dtype": "float32"}),
        ("v2", "relax.nn.relu", "x1"),
    )
    graph = graph_of({"x0": "float32[2,2]", "x1": "float32[2]"}, calls, "v1 x1 v2")
    assert shared(graph) == ((0, "x0"), (1, "x1"))
