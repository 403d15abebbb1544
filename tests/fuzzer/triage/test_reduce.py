"""The reducer on planted bugs: predicates that look at the case alone, so that the exact minimum is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pytest
from graphs_by_hand import Call, graph_of, numbered
from small_graphs import LANE, evaluated, subject_of, values_of, writing

from fuzzer.cases.open_sizes import at_each_size
from fuzzer.triage.candidates import Predicate
from fuzzer.triage.reduce import Effort, Reduction, reduce
from fuzzer.triage.reducers import Subject
from fuzzer.triage.reducers.base import cut
from fuzzer.triage.reducers.keep_region import keep_region
from fuzzer.triage.reproduce import Reproduction
from fuzzer.triage.size import Size
from fuzzer.triage.size import size_of as size_in
from generators import case_file
from generators.builder import Builder, Limits
from generators.check import check
from generators.choice import NumpySource
from generators.graph import FLOATS, Array, Case, DType, Form, Graph, Layout, Node, TensorType, Value
from generators.op import ints_of
from generators.random_graph import with_values
from generators.renumber import renumbered
from generators.table import TABLE
from generators.torch.ops import OPS
from generators.torch.random_graph import generate
from oracles.lane import LaneSpec

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::UserWarning"),  # of PyTorch, about rare calls
]

SEEDS = range(10)
AMPLE = Effort(calls=20_000, seconds=300.0)
LIMITS = Limits(max_nodes=20, max_numel=128)
PLANTED = ("softmax", "neg", "add", "pad_constant")
NOT_STEADY = ("nanmedian_dim", "nanmedian_dim_values")
"""PyTorch 2.13 gives 0 for ones in an expanded tensor of integers, once in five runs."""

OTHERS = tuple(op for op in OPS if op.name not in (*PLANTED, *NOT_STEADY))


def size(**fields: int) -> Size:
    """The fields that are not 0."""
    return Size(**{name: fields.get(name, 0) for name in Size._fields})


@dataclass(frozen=True)
class Bug:
    """`plant` adds the operators that it needs to a half-built graph, `shows` sees it, `ops` and `size` are those of
    the smallest case that shows it."""

    plant: Callable[[Builder], object]
    shows: Callable[[Case], bool]
    ops: tuple[str, ...]
    size: Size


def emit(b: Builder, op: str, *args: Value, **attrs: object) -> Value:
    (result,) = b.emit(TABLE[op], args, {**TABLE[op].defaults, **attrs})
    return result


def nodes_of(case: Case, op: str) -> list[Node]:
    return [node for node in case.graph.nodes if node.op == op]


def operand_sizes(case: Case, op: str) -> list[tuple[int, ...]]:
    return [type.sizes for node in nodes_of(case, op) for type in case.graph.arg_types(node)]


def fed_by(case: Case, op: str, feeder: str) -> bool:
    made = {value.name for node in nodes_of(case, feeder) for value in node.results}
    return any(made & set(node.args) for node in nodes_of(case, op))


def operand(b: Builder) -> Value:
    """What the graph has; empty tensors apart, which are smaller than the smallest case that is expected."""
    return b.pick(
        lambda type: type.dtype in FLOATS and 2 <= type.rank <= 4 and type.numel > 0,
        lambda: TensorType(DType.FLOAT16, (2, 3)),
    )


def plant_softmax(b: Builder) -> Value:
    return emit(b, "softmax", operand(b), dim=-1)


def plant_softmax_of_neg(b: Builder) -> Value:
    fed = emit(b, "neg", operand(b))
    emit(b, "abs", fed)
    return emit(b, "softmax", fed, dim=0)


def plant_chain(b: Builder) -> Value:
    value = emit(b, "neg", b.fresh_input(TensorType(DType.FLOAT64, (3, 5))))
    emit(b, "abs", value)
    value = emit(b, "softmax", value, dim=1)
    emit(b, "abs", value)
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
    return any(min(ints_of(node.attrs, "pad")) < 0 for node in nodes_of(case, "pad_constant"))


BUGS = {
    "contains an operator": Bug(
        plant_softmax,
        lambda case: bool(nodes_of(case, "softmax")),
        ("softmax",),
        size(operators=1, outputs=1, inputs=1, elements=1, ranks=1),
    ),
    "an operator fed by another": Bug(
        plant_softmax_of_neg,
        lambda case: fed_by(case, "softmax", "neg"),
        ("neg", "softmax"),
        size(operators=2, outputs=1, inputs=1, elements=1, ranks=1),
    ),
    "three in a row, others between them": Bug(
        plant_chain,
        lambda case: fed_by(case, "softmax", "neg") and fed_by(case, "pad_constant", "softmax"),
        ("neg", "softmax", "pad_constant"),
        size(operators=3, outputs=1, inputs=1, elements=1, ranks=1, attributes=2),
    ),
    "a size of at least 3": Bug(
        plant_wide_softmax,
        lambda case: any(max(sizes) >= 3 for sizes in operand_sizes(case, "softmax")),
        ("softmax",),
        size(operators=1, outputs=1, inputs=1, elements=3, ranks=1),
    ),
    "a size of 1 beside one of at least 2": Bug(
        plant_broadcast,
        lambda case: any({1, 2} <= {min(size, 2) for size in sizes} for sizes in operand_sizes(case, "add")),
        ("add",),
        size(operators=1, outputs=1, inputs=2, elements=3, ranks=3),
    ),
    "an operand with a size of 1": Bug(
        plant_broadcast,
        lambda case: any(1 in sizes for sizes in operand_sizes(case, "add")),
        ("add",),
        size(operators=1, outputs=1, inputs=2, elements=2, ranks=2),
    ),
    # one of two elements goes
    "a negative pad": Bug(
        plant_crop, crops, ("pad_constant",), size(operators=1, outputs=1, inputs=1, elements=2, ranks=1, attributes=5)
    ),
    "a float64 input": Bug(
        plant_wide_softmax,
        lambda case: any(case.graph.arg_types(node)[0].dtype is DType.FLOAT64 for node in nodes_of(case, "softmax")),
        ("softmax",),
        size(operators=1, outputs=1, inputs=1, elements=1, ranks=1, dtypes=1),
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
    case = with_values(builder, f"haystack {seed}")
    read = {name for node in case.graph.nodes for name in node.args}
    made = [value.name for node in case.graph.nodes for value in node.results]
    whole = replace(case.graph, outputs=tuple(name for name in made if name not in read))  # none of it is dead
    case = replace(case, graph=whole)
    assert 12 <= len(case.graph.nodes) <= 20
    check(case)
    assert bug.shows(case)
    return case


def size_of(case: Case) -> Size:
    return size_in(case, LANE)


def predicate_of(shows: Callable[[Case], bool]) -> Predicate:
    """A predicate that looks at the case alone, and sees nothing else go wrong."""
    return lambda case, lane: Reproduction(shows(case))


def reduced(case: Case, shows: Callable[[Case], bool], effort: Effort = AMPLE) -> Reduction:
    return reduce(Subject(case, LANE, {}), predicate_of(shows), values_of, effort)


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
    assert item.value == Value("x0", TensorType(DType.FLOAT32, (2,)))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_region_computes_what_it_computed_in_the_whole(seed: int) -> None:
    case = haystack(seed, BUGS["contains an operator"])
    computed = values_of(case)
    for candidate in keep_region(Subject(case, LANE, computed)):
        check(candidate.case)
        for name, array in zip(candidate.graph.outputs, evaluated(candidate.case), strict=True):
            np.testing.assert_allclose(array, computed[name], rtol=1e-5, atol=1e-6)


# --- forms, attributes, layouts and dtypes go where the bug does not need them

DRESSED = {
    "x0": "float16[2,3] transposed",
    "x1": "float16[2,3] expanded",
    "b0": "float16[3]",
    "w0": "float16[4,3]",
    "w1": "float16[4]",
    "x2": "int8[4]",
}
DRESSED_CALLS: list[Call] = [
    ("v0", "add:method", "x0 x1", {"alpha": 2}),
    ("v1", "mul:inplace", "v0 b0"),
    ("v2", "softmax:module", "v1", {"dim": 1, "dtype": None}),
    ("v3", "linear:module", "v2 w0 w1"),
    ("v4", "sum:method", "v3", {"dim": (0,), "keepdim": True}),
    ("v5", "add:operator", "v4 x2"),
]


@dataclass(frozen=True)
class Need:
    """What a bug looks at: a call of `op`, and of that its form, an attribute, an operand's dtype or layout, or the
    operators that made its operands."""

    op: str
    form: Form | None = None
    attr: str = ""
    dtype: DType | None = None
    layout: Layout | None = None
    after: str = ""

    def shows(self, case: Case) -> bool:
        return any(self._met(case, node) for node in nodes_of(case, self.op))

    def _met(self, case: Case, node: Node) -> bool:
        graph = case.graph
        layouts = [item.layout for item in graph.inputs if item.value.name in node.args]
        return (
            self.form in (None, node.form)
            and (not self.attr or node.attrs[self.attr] != TABLE[self.op].defaults[self.attr])
            and (self.dtype is None or self.dtype in [type.dtype for type in graph.arg_types(node)])
            and (self.layout is None or self.layout in layouts)
            and (not self.after or fed_by(case, self.op, self.after))
        )


@pytest.mark.parametrize(
    ("need", "written", "types", "expected"),
    [
        (Need("softmax"), "softmax(dim=0)", "float32[1]", {}),
        (Need("softmax", Form.MODULE), "softmax:module(dim=0)", "float32[1]", {"frills": 1}),
        (Need("linear"), "linear()", "float32[1,1] float32[1] float32[1]", {"intricacy": 1}),
        (
            Need("linear", Form.MODULE),
            "linear:module()",
            "float32[1,1] float32[1] float32[1]",
            {"intricacy": 1, "frills": 3},
        ),
        (
            Need("linear", dtype=DType.FLOAT16),
            "linear()",
            "float16[1,1] float16[1] float16[1]",
            {"intricacy": 1, "dtypes": 3},
        ),
        (Need("sum"), "sum()", "float32[1]", {}),
        (Need("sum", attr="keepdim"), "sum(keepdim=True)", "float32[1]", {"frills": 1, "attributes": 1}),
        (Need("sum", attr="dim"), "sum(dim=())", "float32[1]", {"frills": 1}),
        (Need("sum", Form.METHOD, "dim"), "sum:method(dim=())", "float32[1]", {"frills": 2}),
        (Need("mul"), "mul()", "float32[1] float32[1]", {"intricacy": 1}),
        (
            Need("mul", Form.INPLACE),
            "add(); mul:inplace()",
            "float32[1] float32[1] float32[1]",
            {"operators": 2, "intricacy": 1, "frills": 1},
        ),
        (
            Need("mul", after="add"),
            "add(); mul()",
            "float32[1] float32[1] float32[1]",
            {"operators": 2, "intricacy": 1},
        ),
        (Need("add", Form.OPERATOR), "add:operator()", "int64[1] float32[1]", {"frills": 1}),
        (Need("add", dtype=DType.INT8), "add()", "int8[1] float32[1]", {"dtypes": 1}),
        (Need("add", attr="alpha"), "add(alpha=0)", "float32[1] float32[1]", {"frills": 1}),
        (
            Need("add", layout=Layout.TRANSPOSED),
            "x0 transposed | add()",
            "float32[1,1] float32[1]",
            {"frills": 1},
        ),
        (
            Need("add", layout=Layout.EXPANDED, dtype=DType.FLOAT16),
            "x1 expanded | add()",
            "float32[1] float16[1,1]",
            {"dtypes": 1, "frills": 1},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_the_bug_does_not_need_is_written_plainly(
    need: Need, written: str, types: str, expected: dict[str, int]
) -> None:
    subject = subject_of(DRESSED, DRESSED_CALLS, "v5")
    assert size_of(subject.case) == size(
        operators=6,
        intricacy=2,  # a product could be a sum, a linear layer a matrix product
        outputs=1,
        inputs=6,
        elements=35,
        ranks=9,
        dtypes=6,
        frills=14,
        attributes=8,
        values=12,
    )
    reduction = reduced(subject.case, need.shows)
    case = reduction.case
    assert reduction.finished
    found = replace(subject, case=case)
    assert (writing(found), " ".join(str(i.value.type) for i in case.graph.inputs)) == (written, types)
    inputs = [item.value.type for item in case.graph.inputs]
    plain = {"operators": 1, "outputs": 1, "inputs": len(inputs), "elements": len(inputs)}
    assert size_of(case) == size(**{**plain, "ranks": sum(type.rank for type in inputs), **expected})
    check(case)
    assert need.shows(case)


def test_a_dtype_that_ties_operands_together_goes_where_another_must_stay() -> None:
    inputs = {"x0": "float16[2,3]", "w0": "float16[4,3]", "w1": "float16[4]", "x1": "int8[4]"}
    calls: list[Call] = [("v0", "linear:module", "x0 w0 w1"), ("v1", "add:inplace", "v0 x1")]
    need = Need("add", dtype=DType.INT8, after="linear")
    case = reduced(subject_of(inputs, calls, "v1").case, need.shows).case
    assert (case.graph.ops, size_of(case)) == (
        ("linear", "add"),
        size(operators=2, intricacy=1, outputs=1, inputs=4, elements=4, ranks=5, dtypes=1),
    )
    types = [str(item.value.type) for item in case.graph.inputs]
    assert types == ["float32[1]", "float32[1,1]", "float32[1]", "int8[1]"]


def test_numbers_that_must_stay_keep_their_type() -> None:
    """float32 does not hold 1e-300, and float16 not 1e5: plainer types come first, but never change what is shown."""
    graph = graph_of({"x0": "float64[2]", "x1": "float64[2]"}, [("v0", "mul", "x0 x1")], "v0")
    case = Case(graph, {"x0": np.array([1e-300, 0.25]), "x1": np.array([1e5, 0.25])})

    def tiny(smaller: Case) -> bool:
        return any(((a > 0) & (a < 1e-200)).any() for a in smaller.tensors.values())

    small = reduced(case, tiny).case
    assert [str(item.value.type) for item in small.graph.inputs] == ["float64[1]", "float32[1]"]
    assert [array.tolist() for array in small.tensors.values()] == [[1e-300], [0.0]]


def test_every_value_is_computed_also_where_calls_work_in_place() -> None:
    subject = subject_of(DRESSED, DRESSED_CALLS, "v5")
    computed = values_of(subject.case)
    assert list(computed) == ["v0", "v1", "v2", "v3", "v4", "v5"]
    x0, x1, b0 = (subject.case.tensors[name] for name in ("x0", "x1", "b0"))
    assert computed["v0"].tolist() == (x0 + 2 * x1).tolist()
    assert computed["v1"].tolist() == ((x0 + 2 * x1) * b0).tolist()
    assert [str(computed[name].dtype) for name in computed] == ["float16"] * 6
    (v5,) = evaluated(subject.case)
    assert v5.tobytes() == computed["v5"].tobytes()


def test_a_value_that_is_cut_is_no_longer_changed_in_place() -> None:
    subject = replace(
        subject_of(DRESSED, DRESSED_CALLS, "v5"), computed=values_of(subject_of(DRESSED, DRESSED_CALLS, "v5").case)
    )
    smaller = cut(subject, frozenset({"v0"}))
    assert smaller is not None
    assert [node.form for node in smaller.graph.nodes][:2] == [Form.PLAIN, Form.MODULE]
    check(smaller.case)


# --- how it searches


@pytest.mark.parametrize("seed", [0, 1])
def test_each_candidate_is_valid_and_run_once(seed: int) -> None:
    bug = BUGS["an operator fed by another"]
    case, called = haystack(seed, bug), []

    def shows(smaller: Case, lane: LaneSpec) -> Reproduction:
        check(smaller)
        assert smaller.graph.nodes
        assert lane == LANE
        called.append(case_file.digest(renumbered(smaller)))
        return Reproduction(bug.shows(smaller))

    reduction = reduce(Subject(case, LANE, {}), shows, values_of, AMPLE)
    assert len(called) == reduction.calls
    assert called[-2:] == [case_file.digest(reduction.case)] * 2  # the result runs twice more
    assert len(called) - 2 == len(set(called))
    assert case_file.digest(renumbered(case)) not in called


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

    def counted_values(smaller: Case) -> Mapping[str, Array]:
        sizes.append(size_of(smaller))
        return values_of(smaller)

    reduce(Subject(case, LANE, {}), predicate_of(bug.shows), counted_values, AMPLE)
    assert sizes[0] == sizes[1]  # the values of the whole case are computed first
    assert sizes[1:] == sorted(set(sizes), reverse=True)


def test_where_nothing_smaller_shows_it_the_case_stays() -> None:
    case = haystack(5, BUGS["contains an operator"])
    reduction = reduced(case, lambda smaller: False)
    assert case_file.encode(reduction.case) == case_file.encode(renumbered(case))
    assert reduction.finished
    assert reduction.calls > 14


def test_no_passes_no_calls() -> None:
    case = haystack(5, BUGS["contains an operator"])
    reduction = reduce(Subject(case, LANE, {}), predicate_of(lambda smaller: True), values_of, AMPLE, reducers=())
    assert (reduction.calls, reduction.finished) == (0, True)
    assert len(reduction.case.graph.nodes) == len(case.graph.nodes)


@pytest.mark.parametrize("calls", [0, 1, 5])
def test_the_effort_is_a_limit_on_calls(calls: int) -> None:
    reduction = reduced(haystack(6, BUGS["a negative pad"]), crops, Effort(calls=calls, seconds=300.0))
    again = 2 if calls > 1 else 0  # the accepted case runs again
    assert (reduction.calls, reduction.finished) == (calls + again, False)
    assert crops(reduction.case)
    check(reduction.case)


def test_the_effort_is_a_limit_on_time() -> None:
    reduction = reduced(haystack(6, BUGS["a negative pad"]), crops, Effort(seconds=-1.0))
    assert (reduction.calls, reduction.finished) == (0, False)


def test_reduction_without_computed_values_forwards_operands() -> None:
    graph = graph_of({"x0": "float32[2]"}, [("v0", "neg", "x0"), ("v1", "relu", "v0"), ("v2", "neg", "v1")], "v2")
    case = Case(graph, {"x0": np.ones(2, np.float32)})
    reduction = reduce(
        Subject(case, LANE, {}), predicate_of(lambda smaller: "relu" in smaller.graph.ops), lambda whole: {}, AMPLE
    )
    assert reduction.case.graph.ops == ("relu",)


def test_an_invalid_candidate_is_never_run() -> None:
    """A dimension of 1 would break the matrix product. A pass that proposes it is ignored."""
    graph = graph_of({"x0": "float32[2,3]", "x1": "float32[3,2]"}, [("v0", "matmul", "x0 x1")], "v0")
    case = Case(graph, {item.value.name: numbered(item.value.type) for item in graph.inputs})
    called: list[list[tuple[int, ...]]] = []

    def shows(smaller: Case, lane: LaneSpec) -> Reproduction:
        called.append([item.value.type.sizes for item in smaller.graph.inputs])
        return Reproduction(False)

    reduce(Subject(case, LANE, {}), shows, values_of, AMPLE)
    assert [(2, 1), (1, 2)] in called
    assert all(left[1] == right[0] for left, right in called)


# --- names


def scrambled(case: Case) -> Case:
    """The case with other names, some of which `renumbered` gives to other values."""
    graph = case.graph
    names = {value.name: f"v{index}" for index, value in enumerate(reversed(list(graph.values())))}

    def named(value: Value) -> Value:
        return Value(names[value.name], value.type)

    graph = Graph(
        tuple(replace(item, value=named(item.value)) for item in graph.inputs),
        tuple(
            replace(node, args=tuple(names[arg] for arg in node.args), results=tuple(map(named, node.results)))
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


# --- sizes that stay open


def values_at_its_sizes(whole: Case) -> Mapping[str, Array]:
    return values_of(whole.at(whole.sizes) if whole.graph.symbols else whole)


def test_a_case_with_open_sizes_keeps_them_and_loses_what_the_bug_does_not_need() -> None:
    found = 0
    for index in range(12):
        case = at_each_size(generate(NumpySource(31, index), symbolic=True))[-1]
        if not case.graph.symbols or len(case.graph.nodes) < 2:
            continue
        check(case)
        wanted = case.graph.nodes[-1].op

        def shows(smaller: Case, op: str = wanted) -> bool:
            return bool(smaller.graph.symbols) and bool(nodes_of(smaller, op))

        reduced = reduce(Subject(case, LANE, {}), predicate_of(shows), values_at_its_sizes).case
        check(reduced)
        assert size_of(reduced) < size_of(case)
        found += 1
    assert found >= 3
