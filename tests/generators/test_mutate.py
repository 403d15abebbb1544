"""Mutations give valid cases that run, and every mutation occurs."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import pairwise

import pytest

from fuzzer.children.validity import INVALID, NOT_FINITE, OK, WRONG_TYPE, prepare, verdict
from generators.builder import Limits
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Case, Form, Profile
from generators.mutate import MUTATIONS, mutate
from generators.table import TABLE
from generators.torch.random_graph import generate
from generators.torch.source import render
from generators.values import holds, may_be_extreme

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
prepare()


def chain(index: int, length: int = 3) -> list[Case]:
    """A case, followed by mutants, each made from the one before."""
    source = NumpySource(21, index)
    cases = [generate(source)]
    donor = generate(source)
    for _ in range(length):
        cases.append(mutate(source, cases[-1], donor=donor))
    return cases


@cache
def chains() -> list[list[Case]]:
    return [chain(index) for index in range(150)]


@pytest.mark.slow
def test_mutants_pass_check() -> None:
    for cases in chains():
        for case in cases:
            check(case)


def assert_runs(case: Case) -> str:
    outcomes = set()
    for each in case.instances():
        outcome, message = verdict(each)
        assert outcome not in (INVALID, WRONG_TYPE), f"{case.origin}: {message}\n{render(each.graph)}"
        outcomes.add(outcome)
    return OK if outcomes == {OK} else NOT_FINITE


@pytest.mark.exhaustive
def test_mutants_run_in_eager_pytorch_and_most_are_finite() -> None:
    outcomes = [assert_runs(case) for cases in chains() for case in cases[1:] if case.profile is Profile.NORMAL]
    assert outcomes.count(OK) >= 0.95 * len(outcomes)


@pytest.mark.slow
def test_values_stay_in_their_domains() -> None:
    for cases in chains():
        for case in cases:
            assert all(holds(case.tensors[item.value.name], item.domain) for item in case.graph.inputs)


CHOSEN = (
    *("max_unpool1d", "max_unpool2d", "max_unpool3d", "one_hot", "scaled_dot_product_attention", "grid_sample"),
    *("gather", "index_select", "scatter", "embedding", "getitem", "remainder", "log", "prod", "loop", "cross_entropy"),
)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", CHOSEN)
def test_an_operand_that_was_made_for_an_operator_is_not_replaced(name: str) -> None:
    """For example indices, divisors and masks. With other numbers, PyTorch would raise an error or divide by zero."""
    ops = [TABLE[name], TABLE["neg"], TABLE["add"]]
    for index in range(4):
        case = generate(NumpySource(24, index), Limits(min_nodes=3), ops, profile=Profile.NORMAL, symbolic=False)
        for attempt in range(12):
            assert_runs(mutate(NumpySource(25, attempt), case))


@pytest.mark.slow
def test_mutants_keep_the_limits() -> None:
    """The cost of the whole graph is counted again, because a mutation can change the sizes of later results."""
    limits = Limits(max_nodes=5, max_numel=96, max_bytes=2048, max_work=1024)
    for index in range(150):
        source = NumpySource(29, index)
        case, donor = generate(source, limits), generate(source, limits)
        most = max(10, len(case.graph.nodes))
        for _ in range(4):
            case = mutate(source, case, limits, donor=donor)
            types = [value.type for value in case.bound.values()]
            assert len(case.graph.nodes) <= most
            assert max(type.numel for type in types) <= 96
            assert sum(type.numel * type.dtype.bits // 8 for type in types) <= 2048
            assert work(case) <= 1024


def work(case: Case) -> int:
    graph, total = case.bound, 0
    for node in graph.nodes:
        terms = TABLE[node.op].terms
        size = sum(value.type.numel for value in node.results)
        total += terms(graph.arg_types(node), node.attrs) * size if terms else 0
    return total


@pytest.mark.slow
def test_chains_of_mutations_stop_growing() -> None:
    limits = Limits(max_nodes=4, max_numel=64)
    longest = 0
    for index in range(6):
        source = NumpySource(30, index)
        case = generate(source, limits)
        for _ in range(40):
            case = mutate(source, case, limits)
            longest = max(longest, len(case.graph.nodes))
    assert 4 < longest <= 8


@pytest.mark.slow
def test_every_mutation_occurs_and_the_origin_names_it() -> None:
    counts = Counter(case.origin.partition(" of ")[0] for cases in chains() for case in cases[1:])
    assert set(counts) >= {mutation.__name__.strip("_") for mutation in MUTATIONS}
    assert counts["values"] < 0.3 * sum(counts.values())


def test_a_mutant_differs_in_graph_or_values() -> None:
    for cases in chains():
        for before, after in pairwise(cases):
            same_values = before.tensors.keys() == after.tensors.keys() and all(
                before.tensors[name].tobytes() == after.tensors[name].tobytes() for name in before.tensors
            )
            assert before.graph != after.graph or not same_values or before.profile != after.profile


def test_equal_sources_give_equal_mutants() -> None:
    first, second = chain(7), chain(7)
    assert [case.graph for case in first] == [case.graph for case in second]


def test_a_splice_has_the_nodes_of_both_graphs() -> None:
    """First the nodes of the case, then those of the donor."""
    spliced = 0
    for index in range(20):
        first, donor = (generate(NumpySource(22, i), symbolic=False) for i in (index, index + 100))
        for attempt in range(60):
            mutant = mutate(NumpySource(23, attempt), first, donor=donor)
            if mutant.origin.startswith("splice"):
                assert mutant.graph.ops == first.graph.ops + donor.graph.ops
                spliced += 1
                break
    assert spliced >= 15


@pytest.mark.slow
def test_a_mutation_that_changes_only_values_keeps_symbols() -> None:
    kept = 0
    for index in range(100):
        case = generate(NumpySource(26, index), symbolic=True)
        mutant = mutate(NumpySource(27, index), case)
        if mutant.sizes:
            kept += 1
            assert mutant.origin.startswith("values of ")
            assert (mutant.graph, mutant.sizes, mutant.also) == (case.graph, case.sizes, case.also)
    assert kept < 50


@pytest.mark.slow
def test_a_mutant_without_integers_does_not_have_the_extreme_profile() -> None:
    """A mutation can remove the integers of an extreme case, or draw values for a graph that has none."""
    ops = [TABLE[name] for name in ("neg", "frac", "add")]
    lost = 0
    for index in range(150):
        source = NumpySource(33, index)
        case = generate(source, ops=ops, profile=Profile.EXTREME if index % 2 else Profile.NORMAL, symbolic=False)
        for _ in range(6):
            was, case = case.profile, mutate(source, case, ops=ops)
            lost += was is Profile.EXTREME and case.profile is Profile.NORMAL
            assert case.profile is not Profile.EXTREME or may_be_extreme(case.graph)
    assert lost > 0


def test_the_origin_names_only_the_last_mutation() -> None:
    case = generate(NumpySource(0), origin="seed 0 test 0")
    for attempt in range(20):
        case = mutate(NumpySource(28, attempt), case)
        change, _, origin = case.origin.partition(" of ")
        assert change in {mutation.__name__.strip("_") for mutation in MUTATIONS} | {"values"}
        assert origin == "seed 0 test 0"


def test_no_later_node_or_output_reads_a_value_that_was_changed_in_place() -> None:
    for cases in chains():
        graph = cases[-1].graph
        overwritten: set[str] = set()
        for node in graph.nodes:
            assert not overwritten & set(node.args)
            overwritten |= {node.args[0]} if node.form is Form.INPLACE else set()
        assert not overwritten & set(graph.outputs)
