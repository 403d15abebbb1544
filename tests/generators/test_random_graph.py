from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from fuzzer.lanes.validity import NOT_FINITE, OK, prepare, verdict
from generators.builder import Limits
from generators.case_file import encode
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Case, DType, Graph, Invalid, Profile
from generators.motifs import MOTIFS
from generators.ops import TABLE
from generators.random_graph import generate
from generators.strategies import HypothesisSource, cases, graphs, tensors
from generators.torch_source import render

SMALL = Limits(max_nodes=3, max_numel=64)
GUARDS = 4  # nodes that one row puts before itself, at most

prepare()


@cache
def campaign(count: int = 300) -> tuple[Case, ...]:
    return tuple(generate(NumpySource(1, index)) for index in range(count))


@cache
def small(count: int = 300) -> tuple[Case, ...]:
    return tuple(generate(NumpySource(2, index), SMALL, symbolic=False) for index in range(count))


def test_seed_and_index_determine_every_byte() -> None:
    for index in range(40):
        assert encode(generate(NumpySource(5, index))) == encode(generate(NumpySource(5, index)))


def test_other_seeds_and_indices_differ() -> None:
    assert len({encode(generate(NumpySource(seed, index))) for seed in range(5) for index in range(20)}) == 100


def test_cases_pass_check_and_run_in_pytorch_with_the_declared_types() -> None:
    for case in campaign():
        for each in case.instances():
            word, told = verdict(each)
            assert word in (OK, NOT_FINITE), f"{told}\n{render(each.graph)}"


def test_outputs_of_the_normal_profile_are_finite() -> None:
    cases = [generate(NumpySource(4, index), profile=Profile.NORMAL, symbolic=False) for index in range(500)]
    assert sum(verdict(case)[0] == OK for case in cases) >= 0.99 * len(cases)


def test_many_operators_occur() -> None:
    assert len({op for case in campaign() for op in case.graph.ops}) >= 300


def test_sizes_vary() -> None:
    assert {len(case.graph.nodes) for case in campaign()} >= set(range(1, 9))
    types = [type for case in campaign() for type in case.graph.types.values()]
    assert {type.rank for type in types} >= set(range(6))
    assert {type.dtype for type in types} == set(DType)
    assert 0.25 < sum(type.dtype is DType.FLOAT32 for type in types) / len(types) < 0.75


def test_operators_meet() -> None:
    """Most nodes after the first read what an earlier node computed."""
    reads = [any(name.startswith("v") for name in node.args) for case in campaign() for node in case.graph.nodes[1:]]
    assert sum(reads) >= 0.7 * len(reads)


def test_most_of_what_nobody_reads_is_an_output_and_every_input_is_read() -> None:
    free = returned = 0
    for case in campaign():
        read = {name for node in case.graph.nodes for name in node.args}
        unread = {value.name for node in case.graph.nodes for value in node.results} - read
        free += len(unread)
        returned += len(unread & set(case.graph.outputs))
        assert {item.value.name for item in case.graph.inputs} <= read
    assert 0.8 * free < returned < free


def test_limit_on_nodes() -> None:
    assert {len(case.graph.nodes) for case in small()} <= set(range(1, SMALL.max_nodes + GUARDS + 1))


def test_limit_on_elements_of_results() -> None:
    sizes = [value.type.numel for case in small() for node in case.graph.nodes for value in node.results]
    assert max(sizes) <= SMALL.max_numel


def test_limit_on_elements_of_inputs() -> None:
    assert max(item.value.type.numel for case in small() for item in case.graph.inputs) <= SMALL.max_numel


def test_ops_restricts() -> None:
    ops = [TABLE[name] for name in ("relu", "add", "reshape")]
    seen = {op for i in range(30) for op in generate(NumpySource(3, i), ops=ops).graph.ops}
    assert seen == {"relu", "add", "reshape"}


def test_guards_come_on_top_of_ops() -> None:
    ops = [TABLE["log"]]
    seen = {op for i in range(60) for op in generate(NumpySource(3, i), ops=ops, profile=Profile.NORMAL).graph.ops}
    assert seen == {"log", "clamp"}


def test_motifs_come_with_the_whole_table_only() -> None:
    relu = MOTIFS[0]
    with_it = [generate(NumpySource(5, i), ops=[TABLE["neg"]], motifs=[relu]).graph.ops for i in range(60)]
    assert any("conv2d" in ops for ops in with_it)
    assert not any("conv2d" in generate(NumpySource(5, i), ops=[TABLE["neg"]]).graph.ops for i in range(60))


def test_ops_that_never_fit_are_named() -> None:
    with pytest.raises(Invalid, match=r"^none of torch_call fits a graph of Limits\(max_nodes=8, "):
        generate(NumpySource(0), ops=[TABLE["torch_call"]])


def test_origin_is_kept() -> None:
    assert generate(NumpySource(0), origin="seed 0 test 0").origin == "seed 0 test 0"


@given(cases())
@settings(max_examples=50)
def test_hypothesis_makes_the_same_programs(case: Case) -> None:
    check(case)
    word, told = verdict(case)
    assert word in (OK, NOT_FINITE), told


@given(graphs(), st.data())
@settings(max_examples=30)
def test_graphs_and_tensors_make_cases(graph: Graph, data: st.DataObject) -> None:
    for item in graph.inputs:
        array = data.draw(tensors(item.value.type))
        assert (array.dtype, array.shape) == (item.value.type.dtype.numpy, item.value.type.sizes)


def test_a_failing_case_shrinks_to_one_operator() -> None:
    ops = [TABLE[name] for name in ("neg", "abs", "relu", "add", "tanh")]
    smallest = find(cases(ops=ops), lambda case: "tanh" in case.graph.ops, settings=settings(max_examples=2000))
    assert smallest.graph.ops == ("tanh",)
    assert smallest.graph.inputs[0].value.type.rank == 0


@given(st.data())
def test_both_sources_keep_their_bounds(data: st.DataObject) -> None:
    low = data.draw(st.integers(-5, 5))
    high = data.draw(st.integers(low, low + 3))
    for source in (NumpySource(0), HypothesisSource(data.draw)):  # type: ignore[arg-type]
        assert low <= source.integer(low, high) <= high
        assert source.choice("abc") in "abc"
        assert sorted(source.shuffled("abcd")) == list("abcd")
        assert source.chance(100)
        assert not source.chance(0)


def test_numpy_source_reaches_both_ends() -> None:
    source = NumpySource(0)
    assert {source.integer(-1, 1) for _ in range(100)} == {-1, 0, 1}
    assert {tuple(source.shuffled((1, 2, 3))) for _ in range(200)} == set(
        map(tuple, np.array([[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]]).tolist())
    )
