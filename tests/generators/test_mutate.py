"""Mutations give valid cases that run, and each kind of them happens."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from fuzzer.lanes.validity import INVALID, WRONG_TYPE, prepare, verdict
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Case, Form
from generators.mutate import MUTATIONS, mutate
from generators.random_graph import generate
from generators.torch_source import render

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


def test_mutants_run_in_eager_pytorch() -> None:
    for cases in CHAINS:
        for each in cases[-1].instances():
            word, told = verdict(each)
            assert word not in (INVALID, WRONG_TYPE), f"{told}\n{render(each.graph)}"


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


@pytest.mark.parametrize("index", range(20))
def test_a_splice_has_both(index: int) -> None:
    ours, donor = (generate(NumpySource(22, i)) for i in (index, index + 100))
    for attempt in range(60):
        mutant = mutate(NumpySource(23, attempt), ours, donor=donor)
        if mutant.origin.startswith("splice"):
            assert mutant.graph.ops[: len(ours.graph.nodes)] == ours.graph.ops
            assert mutant.graph.ops[len(ours.graph.nodes) :] == donor.graph.ops
            return
    pytest.skip("these two do not splice")


def test_what_is_changed_in_place_is_never_read_again() -> None:
    for cases in CHAINS:
        graph = cases[-1].graph
        gone: set[str] = set()
        for node in graph.nodes:
            assert not gone & set(node.args)
            gone |= {node.args[0]} if node.form is Form.INPLACE else set()
        assert not gone & set(graph.outputs)
