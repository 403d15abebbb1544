from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from eager import run_case, type_text
from hypothesis import given, settings
from hypothesis import strategies as st

from generators.builder import Limits
from generators.case_file import encode
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Case, Invalid
from generators.ops import TABLE
from generators.random_graph import generate
from generators.strategies import HypothesisSource, cases
from generators.torch_source import render

SMALL = Limits(max_nodes=3, max_numel=64)
GUARDS = 2  # pow clamps its base and its exponent


@cache
def campaign(count: int = 300) -> tuple[Case, ...]:
    return tuple(generate(NumpySource(1, index)) for index in range(count))


@cache
def small(count: int = 300) -> tuple[Case, ...]:
    return tuple(generate(NumpySource(2, index), SMALL) for index in range(count))


def test_seed_and_index_determine_every_byte() -> None:
    for index in range(40):
        assert encode(generate(NumpySource(5, index))) == encode(generate(NumpySource(5, index)))


def test_other_seeds_and_indices_differ() -> None:
    assert len({encode(generate(NumpySource(seed, index))) for seed in range(5) for index in range(20)}) == 100


def test_cases_pass_check_and_run_in_pytorch_with_the_declared_types() -> None:
    for case in campaign():
        check(case)
        assert [type_text(t) for t in run_case(case)] == [str(t) for t in case.graph.output_types], render(case.graph)


def test_outputs_are_finite_normal_numbers() -> None:
    def tame(output: torch.Tensor) -> bool:
        if not output.is_floating_point():
            return True
        normal = (output == 0) | (output.abs() >= torch.finfo(output.dtype).tiny)
        return bool((output.isfinite() & normal).all())

    tames = [all(map(tame, run_case(case))) for case in campaign()]
    assert sum(tames) >= 0.99 * len(tames)


def test_many_operators_occur() -> None:
    assert len({op for case in campaign() for op in case.graph.ops}) >= 45


def test_sizes_vary() -> None:
    assert {len(case.graph.nodes) for case in campaign()} >= set(range(1, 9))
    assert {type.rank for case in campaign() for type in case.graph.types.values()} >= set(range(6))
    assert {type.dtype for case in campaign() for type in case.graph.types.values()} == {
        "float32",
        "float64",
        "int64",
        "bool",
    }


def test_operators_meet() -> None:
    """Most nodes after the first read what an earlier node computed."""
    reads = [any(name.startswith("v") for name in node.args) for case in campaign() for node in case.graph.nodes[1:]]
    assert sum(reads) >= 0.7 * len(reads)


def test_what_nobody_reads_is_an_output_and_every_input_is_read() -> None:
    for case in campaign():
        read = {name for node in case.graph.nodes for name in node.args}
        computed = [value.name for node in case.graph.nodes for value in node.results]
        assert list(case.graph.outputs) == [name for name in computed if name not in read]
        assert {item.value.name for item in case.graph.inputs} <= read


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
    seen = {op for i in range(30) for op in generate(NumpySource(3, i), ops=[TABLE["log"]]).graph.ops}
    assert seen == {"log", "clamp"}


def test_ops_that_never_fit_are_named() -> None:
    with pytest.raises(Invalid, match=r"^none of split, var fits a graph of Limits\(max_nodes=8, max_numel=1\)$"):
        generate(NumpySource(0), Limits(max_numel=1), [TABLE["split"], TABLE["var"]])


def test_origin_is_kept() -> None:
    assert generate(NumpySource(0), origin="seed 0 test 0").origin == "seed 0 test 0"


@given(cases())
@settings(max_examples=50)
def test_hypothesis_makes_the_same_programs(case: Case) -> None:
    check(case)
    assert [type_text(t) for t in run_case(case)] == [str(t) for t in case.graph.output_types], render(case.graph)


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
