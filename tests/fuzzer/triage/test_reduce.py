"""The reducer on planted bugs: predicates that look at the case alone, so that the exact minimum is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from small_graphs import LANE, evaluated, graph_of, numbered, tap

from fuzzer.triage.passes import Subject
from fuzzer.triage.passes.keep_region import keep_region
from fuzzer.triage.reduce import Effort, Reduction, reduce, renumbered, size_of
from generators import case_file
from generators.builder import Builder, Limits
from generators.check import check
from generators.choice import NumpySource
from generators.graph import FLOATS, Case, DType, Graph, Node, Role, TensorType, Value
from generators.ops import OPS, TABLE
from generators.random_graph import with_values
from oracles.lane import LaneSpec

SEEDS = range(10)
AMPLE = Effort(calls=20_000, seconds=300.0)
LIMITS = Limits(max_nodes=20, max_numel=128)
PLANTED = ("softmax", "neg", "add", "pad_constant")
OTHERS = tuple(op for op in OPS if op.name not in PLANTED)


@dataclass(frozen=True)
class Bug:
    """`plant` adds the operators that it needs to a half-built graph, `shows` sees it, `ops` and `size` (operators,
    outputs, inputs, doubles, elements, complexity) are those of the smallest case that shows it."""

    plant: Callable[[Builder], object]
    shows: Callable[[Case], bool]
    ops: tuple[str, ...]
    size: tuple[int, ...]


def emit(b: Builder, op: str, *args: Value, **attrs: object) -> Value:
    (result,) = b.emit(TABLE[op], args, attrs)
    return result


def nodes_of(case: Case, op: str) -> list[Node]:
    return [node for node in case.graph.nodes if node.op == op]


def operand_sizes(case: Case, op: str) -> list[tuple[int, ...]]:
    return [type.sizes for node in nodes_of(case, op) for type in case.graph.arg_types(node)]


def fed_by(case: Case, op: str, feeder: str) -> bool:
    made = {value.name for node in nodes_of(case, feeder) for value in node.results}
    return any(made & set(node.args) for node in nodes_of(case, op))


def plant_softmax(b: Builder) -> Value:
    return emit(b, "softmax", b.tensor(FLOATS, (2, 4)), dim=-1)


def plant_softmax_of_neg(b: Builder) -> Value:
    fed = emit(b, "neg", b.tensor(FLOATS, (2, 4)))
    b.grow(TABLE["abs"], connected=True)
    return emit(b, "softmax", fed, dim=0)


def plant_chain(b: Builder) -> Value:
    value = emit(b, "neg", b.fresh_input(TensorType(DType.FLOAT64, (3, 5))))
    b.grow(TABLE["abs"], connected=True)
    value = emit(b, "softmax", value, dim=1)
    b.grow(TABLE["abs"], connected=True)
    return emit(b, "pad_constant", value, pad=(-1, -1), value=1.5)


def plant_wide_softmax(b: Builder) -> Value:
    return emit(b, "softmax", b.fresh_input(TensorType(DType.FLOAT64, (2, 7, 3))), dim=1)


def plant_broadcast(b: Builder) -> Value:
    x, y = (b.fresh_input(TensorType(DType.FLOAT32, shape)) for shape in ((4, 5), (4, 1)))
    return emit(b, "add", emit(b, "tanh", x), y)


def plant_crop(b: Builder) -> Value:
    x = emit(b, "tanh", b.fresh_input(TensorType(DType.FLOAT32, (3, 4, 6))))
    return emit(b, "pad_constant", x, pad=(1, -2, 0, 3), value=0.5)


def crops(case: Case) -> bool:
    return any(min(node.attrs["pad"]) < 0 for node in nodes_of(case, "pad_constant"))  # type: ignore[type-var]


BUGS = {
    "contains an operator": Bug(
        plant_softmax, lambda case: bool(nodes_of(case, "softmax")), ("softmax",), (1, 1, 1, 0, 1, 0)
    ),
    "an operator fed by another": Bug(
        plant_softmax_of_neg, lambda case: fed_by(case, "softmax", "neg"), ("neg", "softmax"), (2, 1, 1, 0, 1, 0)
    ),
    "three in a row, others between them": Bug(
        plant_chain,
        lambda case: fed_by(case, "softmax", "neg") and fed_by(case, "pad_constant", "softmax"),
        ("neg", "softmax", "pad_constant"),
        (3, 1, 1, 0, 3, 0),
    ),
    "a size of at least 3": Bug(
        plant_wide_softmax,
        lambda case: any(max(sizes) >= 3 for sizes in operand_sizes(case, "softmax")),
        ("softmax",),
        (1, 1, 1, 0, 3, 0),
    ),
    "a size of 1 beside one of at least 2": Bug(
        plant_broadcast,
        lambda case: any({1, 2} <= {min(size, 2) for size in sizes} for sizes in operand_sizes(case, "add")),
        ("add",),
        (1, 1, 2, 0, 3, 0),
    ),
    "an operand with a size of 1": Bug(
        plant_broadcast,
        lambda case: any(1 in sizes for sizes in operand_sizes(case, "add")),
        ("add",),
        (1, 1, 2, 0, 2, 0),
    ),
    # of the last dimension -2 goes and 1 must stay
    "a negative pad": Bug(plant_crop, crops, ("pad_constant",), (1, 1, 1, 0, 3, 0)),
    "a float64 input": Bug(
        plant_wide_softmax,
        lambda case: any(case.graph.arg_types(node)[0].dtype is DType.FLOAT64 for node in nodes_of(case, "softmax")),
        ("softmax",),
        (1, 1, 1, 1, 1, 0),
    ),
}


def haystack(seed: int, bug: Bug) -> Case:
    """12 to 20 operators; the bug in the middle."""
    builder = Builder(NumpySource(seed, 1), LIMITS)
    for wanted in (6, 14):
        while len(builder.nodes) < wanted:
            builder.grow(builder.source.choice(OTHERS), connected=bool(builder.nodes))
        if wanted == 6:
            bug.plant(builder)
    case = with_values(NumpySource(seed, 2), builder.graph(), f"haystack {seed}")
    assert 12 <= len(case.graph.nodes) <= 20
    assert bug.shows(case)
    return case


def reduced(case: Case, shows: Callable[[Case], bool], effort: Effort = AMPLE) -> Reduction:
    return reduce(case, LANE, lambda smaller, lane: shows(smaller), tap, effort)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS)
def test_the_exact_minimum_is_found(bug: Bug, seed: int) -> None:
    reduction = reduced(haystack(seed, bug), bug.shows)
    case = reduction.case
    assert (case.graph.ops, size_of(case)) == (bug.ops, bug.size)
    assert bug.shows(case)
    assert reduction.finished
    assert reduction.lane == LANE
    check(case)
    assert case_file.digest(renumbered(case)) == case_file.digest(case)
    assert all(np.isfinite(array).all() for array in evaluated(case))


@pytest.mark.parametrize("name", ["an operator fed by another", "a negative pad"])
@pytest.mark.parametrize("seed", SEEDS)
def test_default_effort_suffices(name: str, seed: int) -> None:
    bug = BUGS[name]
    reduction = reduced(haystack(seed, bug), bug.shows, Effort(seconds=300.0))
    assert reduction.finished
    assert size_of(reduction.case) == bug.size


def test_shapes_of_the_smallest_case() -> None:
    bug = BUGS["a negative pad"]
    (item,) = reduced(haystack(0, bug), bug.shows).case.graph.inputs
    assert item.value == Value("x0", TensorType(DType.FLOAT32, (1, 1, 3)))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_region_computes_what_it_computed_in_the_whole(seed: int) -> None:
    case = haystack(seed, BUGS["contains an operator"])
    taps = tap(case)
    for candidate in keep_region(Subject(case, LANE, taps)):
        check(candidate.case)
        for name, array in zip(candidate.graph.outputs, evaluated(candidate.case), strict=True):
            np.testing.assert_allclose(array, taps[name], rtol=1e-5, atol=1e-6)


# --- how it searches


@pytest.mark.parametrize("seed", [0, 1])
def test_each_candidate_is_valid_and_asked_about_once(seed: int) -> None:
    bug = BUGS["an operator fed by another"]
    case, asked = haystack(seed, bug), []

    def shows(smaller: Case, lane: LaneSpec) -> bool:
        check(smaller)
        assert smaller.graph.nodes
        assert lane == LANE
        asked.append(case_file.digest(smaller))
        return bug.shows(smaller)

    reduction = reduce(case, LANE, shows, tap, AMPLE)
    assert len(asked) == len(set(asked)) == reduction.calls
    assert case_file.digest(case) not in asked


@pytest.mark.parametrize("name", BUGS)
def test_twice_the_same(name: str) -> None:
    bug = BUGS[name]
    first, second = (reduced(haystack(3, bug), bug.shows) for _ in range(2))
    assert case_file.encode(first.case) == case_file.encode(second.case)
    assert (first.calls, first.finished) == (second.calls, second.finished)


def test_each_accepted_case_is_smaller() -> None:
    bug = BUGS["a size of at least 3"]
    case = haystack(4, bug)
    sizes = [size_of(case)]

    def tapped(smaller: Case) -> dict[str, np.ndarray]:
        sizes.append(size_of(smaller))
        return tap(smaller)

    reduce(case, LANE, lambda smaller, lane: bug.shows(smaller), tapped, AMPLE)
    assert sizes[0] == sizes[1]  # the whole case is tapped first
    assert sizes[1:] == sorted(set(sizes), reverse=True)


def test_where_nothing_smaller_shows_it_the_case_stays() -> None:
    case = haystack(5, BUGS["contains an operator"])
    reduction = reduced(case, lambda smaller: False)
    assert case_file.encode(reduction.case) == case_file.encode(renumbered(case))
    assert reduction.finished
    assert reduction.calls > 14


def test_no_passes_no_calls() -> None:
    case = haystack(5, BUGS["contains an operator"])
    reduction = reduce(case, LANE, lambda smaller, lane: True, tap, AMPLE, passes=())
    assert (reduction.calls, reduction.finished) == (0, True)
    assert len(reduction.case.graph.nodes) == len(case.graph.nodes)


@pytest.mark.parametrize("calls", [0, 1, 5])
def test_the_effort_is_a_limit_on_calls(calls: int) -> None:
    reduction = reduced(haystack(6, BUGS["a negative pad"]), crops, Effort(calls=calls, seconds=300.0))
    assert (reduction.calls, reduction.finished) == (calls, False)
    assert crops(reduction.case)
    check(reduction.case)


def test_the_effort_is_a_limit_on_time() -> None:
    reduction = reduced(haystack(6, BUGS["a negative pad"]), crops, Effort(seconds=-1.0))
    assert (reduction.calls, reduction.finished) == (0, False)


def test_without_taps_it_forwards_operands() -> None:
    graph = graph_of({"x0": "float32[2]"}, [("v0", "neg", "x0"), ("v1", "relu", "v0"), ("v2", "neg", "v1")], "v2")
    case = Case(graph, {"x0": np.ones(2, np.float32)})
    reduction = reduce(case, LANE, lambda smaller, lane: "relu" in smaller.graph.ops, lambda whole: {}, AMPLE)
    assert reduction.case.graph.ops == ("relu",)


def test_an_invalid_candidate_is_never_asked_about() -> None:
    """A dimension of 1 would break the matrix product; a pass that proposes it all the same is not believed."""
    graph = graph_of({"x0": "float32[2,3]", "x1": "float32[3,2]"}, [("v0", "matmul", "x0 x1")], "v0")
    case = Case(graph, {item.value.name: numbered(item.value.type) for item in graph.inputs})
    asked: list[list[tuple[int, ...]]] = []

    def shows(smaller: Case, lane: LaneSpec) -> bool:
        asked.append([item.value.type.sizes for item in smaller.graph.inputs])
        return False

    reduce(case, LANE, shows, tap, AMPLE)
    assert [(2, 1), (1, 2)] in asked
    assert all(left[1] == right[0] for left, right in asked)


# --- names


def test_renumbered_names() -> None:
    calls = [("b9", "add", "a9 p9"), ("d9 c9", "split", "b9", {"sizes": (1, 1), "dim": 0}), ("z9", "mul", "c9 y9")]
    graph = graph_of({"y9": "float32[1]", "p9": "float32[2]", "a9": "float32[2]"}, calls, "z9 d9")
    graph = replace(
        graph, inputs=tuple(replace(i, role=Role.PARAM if i.value.name == "p9" else Role.INPUT) for i in graph.inputs)
    )
    case = Case(graph, {item.value.name: numbered(item.value.type) for item in graph.inputs}, {}, "here")
    after = renumbered(case)
    assert [item.value.name for item in after.graph.inputs] == ["x0", "w0", "x1"]
    assert [(node.args, [v.name for v in node.results]) for node in after.graph.nodes] == [
        (("x1", "w0"), ["v0"]),
        (("v0",), ["v1", "v2"]),
        (("v2", "x0"), ["v3"]),
    ]
    assert after.graph.outputs == ("v3", "v1")
    assert after.origin == "here"
    check(after)


def scrambled(case: Case) -> Case:
    """The case with other names, some of which `renumbered` gives to other values."""
    graph = case.graph
    names = {value.name: f"v{index}" for index, value in enumerate(reversed(list(graph.values())))}

    def named(value: Value) -> Value:
        return Value(names[value.name], value.type)

    graph = Graph(
        tuple(replace(item, value=named(item.value)) for item in graph.inputs),
        tuple(
            Node(node.op, tuple(names[arg] for arg in node.args), node.attrs, tuple(map(named, node.results)))
            for node in graph.nodes
        ),
        tuple(names[name] for name in graph.outputs),
    )
    return replace(case, graph=graph, tensors={names[name]: array for name, array in case.tensors.items()})


@pytest.mark.parametrize("seed", SEEDS)
def test_renumbered_means_the_same(seed: int) -> None:
    case = haystack(seed, BUGS["contains an operator"])
    other = scrambled(case)
    assert case_file.digest(other) != case_file.digest(case)
    assert case_file.digest(renumbered(other)) == case_file.digest(renumbered(case))
    check(renumbered(case))
    for before, now in zip(evaluated(case), evaluated(renumbered(other)), strict=True):
        assert (before.dtype, before.shape, before.tobytes()) == (now.dtype, now.shape, now.tobytes())
