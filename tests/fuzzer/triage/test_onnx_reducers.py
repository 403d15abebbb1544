"""The passes of reduction on cases of ONNX: what they propose, and that one failing operator is what is left."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

import numpy as np
import pytest
from graphs_by_hand import Call, case_of

from fuzzer.lanes import EVERY_TVM_LANE
from fuzzer.triage.proposals import smaller_proposals
from fuzzer.triage.reduce import reduce
from fuzzer.triage.reducers import REDUCERS, Reducer, Subject
from fuzzer.triage.reducers.base import cut
from fuzzer.triage.reducers.fewer_operands import fewer_operands
from fuzzer.triage.reducers.lower_rank import lower_rank
from fuzzer.triage.reducers.plain_lane import plain_lane
from fuzzer.triage.reducers.plain_roles import plain_roles
from fuzzer.triage.reducers.plain_writing import plain_writing
from fuzzer.triage.reducers.shrink_dims import shrink_dims
from fuzzer.triage.reducers.usual_opset import opset_rank, usual_opset
from fuzzer.triage.reproduce import Reproduction
from fuzzer.triage.size import size_of
from generators.choice import NumpySource
from generators.graph import Array, Case, Form, Invalid, Role, TensorType
from generators.limits import Limits
from generators.onnx.model import Node as OnnxNode
from generators.onnx.random_graph import generate
from generators.onnx.schema import newest_opset
from generators.onnx.unlisted import call_of
from oracles.lane import LaneSpec

LANES = {lane.name: lane for lane in EVERY_TVM_LANE}
LANE = LANES["relax-onnx-model-llvm"]


def subject(inputs: Mapping[str, str], calls: list[Call], outputs: str, opset: int, lane: LaneSpec = LANE) -> Subject:
    case = case_of(inputs, calls, outputs, opset=opset)
    return Subject(
        case, lane, {value.name: np.ones(value.type.sizes, value.type.dtype.numpy) for value in case.bound.values()}
    )


def proposed(propose: Reducer, of: Subject) -> list[Subject]:
    return list(smaller_proposals(propose, of))


def test_operands_that_may_be_left_out_are_left_out_the_last_first() -> None:
    inputs = {"x0": "uint8[2,3]", "x1": "uint8[3,2]", "x2": "uint8[]", "x3": "uint8[]"}
    calls: list[Call] = [("v0", "MatMulInteger-10", "x0 x1 x2 x3", {"inputs": (True, True, True, True)})]
    found = [each.graph.nodes[0] for each in proposed(fewer_operands, subject(inputs, calls, "v0", 13))]
    assert [(node.args, node.attrs["inputs"]) for node in found] == [
        (("x0", "x1", "x2"), (True, True, True, False)),
        (("x0", "x1", "x3"), (True, True, False, True)),
    ]


def test_operands_of_a_variadic_input_are_left_out_down_to_one() -> None:
    of = subject({"x0": "float32[3]", "x1": "float32[3]"}, [("v0", "Concat-13", "x0 x1", {"axis": 0})], "v0", 13)
    (last, first) = proposed(fewer_operands, of)
    assert (last.graph.nodes[0].args, first.graph.nodes[0].args) == (("x0",), ("x1",))
    assert last.graph.output_types[0].sizes == (3,)
    assert proposed(fewer_operands, last) == []


def test_results_that_nothing_reads_are_left_out() -> None:
    calls: list[Call] = [("v0 v1", "Dropout-13", "x0", {"outputs": (True, True)})]
    of = subject({"x0": "float32[3]"}, calls, "v0", 13)
    (only,) = [each.graph.nodes[0] for each in proposed(fewer_operands, of)]
    assert ([value.name for value in only.results], only.attrs["outputs"]) == (["v0"], (True, False))


def test_the_model_moves_to_usual_opsets_in_the_versions_that_are_in_force_there() -> None:
    of = subject({"x0": "float32[2,3]"}, [("v0", "ReduceSum-11", "x0", {"axes": (0,)})], "v0", 11)
    found = [
        (each.graph.opset, each.graph.nodes[0].op, each.graph.nodes[0].attrs["axes"])
        for each in proposed(usual_opset, of)
    ]
    assert found == [
        (newest_opset(), "ReduceSum-13", (0,)),
        (17, "ReduceSum-13", (0,)),
        (13, "ReduceSum-13", (0,)),
    ]
    assert [opset_rank(each.graph) for each in proposed(usual_opset, of)] == [0, 1, 2]
    assert opset_rank(of.graph) == 3


def test_an_operator_that_a_newer_opset_lacks_stays_where_it_is() -> None:
    of = subject({"x0": "float32[2,3]"}, [("v0", "Upsample-9", "x0", {"scales": (1.0, 2.0)})], "v0", 9)
    assert proposed(usual_opset, of) == []


def test_an_operator_of_com_microsoft_is_no_operator_of_onnx_with_its_name() -> None:
    given = {"num_heads": 1, "inputs": (True, True, True, *(False,) * 4), "outputs": (True, False)}
    inputs = {"x0": "float32[1,2,3]", "x1": "float32[3,3]", "x2": "float32[3]"}
    of = subject(inputs, [("v0", "Attention-1", "x0 x1 x2", given)], "v0", 11)
    found = [(each.graph.opset, each.graph.nodes[0].op) for each in proposed(usual_opset, of)]
    assert found == [(newest_opset(), "Attention-1"), (17, "Attention-1"), (13, "Attention-1")]
    own = {"inputs": (True, True, True, *(False,) * 3), "outputs": (True, *(False,) * 3)}
    of = subject({"x0": "float32[1,1,2,3]"}, [("v0", "Attention-23", "x0 x0 x0", own)], "v0", 23)
    assert [each.graph.opset for each in proposed(usual_opset, of)] == [newest_opset()]


def test_attributes_are_left_out_and_forms_become_plain() -> None:
    calls: list[Call] = [("v0", "LeakyRelu-16:branch", "x0", {"alpha": 0.5})]
    of = subject({"x0": "float32[3]"}, calls, "v0", 17)
    first = proposed(plain_writing, of)[0].graph.nodes[0]
    assert (first.form, first.attrs["alpha"]) == (Form.PLAIN, None)


def test_a_spatial_dimension_of_a_convolution_is_removed_with_its_numbers() -> None:
    attrs = {"strides": (1, 2), "pads": (0, 1, 0, 1), "kernel_shape": (1, 3), "inputs": (True, True, False)}
    of = subject({"x0": "float32[1,1,1,5]", "x1": "float32[1,1,1,3]"}, [("v0", "Conv-11", "x0 x1", attrs)], "v0", 17)
    found = [dict(each.graph.nodes[0].attrs) for each in proposed(lower_rank, of)]
    assert any((each["strides"], each["pads"], each["kernel_shape"]) == ((2,), (1, 1), (3,)) for each in found)


def test_the_declared_types_of_a_node_without_a_row_follow() -> None:
    node = OnnxNode("OneHot", ("x0", "w0", "w1"), ("v0",))
    types = {"x0": "float32[2,5]", "w0": "int64[]", "w1": "float32[2]", "v0": "float32[2,5,4]"}
    call = call_of(node, 0, {name: TensorType.parse(text) for name, text in types.items()})
    calls: list[Call] = [("v0", call.op, "x0 w0 w1", dict(call.attrs))]
    of = subject({name: types[name] for name in ("x0", "w0", "w1")}, calls, "v0", 17)
    found = [each.graph.nodes[0].attrs for each in proposed(shrink_dims, of)]
    assert [(each["takes"], each["types"]) for each in found] == [
        (("float32[2,1]", "int64[]", "float32[2]"), ("float32[2,1,4]",)),
        (("float32[2,2]", "int64[]", "float32[2]"), ("float32[2,2,4]",)),
        (("float32[2,4]", "int64[]", "float32[2]"), ("float32[2,4,4]",)),
        (("float32[1,5]", "int64[]", "float32[1]"), ("float32[1,5,4]",)),
    ]


def test_what_constants_give_stays_constant_until_an_input_will_do() -> None:
    calls: list[Call] = [("v0", "Neg-13", "w0"), ("v1", "Add-14", "v0 x0")]
    of = subject({"w0": "float32[3]", "x0": "float32[3]"}, calls, "v1", 17)
    without = cut(of, frozenset({"v0"}))
    assert without is not None
    roles = {item.value.name: item.role for item in without.graph.inputs}
    assert roles == {"x0": Role.INPUT, "v0": Role.PARAM}
    assert all(item.role is Role.INPUT for item in proposed(plain_roles, without)[0].graph.inputs)


@pytest.mark.parametrize(
    ("name", "plainer"),
    [
        ("relax-onnx-model-llvm-opset18", "relax-onnx-model-llvm"),  # the model as it is
        ("relax-onnx-model-zero", "relax-onnx-model-llvm"),
    ],
)
def test_a_plainer_lane_reads_models_too(name: str, plainer: str) -> None:
    of = subject({"x0": "float32[3]"}, [("v0", "Relu-14", "x0")], "v0", 17, LANES[name])
    found = [each.lane for each in proposed(plain_lane, of)]
    assert plainer in [lane.name for lane in found]
    assert {lane.dialect for lane in found} == {"onnx"}


def calls_of(case: Case, title: str) -> bool:
    return title in case.graph.ops


@pytest.mark.parametrize("seed", range(12))
def test_a_failure_of_one_operator_ends_at_one_plain_call(seed: int) -> None:
    """A failure that shows wherever one operator is called. The lane has argument checks, which are TVM's default."""
    case = generate(NumpySource(seed, 5), Limits(min_nodes=4), symbolic=False)
    title = case.graph.nodes[-1].title

    def fails(smaller: Case, lane: LaneSpec) -> Reproduction:
        return Reproduction(calls_of(smaller, title))

    def values(whole: Case) -> Mapping[str, Array]:
        return {each.name: np.ones(each.type.sizes, each.type.dtype.numpy) for each in whole.bound.values()}

    done = reduce(Subject(case, LANES["relax-onnx-model-zero"], {}, needs_ops=True), fails, values, reducers=REDUCERS)
    (node,) = done.case.graph.nodes
    assert (node.title, node.form, done.lane.name) == (title, Form.PLAIN, "relax-onnx-model-asserts")
    assert all(item.role is Role.INPUT for item in done.case.graph.inputs)
    assert size_of(done.case, done.lane) <= size_of(case, LANES["relax-onnx-model-zero"])


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(20))
def test_whatever_the_passes_propose_is_valid_or_refused(seed: int) -> None:
    """A rule of an operator that cannot say no ends a reduction."""
    of = Subject(generate(NumpySource(seed, 11), symbolic=False), LANE, {}, needs_ops=True)
    for propose in REDUCERS:
        for smaller in islice(smaller_proposals(propose, of), 60):
            assert size_of(smaller.case, smaller.lane) < size_of(of.case, of.lane)


def test_a_call_says_of_all_its_results_whether_they_are_wanted() -> None:
    with pytest.raises(Invalid, match="has 2 results, of which some are needed"):
        subject({"x0": "float32[3]"}, [("v0", "Dropout-13", "x0", {"outputs": (True,)})], "v0", 13)
