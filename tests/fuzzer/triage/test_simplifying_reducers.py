"""The passes that tidy what is left: exact proposals, and the table of plainer operators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from graphs_by_hand import Call, case_of
from rows import each_row
from small_graphs import LANE, shapes, subject_of, writing

from fuzzer.cases.open_sizes import at_each_size
from fuzzer.lanes import SAMPLED_LANES
from fuzzer.triage.reduce import Effort, reduce
from fuzzer.triage.reducers import Reducer, Subject
from fuzzer.triage.reducers.fewer_operands import fewer_operands
from fuzzer.triage.reducers.lower_rank import lower_rank
from fuzzer.triage.reducers.plain_roles import owned_inputs, plain_roles
from fuzzer.triage.reducers.simpler_operators import operator_complexity, plainer_operators, simpler_operators
from fuzzer.triage.reducers.smaller_attributes import attribute_size, smaller_attributes
from fuzzer.triage.reducers.static_sizes import static_sizes, symbol_size
from fuzzer.triage.reproduce import Reproduction
from fuzzer.triage.size import Size, size_of
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Attr, Attrs, Case, Expr, Form, Graph, Input, Invalid, Node, Role, Symbol, TensorType, Value
from generators.onnx.random_graph import generate as generate_onnx
from generators.onnx.rows import rows_at
from generators.op import Op
from generators.retype import retyped_case
from generators.torch.ops import TABLE
from generators.torch.random_graph import generate
from oracles.lane import LaneSpec


def valid(propose: Reducer, subject: Subject) -> list[Subject]:
    """The candidates that keep the rules, typed afresh."""
    kept = []
    for candidate in propose(subject):
        try:
            case = retyped_case(candidate.case)
            check(case)
        except Invalid:
            continue
        kept.append(replace(candidate, case=case))
    return kept


# --- fewer_operands


def test_tensors_that_an_index_does_not_name_are_left_out() -> None:
    inputs = {"x0": "float32[4,3]", "x1": "float32[]", "x2": "int64[2]", "x3": "int64[2]"}
    calls: list[Call] = [
        ("v0", "getitem", "x0 x2 x3", {"index": ("{2}", "0")}),
        ("v1", "setitem", "x0 x1 x2 x3", {"index": ("0", "{3}")}),
        ("v2", "getitem", "x0 x2 x3", {"index": ("{1}", "{2}")}),
    ]
    found = valid(fewer_operands, subject_of(inputs, calls, "v0 v1 v2"))
    changed = [each.graph.nodes[number] for number, each in enumerate(found)]
    assert [(node.args, node.attrs["index"]) for node in changed] == [
        (("x0", "x3"), ("{1}", "0")),
        (("x0", "x1", "x3"), ("0", "{2}")),
    ]


# --- simpler_operators


OPSET = 22
SPECIAL = [op for op in TABLE.values() if op.plainer is not None]


@each_row(SPECIAL)
def test_plainer_operators_exist_and_lead_to_a_plainest_one(op: Op) -> None:
    """Each step leads to another operator of the table, and none comes twice."""
    chain, nearest = [op.name], op.plainer
    while nearest is not None:
        assert nearest in TABLE
        assert nearest not in chain
        chain.append(nearest)
        nearest = TABLE[nearest].plainer
    assert plainer_operators(op.name, 0) == tuple(reversed(chain[1:]))


@pytest.mark.parametrize(
    ("name", "opset", "plainer"),
    [
        ("Elu-6", 7, ("Neg-6", "Abs-6", "Relu-6", "Tanh-6")),
        ("Elu-6", 17, ("Neg-13", "Abs-13", "Relu-14", "Tanh-13")),
        ("FastGelu-1", 13, ("Neg-13", "Abs-13", "Relu-13", "Tanh-13")),
        ("FastGelu-1", 20, ("Neg-13", "Abs-13", "Relu-14", "Tanh-13", "Gelu-20")),
    ],
)
def test_plainer_operators_of_onnx_are_those_of_the_opset(name: str, opset: int, plainer: tuple[str, ...]) -> None:
    assert plainer_operators(name, opset) == plainer


def test_a_plainer_operator_takes_no_more_operands_than_there_may_be() -> None:
    plainer = {op.name: TABLE[str(op.plainer)] for op in SPECIAL}
    assert [op.name for op in SPECIAL if plainer[op.name].arity[0] > op.arity[1]] == []
    assert [op.name for op in SPECIAL if plainer[op.name].lists != op.lists] == []


@pytest.mark.exhaustive
@each_row(SPECIAL)
def test_every_special_operator_can_be_called_as_a_plainer_one(op: Op) -> None:
    """Among random calls there is one that a plainer operator takes."""
    cases = (generate(NumpySource(seed, 3), ops=(op,), symbolic=False) for seed in range(40))
    assert any(_has_a_plainer(case, op.name) for case in cases)


@pytest.mark.exhaustive
@each_row(row for row in rows_at(OPSET) if row.plainer is not None)
def test_every_special_operator_of_onnx_can_be_called_as_a_plainer_one(op: Op) -> None:
    cases = (generate_onnx(NumpySource(seed, 3), ops=(op,), symbolic=False, opset=OPSET) for seed in range(40))
    assert any(_has_a_plainer(case, op.name) for case in cases)


def _has_a_plainer(case: Case, name: str) -> bool:
    call = next(node for node in case.graph.nodes if node.op == name)
    subject = Subject(replace(case, graph=replace(case.graph, outputs=(call.results[0].name,))), LANE, {})
    plainer = set(plainer_operators(name, case.graph.opset))
    assert plainer.isdisjoint(rows_of(subject))
    return any(not plainer.isdisjoint(rows_of(candidate)) for candidate in valid(simpler_operators, subject))


def rows_of(subject: Subject) -> set[str]:
    return {node.op for node in subject.graph.nodes}


def test_simpler_operators_the_plainest_first() -> None:
    calls: list[Call] = [("v0", "gelu", "x0", {"approximate": "tanh"}), ("v1", "max_all", "v0")]
    subject = subject_of({"x0": "float32[2,3]"}, calls, "v1")
    assert [c.graph.ops for c in simpler_operators(subject)] == [
        ("neg", "max_all"),
        ("abs", "max_all"),
        ("relu", "max_all"),
        ("tanh", "max_all"),
    ]
    assert [operator_complexity(c.graph) for c in (subject, *simpler_operators(subject))] == [4, 0, 1, 2, 3]


def test_simpler_operators_of_a_persons_model_are_its_own() -> None:
    case = case_of({"x0": "float32[2]"}, [("v0", "abs", "x0"), ("v1", "elu", "v0")], "v1")
    assert [c.graph.ops for c in simpler_operators(Subject(case, LANE, {}))][:2] == [("neg", "elu"), ("abs", "neg")]
    own = Subject(case, LANE, {}, operators=frozenset({"abs", "elu"}))
    assert [c.graph.ops for c in simpler_operators(own)] == [("abs", "abs")]


def test_simpler_operators_keep_the_attributes_that_both_have() -> None:
    subject = subject_of({"x0": "float32[2,3]"}, [("v0", "logsumexp", "x0", {"dim": (1,), "keepdim": True})], "v0")
    assert [writing(c) for c in simpler_operators(subject)] == [
        "sum(dim=(1,), keepdim=True)",
        "amax(dim=(1,), keepdim=True)",
        "mean(dim=(1,), keepdim=True)",
    ]


def test_simpler_operators_drop_the_operands_that_the_plain_one_does_not_take() -> None:
    inputs = {"x0": "float32[2,3]", "w0": "float32[4,3]", "w1": "float32[4]"}
    subject = subject_of(inputs, [("v0", "linear", "x0 w0 w1")], "v0")
    (candidate,) = simpler_operators(subject)
    (node,) = candidate.graph.nodes
    assert (node.op, node.args) == ("matmul", ("x0", "w0"))
    assert [item.value.name for item in candidate.graph.inputs] == ["x0", "w0"]
    assert valid(simpler_operators, subject) == []  # 3 and 4 do not fit: check says so


def test_a_lone_operator_stays_where_only_operators_tell_failures_apart() -> None:
    call: Call = ("v0", "gelu", "x0", {"approximate": "none"})
    lone = subject_of({"x0": "float32[2]"}, [call], "v0")
    pair = subject_of({"x0": "float32[2]"}, [call, ("v1", "max_all", "v0")], "v1")
    proposed = [list(simpler_operators(replace(each, needs_ops=True))) for each in (lone, pair)]
    assert [len(candidates) for candidates in proposed] == [0, 4]
    assert len(list(simpler_operators(lone))) == 4


# --- smaller_attributes


def attrs_of(subject: Subject, key: str) -> list[object]:
    return [c.graph.nodes[0].attrs[key] for c in smaller_attributes(subject) if c.graph.nodes[0].attrs[key] is not None]


def one_call(op: str, type: str, **attrs: Attr) -> Subject:
    return subject_of({"x0": type}, [("v0", op, "x0", attrs)], "v0")


def test_smaller_attributes_together_then_fewer_then_each() -> None:
    subject = one_call("pad_constant", "float32[4,4]", pad=(2, -3, 0, 1), value=None)
    assert attrs_of(subject, "pad") == [
        *((0, 0, 0, 0), (1, 1, 1, 1)),
        *((2, -3, 0), (2, -3, 1), (2, 0, 1), (-3, 0, 1)),
        *((0, -3, 0, 1), (1, -3, 0, 1), (-1, -3, 0, 1)),
        *((2, 0, 0, 1), (2, 1, 0, 1), (2, -1, 0, 1), (2, -2, 0, 1)),
        (2, -3, 0, 0),
    ]


def test_smaller_attributes_toward_0_and_1() -> None:
    assert attrs_of(one_call("repeat_interleave", "float32[2]", repeats=6), "repeats") == [0, 1, -1, 3, 5]
    assert attrs_of(one_call("unsqueeze", "float32[2]", dim=-2), "dim") == [0, 1, -1]
    assert attrs_of(one_call("threshold", "float32[2]", threshold=2.5, value=0.0), "threshold")[:3] == [0.0, 1.0, 2.0]
    assert attrs_of(one_call("unsqueeze", "float32[2]", dim=0), "dim") == []


def pairs_of(proposed: Iterable[Subject], one: str, other: str) -> list[tuple[Attr, Attr]]:
    nodes = [c.graph.nodes[0] for c in proposed]
    return [(node.attrs[one], node.attrs[other]) for node in nodes]


def test_attributes_that_hang_together_are_made_smaller_together() -> None:
    """A pool's padding is at most half of its window; by how much is rolled, and what, stands at one place of two
    lists."""
    pool = one_call("max_pool1d", "float32[1,1,4]", kernel_size=4, padding=2, stride=None, dilation=1, ceil_mode=False)
    windows = pairs_of(smaller_attributes(pool), "kernel_size", "padding")
    assert windows[:4] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert pairs_of(valid(smaller_attributes, pool), "kernel_size", "padding")[0] == (1, 0)
    rolled = one_call("roll", "float32[2,3]", shifts=(1, 2), dims=(0, 1))
    together = pairs_of(smaller_attributes(rolled), "shifts", "dims")[4:6]
    assert together == [((1,), (0,)), ((2,), (1,))]


def test_the_sizes_of_an_empty_tensor_count() -> None:
    def shows(case: Case, lane: LaneSpec) -> Reproduction:
        return Reproduction(case.graph.inputs[0].value.type.rank == 3)

    subject = subject_of({"x0": "float32[7,3,0]"}, [("v0", "neg", "x0")], "v0")
    found = reduce(Subject(subject.case, LANE, {}), shows, lambda case: {}).case
    assert found.graph.inputs[0].value.type.sizes == (1, 1, 0)
    assert (size_of(subject.case, LANE).elements, size_of(found, LANE).elements) == (21, 1)


def test_what_is_at_its_default_is_left_alone() -> None:
    subject = one_call("softplus", "float32[2]", beta=1.0, threshold=20.0)
    assert list(smaller_attributes(subject)) == []
    assert attribute_size(subject.graph) == 0


def test_every_smaller_attribute_weighs_less() -> None:
    padded = one_call("pad_constant", "float32[4,4]", pad=(2, -3, 0, 1), value=None)
    for subject in (padded, one_call("tile", "float32[2]", dims=(3, 2))):
        assert {attribute_size(c.graph) < attribute_size(subject.graph) for c in smaller_attributes(subject)} == {True}


# --- lower_rank


def test_lower_rank_one_dimension_left_first() -> None:
    subject = subject_of({"x0": "float32[1,1,3]"}, [("v0", "sum", "x0", {"dim": (2,), "keepdim": True})], "v0")
    assert [shapes(c) for c in valid(lower_rank, subject)][:4] == [
        "[3] {'dim': (0,), 'keepdim': True}",
        "[1, 3] {'dim': (1,), 'keepdim': True}",
        "[1, 3] {'dim': (1,), 'keepdim': True}",
        "[1, 3] {'dim': (1,), 'keepdim': True}",
    ]


@pytest.mark.parametrize(
    ("op", "type", "attrs", "lowest"),
    [
        ("softmax", "float32[1,1,3]", {"dim": -1, "dtype": None}, "[3] {'dim': -1}"),
        ("softmax", "float32[1,3,1]", {"dim": 1, "dtype": None}, "[3] {'dim': 0}"),
        ("softmax", "float32[1,3,1]", {"dim": -2, "dtype": None}, "[3] {'dim': -1}"),
        ("permute", "float32[1,2,3]", {"dims": (0, 2, 1)}, "[2, 3] {'dims': (1, 0)}"),
        ("transpose", "float32[2,1,3]", {"dim0": 0, "dim1": 2}, "[2, 3] {'dim0': 0, 'dim1': 1}"),
        ("expand", "float32[1,3]", {"shape": (1, 3)}, "[3] {'shape': (3,)}"),
        ("pad_constant", "float32[1,4]", {"pad": (1, 2, 0, 0), "value": None}, "[4] {'pad': (1, 2)}"),
        ("conv1d", "float32[1,1,4]", {}, "[1, 4] [1, 1, 2]"),
    ],
)
def test_attributes_follow_the_dimensions_that_are_left(op: str, type: str, attrs: Attrs, lowest: str) -> None:
    inputs, args = {"x0": type}, "x0"
    if op == "conv1d":
        inputs["x1"], args = "float32[1,1,2]", "x0 x1"
    subject = subject_of(inputs, [("v0", op, args, attrs)], "v0")

    def shows(case: Case, lane: LaneSpec) -> Reproduction:
        return Reproduction(True)

    found = reduce(Subject(subject.case, LANE, {}), shows, lambda case: {}, Effort(1000, 60.0), (lower_rank,))
    assert shapes(replace(subject, case=found.case)) == lowest


def test_the_last_dimension_stays_and_so_do_those_that_are_not_1() -> None:
    assert valid(lower_rank, subject_of({"x0": "float32[1]"}, [("v0", "neg", "x0")], "v0")) == []
    assert valid(lower_rank, subject_of({"x0": "float32[2,3]"}, [("v0", "neg", "x0")], "v0")) == []


def test_operands_are_aligned_at_their_last_dimension() -> None:
    subject = subject_of({"x0": "float32[1,2,3]", "x1": "float32[2,1]"}, [("v0", "add", "x0 x1")], "v0")
    assert [shapes(c) for c in valid(lower_rank, subject)] == ["[2, 3] [2, 1]", "[2, 3] [2, 1]", "[2, 3] [2, 1]"]


# --- plain_roles


def test_params_and_buffers_become_inputs_all_then_each() -> None:
    inputs = {"x0": "float32[2]", "w0": "float32[2]", "b0": "float32[2]"}
    subject = subject_of(inputs, [("v0", "addcmul", "x0 w0 b0")], "v0")
    roles = [[item.role for item in c.graph.inputs] for c in plain_roles(subject)]
    x, w, b = Role.INPUT, Role.PARAM, Role.BUFFER
    assert roles == [[x, x, x], [x, x, b], [x, w, x]]
    assert [owned_inputs(c.graph) for c in (subject, *plain_roles(subject))] == [2, 0, 1, 1]


def test_the_parameters_of_a_layer_stay_the_models() -> None:
    calls: list[Call] = [("v0", "linear:module", "x0 w0 w1")]
    subject = subject_of({"x0": "float32[2,3]", "w0": "float32[4,3]", "w1": "float32[4]"}, calls, "v0")
    assert valid(plain_roles, subject) == []
    assert subject.graph.nodes[0].form is Form.MODULE


# --- static_sizes, and all passes on sizes that stay open


def open_case() -> Case:
    """x[n, m, 2] + x, at n = 5, m = 4, and at two more sizes."""
    type = TensorType.parse("float32[n,m,2]")
    graph = Graph(
        (Input(Value("x0", type)),),
        (Node("add", ("x0", "x0"), {"alpha": 1}, (Value("v0", type),)),),
        ("v0",),
        symbols=(Symbol("n", 1, 5), Symbol("m", 1, 4)),
    )
    static = case_of({"x0": "float32[5,4,2]"}, [("v0", "neg", "x0")], "v0")
    case = Case(graph, static.tensors, {"n": 5, "m": 4}, ({"n": 1, "m": 1}, {"n": 2, "m": 3}))
    check(case)
    return case


OPEN_LANE = next(lane for lane in SAMPLED_LANES if lane.symbolic)


def opened(case: Case) -> str:
    types = " ".join(str(item.value.type) for item in case.graph.inputs)
    return f"{types} at {dict(case.sizes)} and {[dict(sizes) for sizes in case.also]}"


def test_static_sizes_all_then_one_then_fewer_then_smaller() -> None:
    subject = Subject(open_case(), OPEN_LANE, {})
    proposed = valid(static_sizes, subject)
    one, both = "[{'n': 1, 'm': 1}]", "[{'n': 1, 'm': 1}, {'n': 2, 'm': 3}]"
    assert [opened(c.case) for c in proposed] == [
        "float32[5,4,2] at {} and []",
        "float32[5,4,2] at {} and []",
        "float32[5,m,2] at {'m': 4} and [{'m': 1}, {'m': 3}]",
        "float32[n,4,2] at {'n': 5} and [{'n': 1}, {'n': 2}]",
        "float32[n,m,2] at {'n': 5, 'm': 4} and [{'n': 2, 'm': 3}]",
        "float32[n,m,2] at {'n': 5, 'm': 4} and [{'n': 1, 'm': 1}]",
        f"float32[n,m,2] at {{'n': 1, 'm': 4}} and {one}",
        f"float32[n,m,2] at {{'n': 2, 'm': 4}} and {both}",
        f"float32[n,m,2] at {{'n': 4, 'm': 4}} and {both}",
        f"float32[n,m,2] at {{'n': 5, 'm': 1}} and {one}",
        f"float32[n,m,2] at {{'n': 5, 'm': 2}} and {one}",
        f"float32[n,m,2] at {{'n': 5, 'm': 3}} and {both}",
    ]
    assert [c.lane.symbolic for c in proposed] == [False, *[True] * 11]
    assert all(symbol_size(c.case) < symbol_size(subject.case) for c in proposed)


def test_a_bug_of_one_open_size_is_left_with_one_open_size() -> None:
    def shows(case: Case, lane: LaneSpec) -> Reproduction:
        first = case.graph.inputs[0].value.type.shape[0]
        return Reproduction(lane.symbolic and isinstance(first, Expr) and case.sizes[str(first)] >= 2)

    found = reduce(Subject(open_case(), OPEN_LANE, {}), shows, lambda case: {})
    assert opened(found.case) == "float32[n] at {'n': 2} and []"
    check(found.case)
    assert found.finished


@pytest.mark.parametrize("seed", range(8))
def test_random_cases_with_open_sizes_keep_the_rules_all_the_way(seed: int) -> None:
    case = at_each_size(generate(NumpySource(77, seed), symbolic=True))[0]

    def shows(smaller: Case, lane: LaneSpec) -> Reproduction:
        check(smaller)
        return Reproduction(bool(smaller.graph.symbols))

    found = reduce(Subject(case, OPEN_LANE, {}), shows, lambda whole: {}, Effort(3000, 60.0))
    if case.graph.symbols:
        assert found.case.graph.symbols
        assert len(found.case.graph.symbols) == 1
        assert found.case.also == ()
        assert list(found.case.sizes.values()) == [1]


# --- the order


def test_sizes_compare_field_by_field() -> None:
    subject = subject_of({"x0": "float32[2,3]"}, [("v0", "relu", "x0")], "v0")
    size = size_of(subject.case, LANE)
    assert size == Size(0, 1, 2, 0, 0, 1, 1, 6, 2, 0, 0, 0, 2)
    for first, second in zip(Size._fields, Size._fields[1:], strict=False):
        worse = size._replace(**{first: getattr(size, first) + 1, second: -1000})
        assert size < worse
