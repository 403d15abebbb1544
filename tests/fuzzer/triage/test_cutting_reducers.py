"""What each reducer that cuts the graph proposes, in order, on graphs made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphs_by_hand import Call
from small_graphs import CHAIN, FORK, SISTERS, domains, subject_of, text, texts

from fuzzer.triage.reducers import Reducer, Subject
from fuzzer.triage.reducers.base import as_input, cut, pruned
from fuzzer.triage.reducers.bypass_nodes import bypass_nodes
from fuzzer.triage.reducers.cut_region import cut_region
from fuzzer.triage.reducers.drop_outputs import drop_outputs
from fuzzer.triage.reducers.keep_region import keep_region
from generators.domain import ANY, NONZERO, POSITIVE
from generators.graph import Domain, DType, Role, TensorType, Value

BFLOAT16 = DType.BFLOAT16.numpy


def without_values(subject: Subject) -> Subject:
    return Subject(subject.case, subject.lane, {})


# --- keep_region


def test_keep_region_halves_then_all_but_one_from_either_end() -> None:
    assert texts(keep_region, CHAIN) == [
        "x0 | v0=relu(x0) | v0",
        "x0 v1 | v2=add(v1,x0) | v2",
        "x0 | v0=relu(x0); v1=neg(v0) | v1",
        "x0 v0 | v1=neg(v0); v2=add(v1,x0) | v2",
    ]


def test_keep_region_makes_an_output_of_each_result_that_the_region_does_not_read() -> None:
    assert texts(keep_region, FORK) == [
        "x0 | v0=relu(x0); v1=neg(v0) | v1",
        "x0 v0 | v2=abs(v0); v3=sign(x0) | v2 v3",
        "x0 | v0=relu(x0); v1=neg(v0); v2=abs(v0) | v1 v2",
        "x0 v0 | v1=neg(v0); v2=abs(v0); v3=sign(x0) | v1 v2 v3",
    ]


def test_keep_region_cuts_the_results_of_one_node_together() -> None:
    assert texts(keep_region, SISTERS) == [
        "x0 | v0,v1=split(x0) | v0 v1",
        "v1 | v3=relu(v1) | v3",
        "x0 w0 | v0,v1=split(x0); v2=add(v0,w0) | v1 v2",
        "w0 v0 v1 | v2=add(v0,w0); v3=relu(v1) | v2 v3",
    ]


def chain_of(length: int) -> Subject:
    names = [f"v{i}" for i in range(length)]
    calls: list[Call] = [(name, "neg", before) for before, name in zip(["x0", *names], names, strict=False)]
    return subject_of({"x0": "float32[2]"}, calls, names[-1])


def test_keep_region_bisects_both_ends() -> None:
    sizes = [len(c.graph.nodes) for c in keep_region(chain_of(20))]
    assert sizes == [10, 10, 15, 15, 18, 18, 19, 19]
    firsts = [int(c.graph.nodes[0].results[0].name[1:]) for c in keep_region(chain_of(20))]
    assert firsts == [0, 10, 0, 5, 0, 2, 0, 1]


def test_keep_region_needs_two_nodes() -> None:
    assert texts(keep_region, subject_of({"x0": "bool[2]"}, [("v0", "logical_not", "x0")], "v0")) == []


def test_keep_region_without_computed_values_keeps_nodes_that_read_inputs_only() -> None:
    assert texts(keep_region, without_values(CHAIN)) == [
        "x0 | v0=relu(x0) | v0",
        "x0 | v0=relu(x0); v1=neg(v0) | v1",
    ]


# --- cut_region


def test_cut_region_makes_inputs_of_what_neighbours_give() -> None:
    """Halves, then pairs; an output is left as it is."""
    assert texts(cut_region, FORK) == ["x0 v0 | v1=neg(v0); v2=abs(v0); v3=sign(x0) | v1 v2 v3"]
    assert [len(c.graph.nodes) for c in cut_region(chain_of(8))] == [4, 6, 4, 2]
    assert texts(cut_region, chain_of(4)) == ["v1 | v2=neg(v1); v3=neg(v2) | v3"]


def test_cut_region_leaves_what_stands_before_and_behind() -> None:
    joined: list[Call] = [
        ("v0", "relu", "x0"),
        ("v1", "neg", "x0"),
        ("v2", "abs", "v1"),
        ("v3", "sign", "v2"),
        ("v4", "add", "v0 v3"),
    ]
    assert texts(cut_region, subject_of({"x0": "float32[2]"}, joined, "v4")) == [
        "v0 v1 | v2=abs(v1); v3=sign(v2); v4=add(v0,v3) | v4",
        "x0 v3 | v0=relu(x0); v4=add(v0,v3) | v4",
    ]


def test_cut_region_without_computed_values_proposes_nothing() -> None:
    assert texts(cut_region, without_values(chain_of(8))) == []


# --- drop_outputs


def test_drop_outputs_keeps_one_then_drops_one() -> None:
    whole = "v0=relu(x0); v1=neg(v0)"
    assert texts(drop_outputs, FORK) == [
        f"x0 | {whole} | v1",
        "x0 | v0=relu(x0); v2=abs(v0) | v2",
        "x0 | v3=sign(x0) | v3",
        "x0 | v0=relu(x0); v2=abs(v0); v3=sign(x0) | v2 v3",
        f"x0 | {whole}; v3=sign(x0) | v1 v3",
        f"x0 | {whole}; v2=abs(v0) | v1 v2",
    ]


def test_drop_outputs_leaves_a_single_output_alone() -> None:
    assert texts(drop_outputs, CHAIN) == []


def test_drop_outputs_drops_the_tensors_of_inputs_that_go() -> None:
    (first, *_) = drop_outputs(SISTERS)
    assert set(first.case.tensors) == {"x0", "w0"}
    second = list(drop_outputs(SISTERS))[1]
    assert set(second.case.tensors) == {"x0"}


# --- bypass_nodes


def test_bypass_nodes_late_ones_first_cut_then_forwarded() -> None:
    assert texts(bypass_nodes, CHAIN) == [
        "x0 | v0=relu(x0); v1=neg(v0) | v1",
        "x0 |  | x0",
        "x0 v1 | v2=add(v1,x0) | v2",
        "x0 | v0=relu(x0); v2=add(v0,x0) | v2",
        "x0 v0 | v1=neg(v0); v2=add(v1,x0) | v2",
        "x0 | v1=neg(x0); v2=add(v1,x0) | v2",
    ]


def test_bypass_nodes_forwards_operands_of_the_same_type_only() -> None:
    subject = subject_of(
        {"x0": "float32[2,1]", "x1": "float32[2,3]"},
        [("v0", "add", "x0 x1"), ("v1", "transpose", "v0", {"dim0": 0, "dim1": 1}), ("v2", "neg", "v1")],
        "v2",
    )
    assert texts(bypass_nodes, subject) == [
        "x0 x1 | v0=add(x0,x1); v1=transpose(v0) | v1",
        "v1 | v2=neg(v1) | v2",
        "v0 | v1=transpose(v0); v2=neg(v1) | v2",
        "x1 | v1=transpose(x1); v2=neg(v1) | v2",
    ]


def test_bypass_nodes_without_computed_values_forwards_operands() -> None:
    assert texts(bypass_nodes, without_values(CHAIN)) == [
        "x0 | v0=relu(x0); v1=neg(v0) | v1",
        "x0 |  | x0",
        "x0 | v0=relu(x0); v2=add(v0,x0) | v2",
        "x0 | v1=neg(x0); v2=add(v1,x0) | v2",
    ]


def test_bypass_nodes_merges_outputs_that_become_one() -> None:
    subject = subject_of({"x0": "float32[2]"}, [("v0", "relu", "x0"), ("v1", "neg", "v0")], "v0 v1")
    assert texts(bypass_nodes, subject)[0] == "x0 | v0=relu(x0) | v0"


# --- cutting


def test_a_cut_input_has_the_computed_values() -> None:
    smaller = cut(CHAIN, frozenset({"v1"}))
    assert smaller is not None
    assert text(smaller) == "x0 v1 | v2=add(v1,x0) | v2"
    assert smaller.case.tensors["v1"].tolist() == [[200.0, 201.0, 202.0], [203.0, 204.0, 205.0]]
    assert smaller.case.tensors["x0"] is CHAIN.case.tensors["x0"]
    assert smaller.graph.inputs[1].role is Role.INPUT
    assert smaller.graph.types["v1"] == TensorType(DType.FLOAT32, (2, 3))


@pytest.mark.parametrize("propose", [keep_region, bypass_nodes])
def test_every_new_input_has_the_computed_values(propose: Reducer) -> None:
    for subject in (CHAIN, SISTERS, FORK):
        for candidate in propose(subject):
            for name, array in candidate.case.tensors.items():
                assert array is subject.computed.get(name, subject.case.tensors.get(name))


@pytest.mark.parametrize(
    "names",
    [set(), {"nobody"}, {"x0"}, {"v0"}],
    ids=["nothing", "unknown", "an input", "one of two sisters"],
)
def test_what_cannot_be_cut(names: set[str]) -> None:
    assert cut(SISTERS, frozenset(names)) is None


@pytest.mark.parametrize(
    ("dtype", "numbers", "domain"),
    [
        (DType.FLOAT32, [1.0, 0.5], POSITIVE),
        (DType.FLOAT64, [1e-300], POSITIVE),
        (DType.FLOAT32, [-1.0, 2.0], NONZERO),
        (DType.FLOAT32, [-1.0, 0.0], ANY),
        (DType.FLOAT32, [0.0, 1.0], ANY),
        (DType.FLOAT32, [], ANY),
        (DType.INT64, [1, 2], ANY),
        (DType.BOOL, [True], ANY),
    ],
)
def test_the_domain_of_a_cut_input_is_what_its_numbers_say(dtype: DType, numbers: list[Any], domain: Domain) -> None:
    array = np.array(numbers, dtype.numpy)
    item = as_input(Value("v0", TensorType(dtype, array.shape)), array)
    assert (item.domain, item.role) == (domain, Role.INPUT)


def test_cut_infers_domains() -> None:
    smaller = cut(CHAIN, frozenset({"v0"}))
    assert smaller is not None
    assert domains(smaller) == {"x0": ANY, "v0": POSITIVE}  # v0 was computed as 100, 101, ...


def test_pruned_keeps_what_the_outputs_need() -> None:
    subject = subject_of(
        {"x0": "float32[2]", "x1": "float32[2]", "w0": "float32[2]"},
        [("v0", "neg", "x1"), ("v1", "add", "x0 w0"), ("v2", "relu", "v0")],
        "v1",
    )
    graph = pruned(subject.graph)
    assert [item.value.name for item in graph.inputs] == ["x0", "w0"]
    assert graph.ops == ("add",)
