"""Mutations give valid cases that run, and each kind of them happens."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from fuzzer.children.validity import INVALID, NOT_FINITE, OK, WRONG_TYPE, prepare, verdict
from generators.builder import Limits
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Case, Form, Profile
from generators.mutate import MUTATIONS, mutate
from generators.ops import TABLE
from generators.random_graph import generate
from generators.torch_source import render
from generators.values import holds, may_be_extreme

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
prepare()


def chain(index: int, length: int = 3) -> list[Case]:
    """A case, and mutants of mutants."""
    source = NumpySource(21, index)
    cases = [generate(source)]
    donor = generate(source)
    for _ in range(length):
        cases.append(mutate(source, cases[-1], donor=donor))
    return cases


CHAINS = [chain(index) for index in range(150)]


def test_mutants_pass_the_gate() -> None:
    for cases in CHAINS:
        for case in cases:
            check(case)


def assert_runs(case: Case) -> str:
    words = set()
    for each in case.instances():
        word, told = verdict(each)
        assert word not in (INVALID, WRONG_TYPE), f"{case.origin}: {told}\n{render(each.graph)}"
        words.add(word)
    return OK if words == {OK} else NOT_FINITE


@pytest.mark.exhaustive
def test_mutants_run_in_eager_pytorch_and_most_are_finite() -> None:
    words = [assert_runs(case) for cases in CHAINS for case in cases[1:] if case.profile is Profile.NORMAL]
    assert words.count(OK) >= 0.95 * len(words)


def test_values_stay_in_their_domains() -> None:
    for cases in CHAINS:
        for case in cases:
            assert all(holds(case.tensors[item.value.name], item.domain) for item in case.graph.inputs)


CHOSEN = (
    *("max_unpool1d", "max_unpool2d", "max_unpool3d", "one_hot", "scaled_dot_product_attention", "grid_sample"),
    *("gather", "index_select", "scatter", "embedding", "getitem", "remainder", "log", "prod", "loop", "cross_entropy"),
)


@pytest.mark.parametrize("name", CHOSEN)
def test_what_was_chosen_to_suit_an_operator_stays_with_it(name: str) -> None:
    """Indices, divisors, masks: where the operator reads something else, PyTorch refuses it, or divides by zero."""
    ops = [TABLE[name], TABLE["neg"], TABLE["add"]]
    for index in range(4):
        case = generate(NumpySource(24, index), ops=ops, profile=Profile.NORMAL, at_least=3, symbolic=False)
        for attempt in range(12):
            assert_runs(mutate(NumpySource(25, attempt), case))


def test_mutants_keep_the_limits() -> None:
    """A larger size, other attributes, one call more: what follows is counted again, whole."""
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
    graph, done = case.bound, 0
    for node in graph.nodes:
        terms = TABLE[node.op].terms
        size = sum(value.type.numel for value in node.results)
        done += terms(graph.arg_types(node), node.attrs) * size if terms else 0
    return done


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


def test_every_mutation_happens_and_is_named() -> None:
    seen = Counter(case.origin.partition(" of ")[0] for cases in CHAINS for case in cases[1:])
    assert set(seen) >= {mutation.__name__.strip("_") for mutation in MUTATIONS}
    assert seen["values"] < 0.3 * sum(seen.values())


def test_a_mutant_differs_in_graph_or_values() -> None:
    for cases in CHAINS:
        for before, after in pairwise(cases):
            same_values = before.tensors.keys() == after.tensors.keys() and all(
                before.tensors[name].tobytes() == after.tensors[name].tobytes() for name in before.tensors
            )
            assert before.graph != after.graph or not same_values or before.profile != after.profile


def test_the_source_decides() -> None:
    first, second = chain(7), chain(7)
    assert [case.graph for case in first] == [case.graph for case in second]


def test_a_splice_has_both() -> None:
    """Nodes of ours, then the donor's, inputs of which may be ours now."""
    spliced = 0
    for index in range(20):
        ours, donor = (generate(NumpySource(22, i), symbolic=False) for i in (index, index + 100))
        for attempt in range(60):
            mutant = mutate(NumpySource(23, attempt), ours, donor=donor)
            if mutant.origin.startswith("splice"):
                assert mutant.graph.ops == ours.graph.ops + donor.graph.ops
                spliced += 1
                break
    assert spliced >= 15


def test_a_symbolic_case_keeps_its_symbols_where_values_alone_change() -> None:
    kept = 0
    for index in range(100):
        case = generate(NumpySource(26, index), symbolic=True)
        mutant = mutate(NumpySource(27, index), case)
        if mutant.sizes:
            kept += 1
            assert mutant.origin.startswith("values of ")
            assert (mutant.graph, mutant.sizes, mutant.also) == (case.graph, case.sizes, case.also)
    assert kept < 50


def test_a_mutant_without_integers_is_not_called_extreme() -> None:
    """An extreme case loses its integers sometimes, and new values may be drawn for a graph that never had any."""
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


def test_only_the_last_change_is_told() -> None:
    case = generate(NumpySource(0), origin="seed 0 test 0")
    for attempt in range(20):
        case = mutate(NumpySource(28, attempt), case)
        change, _, origin = case.origin.partition(" of ")
        assert change in {mutation.__name__.strip("_") for mutation in MUTATIONS} | {"values"}
        assert origin == "seed 0 test 0"


def test_what_is_changed_in_place_is_never_read_again() -> None:
    for cases in CHAINS:
        graph = cases[-1].graph
        gone: set[str] = set()
        for node in graph.nodes:
            assert not gone & set(node.args)
            gone |= {node.args[0]} if node.form is Form.INPLACE else set()
        assert not gone & set(graph.outputs)
