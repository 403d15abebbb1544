"""Random generation gives valid and varied cases within the limits, which depend on seed and index only."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from dialect_forms import TORCH_FORMS
from eager import run_case
from hypothesis import find, given, settings
from hypothesis import strategies as st

from fuzzer.children.validity import NOT_FINITE, OK, prepare, verdict
from fuzzer.lanes.base.arrays import laid_out, to_torch
from generators.builder import Builder, Limits
from generators.case_file import encode
from generators.check import check
from generators.choice import NumpySource
from generators.domain import ANY, Bounds
from generators.graph import DRAWN, Case, DType, Form, Graph, Invalid, Layout, Profile, TensorType
from generators.random_graph import MOTIF_NODES
from generators.table import TABLE
from generators.torch.motif_table import MOTIFS
from generators.torch.motifs import Motif
from generators.torch.ops import OPS
from generators.torch.random_graph import generate
from generators.torch.source import render
from generators.torch.strategies import HypothesisSource, cases, graphs, tensors
from generators.values import holds

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SMALL = Limits(max_nodes=3, max_numel=64)
GUARDS = 3
"""The most guards of one operator: two clamps and a nan_to_num, or the pooling that gives max_unpool its indices."""


prepare()


@cache
def campaign(count: int = 400) -> tuple[Case, ...]:
    return tuple(generate(NumpySource(1, index)) for index in range(count))


@cache
def small(count: int = 500) -> tuple[Case, ...]:
    return tuple(generate(NumpySource(2, index), SMALL) for index in range(count))


def types(case: Case) -> list[TensorType]:
    return [value.type for value in case.bound.values()]


# --- reproducibility


def test_seed_and_index_determine_every_byte() -> None:
    for index in range(60):
        assert encode(generate(NumpySource(5, index))) == encode(generate(NumpySource(5, index)))


def test_other_seeds_and_indices_differ() -> None:
    assert len({encode(generate(NumpySource(seed, index))) for seed in range(5) for index in range(20)}) == 100


def test_earlier_cases_do_not_matter() -> None:
    alone = encode(generate(NumpySource(5, 17)))
    for index in range(17):
        generate(NumpySource(5, index))
    assert encode(generate(NumpySource(5, 17))) == alone


def test_the_origin_does_not_change_the_case() -> None:
    case = generate(NumpySource(0), origin="seed 0 test 0")
    assert case.origin == "seed 0 test 0"
    assert generate(NumpySource(0)).graph == case.graph


@pytest.mark.parametrize("profile", Profile)
def test_a_given_profile_is_kept(profile: Profile) -> None:
    assert {generate(NumpySource(3, index), profile=profile).profile for index in range(20)} == {profile}


def test_symbols_are_drawn_only_where_symbolic_allows_them() -> None:
    assert not any(generate(NumpySource(3, index), symbolic=False).sizes for index in range(50))
    assert sum(bool(generate(NumpySource(3, index), symbolic=True).sizes) for index in range(50)) >= 10


# --- cases are valid


def assert_valid(case: Case) -> bool:
    """Check the case, and that PyTorch gives the declared types for all sizes. Return whether all is finite."""
    check(case)
    outcomes = []
    for each in case.instances():
        outcome, message = verdict(each)
        assert outcome in (OK, NOT_FINITE), f"{message}\n{render(each.graph)}"
        outcomes.append(outcome)
    return NOT_FINITE not in outcomes


@pytest.mark.exhaustive
def test_cases_pass_check_and_run_in_pytorch_with_the_declared_types() -> None:
    finite = [assert_valid(case) for case in campaign()]
    normal = [is_finite for is_finite, case in zip(finite, campaign(), strict=True) if case.profile is Profile.NORMAL]
    assert len(normal) > 300
    assert sum(normal) >= 0.99 * len(normal)
    special = [is_finite for is_finite, case in zip(finite, campaign(), strict=True) if case.profile is Profile.SPECIAL]
    assert not all(special)


@pytest.mark.slow
def test_values_are_in_their_domains_and_have_their_layouts() -> None:
    for case in campaign():
        for each in case.instances():
            for item in each.graph.inputs:
                array = each.tensors[item.value.name]
                assert holds(array, item.domain), (item.domain, array)
                strides = laid_out(to_torch(array), item.layout).stride()
                assert item.layout is not Layout.EXPANDED or strides[0] == 0 or array.shape[0] < 2 or not array.size


# --- cases vary


@pytest.mark.slow
def test_most_operators_occur() -> None:
    counts = Counter(node.op for case in campaign() for node in case.graph.nodes)
    assert len(counts) >= 0.85 * len(OPS)
    assert "torch_call" not in counts


def test_sizes_ranks_and_dtypes_vary() -> None:
    assert {len(case.graph.nodes) for case in campaign()} >= set(range(1, 9))
    assert {type.rank for case in campaign() for type in types(case)} >= set(range(6))
    dtypes = Counter(type.dtype for case in campaign() for type in types(case))
    assert set(dtypes) == set(DRAWN)  # and none of those that only files have
    assert 0.35 <= dtypes[DType.FLOAT32] / dtypes.total() <= 0.65


def test_symbols_profiles_forms_layouts_and_domains_vary() -> None:
    symbolic = sum(bool(case.sizes) for case in campaign()) / len(campaign())
    assert 0.02 <= symbolic <= 0.1
    assert {case.profile for case in campaign()} == set(Profile)
    assert {node.form for case in campaign() for node in case.graph.nodes} == TORCH_FORMS
    items = [item for case in campaign() for item in case.graph.inputs]
    assert {item.layout for item in items} == set(Layout)
    assert {item.domain.bounds for item in items} == set(Bounds)


def has_extremes(case: Case) -> bool:
    for item in case.bound.inputs:
        if item.domain == ANY and item.value.type.dtype.is_integer:
            low, high = item.value.type.dtype.range
            if np.isin(case.tensors[item.value.name], [low, low + 1, high - 1, high]).any():
                return True
    return False


@pytest.mark.slow
def test_extreme_cases_are_extreme() -> None:
    """Each case of the profile has an input with an end of an integer range, if an operator accepts all integers."""
    cases = [generate(NumpySource(6, index), profile=Profile.EXTREME) for index in range(300)]
    assert all(has_extremes(case) == (case.profile is Profile.EXTREME) for case in cases)
    assert sum(map(has_extremes, cases)) >= 0.98 * len(cases)
    floats = [generate(NumpySource(6, i), ops=[TABLE["frac"]], profile=Profile.EXTREME) for i in range(5)]
    assert {case.profile for case in floats} == {Profile.NORMAL}


def test_most_operators_read_computed_values() -> None:
    """Most nodes after the first read what an earlier node computed."""
    reads = [any(name.startswith("v") for name in node.args) for case in campaign() for node in case.graph.nodes[1:]]
    assert sum(reads) >= 0.7 * len(reads)


@pytest.mark.slow
def test_one_graph_in_five_begins_with_a_motif() -> None:
    """The motif of this test is one that random graphs without motifs never begin with."""

    def three_calls(b: Builder) -> None:
        for _ in range(3):
            b.grow(TABLE["neg"])

    motif = Motif("three", three_calls, ())
    beginnings = [generate(NumpySource(4, index), motifs=[motif]).graph.ops[:3] for index in range(300)]
    assert 0.12 <= beginnings.count(("neg",) * 3) / len(beginnings) <= 0.28
    assert not any(generate(NumpySource(4, i), motifs=()).graph.ops[:3] == ("neg",) * 3 for i in range(300))


def test_motifs_are_drawn_with_the_whole_table_or_if_given() -> None:
    ops = [TABLE["neg"]]
    assert any("conv2d" in generate(NumpySource(5, i), ops=ops, motifs=MOTIFS[:1]).graph.ops for i in range(60))
    assert not any("conv2d" in generate(NumpySource(5, i), ops=ops).graph.ops for i in range(60))


def test_every_input_is_read_and_most_unread_results_are_outputs() -> None:
    dropped = 0
    for case in campaign():
        read = {name for node in case.graph.nodes for name in node.args}
        overwritten = {node.args[0] for node in case.graph.nodes if node.form is Form.INPLACE}
        assert {item.value.name for item in case.graph.inputs} <= read
        assert not overwritten & set(case.graph.outputs)
        unread = {value.name for node in case.graph.nodes for value in node.results} - read
        dropped += not unread <= set(case.graph.outputs)
    assert 0 < dropped < 0.2 * len(campaign())


# --- limits


@pytest.mark.slow
def test_limit_on_nodes() -> None:
    assert {len(case.graph.nodes) for case in small()} <= set(range(1, SMALL.max_nodes + GUARDS + 1))
    assert sum(len(case.graph.nodes) > SMALL.max_nodes for case in small()) < 0.15 * len(small())


@pytest.mark.slow
@pytest.mark.parametrize("count", range(MOTIF_NODES, 8))
def test_motifs_keep_the_limit_on_nodes(count: int) -> None:
    for index in range(400):
        case = generate(NumpySource(2, index), Limits(max_nodes=count, max_numel=64), OPS[2:3], motifs=MOTIFS)
        assert len(case.graph.nodes) <= count


def test_a_graph_has_at_least_the_requested_number_of_nodes() -> None:
    assert all(len(generate(NumpySource(6, index), Limits(min_nodes=6)).graph.nodes) >= 6 for index in range(50))
    exact = [TABLE[name] for name in ("neg", "tanh", "add")]
    assert {len(generate(NumpySource(6, i), Limits(min_nodes=8), exact).graph.nodes) for i in range(20)} == {8}


def test_limit_on_elements() -> None:
    assert max(type.numel for case in small() for type in types(case)) <= SMALL.max_numel


def test_limits_on_memory_and_work() -> None:
    limits = Limits(max_nodes=6, max_numel=1 << 16, max_bytes=1 << 16, max_work=1 << 14)
    for index in range(100):
        case = generate(NumpySource(7, index), limits)
        assert sum(type.numel * type.dtype.bits // 8 for type in types(case)) <= limits.max_bytes
        graph, work = case.bound, 0
        for node in graph.nodes:
            terms = TABLE[node.op].terms
            size = sum(value.type.numel for value in node.results)
            work += terms(graph.arg_types(node), node.attrs) * size if terms else 0
        assert work <= limits.max_work


# --- which operators


def test_only_the_given_operators_are_drawn() -> None:
    ops = [TABLE[name] for name in ("relu", "add", "reshape")]
    drawn = {op for i in range(50) for op in generate(NumpySource(3, i), ops=ops).graph.ops}
    assert drawn == {"relu", "add", "reshape"}


@pytest.mark.slow
def test_guards_are_added_to_the_given_operators() -> None:
    for profile, guards in ((Profile.NORMAL, {"clamp"}), (Profile.SPECIAL, {"clamp", "nan_to_num"})):
        cases = [generate(NumpySource(3, index), ops=[TABLE["prod"]], profile=profile) for index in range(60)]
        assert {op for case in cases for op in case.graph.ops} == {"prod"} | guards


@pytest.mark.parametrize("op", OPS[::10], ids=lambda op: op.name)
@pytest.mark.exhaustive
def test_graphs_can_be_drawn_from_one_row(op: object) -> None:
    for index in range(3):
        case = generate(NumpySource(8, index), SMALL, [op], symbolic=None)
        check(case)
        assert op.name in {node.op for node in case.graph.nodes}  # type: ignore[attr-defined]


def test_the_message_names_operators_that_never_fit() -> None:
    ops = [TABLE["torch_call"], replace(TABLE["neg"], name="never", operands=lambda builder: None)]
    with pytest.raises(Invalid) as error:
        generate(NumpySource(0), SMALL, ops, symbolic=False)
    assert str(error.value) == f"none of torch_call, never fits a graph of {SMALL}"


# --- sources and strategies


@pytest.mark.slow
@given(cases(profile=None, symbolic=None))
@settings(max_examples=60)
def test_cases_drawn_by_hypothesis_are_valid(case: Case) -> None:
    assert_valid(case)


@pytest.mark.slow
@given(cases())
@settings(max_examples=40)
def test_by_default_cases_are_static_and_have_the_normal_profile(case: Case) -> None:
    assert not case.graph.symbols
    assert case.profile is Profile.NORMAL
    assert len(case.graph.nodes) <= 4 + GUARDS


@given(graphs(SMALL, [TABLE["add"], TABLE["sum"]]))
@settings(max_examples=40)
def test_graphs_have_the_given_operators_only(graph: Graph) -> None:
    assert set(graph.ops) <= {"add", "sum"}
    assert 1 <= len(graph.nodes) <= SMALL.max_nodes


@given(st.data())
@settings(max_examples=40)
def test_tensors_have_the_given_type(data: st.DataObject) -> None:
    wanted = TensorType(data.draw(st.sampled_from(DRAWN)), (2, 3))
    array = data.draw(tensors(wanted))
    assert (array.dtype, array.shape) == (wanted.dtype.numpy, (2, 3))


@pytest.mark.slow
def test_a_failing_case_shrinks_to_one_operator() -> None:
    """The plainest alternative of a choice is the first, and Hypothesis shrinks to the first."""
    ops = [TABLE[name] for name in ("neg", "abs", "relu", "add", "tanh")]
    smallest = find(cases(ops=ops), lambda case: "tanh" in case.graph.ops, settings=settings(max_examples=2000))
    (node,), (item,) = smallest.graph.nodes, smallest.graph.inputs
    assert (node.op, node.form, str(item.value.type)) == ("tanh", Form.PLAIN, "float32[]")
    assert (item.layout, item.domain.bounds) == (Layout.CONTIGUOUS, Bounds.ANY)


@pytest.mark.slow
@given(st.data())
def test_both_sources_keep_their_bounds(data: st.DataObject) -> None:
    low = data.draw(st.integers(-5, 5))
    high = data.draw(st.integers(low, low + 3))
    for source in (NumpySource(0), HypothesisSource(data.draw)):  # type: ignore[arg-type]
        assert low <= source.integer(low, high) <= high
        assert source.choice("abc") in "abc"
        assert sorted(source.shuffled("abcd")) == list("abcd")
        some = source.some("abcd", 1, 3)
        assert 1 <= len(some) <= 3
        assert set(some) <= set("abcd")
        assert source.chance(100)
        assert not source.chance(0)
        assert 0 <= source.rng().random() < 1


def test_numpy_source_reaches_both_ends() -> None:
    source = NumpySource(0)
    assert {source.integer(-1, 1) for _ in range(100)} == {-1, 0, 1}
    assert {tuple(source.shuffled((1, 2, 3))) for _ in range(200)} == set(
        map(tuple, np.array([[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]]).tolist())
    )


def test_numpy_source_is_uniform() -> None:
    source = NumpySource(9)
    counts = Counter(source.integer(1, 10) for _ in range(10_000))
    assert all(850 <= counts[number] <= 1150 for number in range(1, 11))


@pytest.mark.slow
def test_torch_is_deterministic_on_a_case() -> None:
    """Otherwise two lanes could differ because of PyTorch alone."""
    for case in campaign()[:60]:
        case = case.instances()[0]
        for a, b in zip(run_case(case), run_case(case), strict=True):
            assert torch.equal(a.nan_to_num(), b.nan_to_num())
