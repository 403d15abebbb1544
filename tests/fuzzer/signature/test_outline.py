"""The outline of a graph: what it contains, and what it does not depend on."""

from __future__ import annotations

import pytest
from graphs_by_hand import Call, graph_of
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzer.signature.outline import outline
from generators.choice import NumpySource
from generators.graph import Graph, Node, Value
from generators.torch.random_graph import generate

PLAIN: list[Call] = [("v0", "neg", "x0"), ("v1", "exp", "v0")]


@pytest.mark.parametrize(
    ("calls", "outputs", "text"),
    [
        (PLAIN, "v1", "exp(neg)"),
        ([("v0", "exp", "x0"), ("v1", "neg", "v0")], "v1", "neg(exp)"),
        ([("v7", "neg", "x0"), ("v3", "exp", "v7")], "v3", "exp(neg)"),
        ([*PLAIN, ("v2", "add", "v0 v1")], "v2", "add(a, exp(a)) where a = neg"),
        ([("v0", "neg", "x0"), ("v1", "neg", "x0"), ("v2", "add", "v0 v1")], "v2", "add(neg, neg)"),
        ([("v0", "neg", "x0"), ("v2", "add", "v0 v0")], "v2", "add(a, a) where a = neg"),
        ([("v0", "add", "x0 x0")], "v0", "add"),
        (PLAIN, "v1 v0", "exp(a); a where a = neg"),
        ([("v0", "neg", "x0"), ("v1", "exp", "x0")], "v0 v1", "exp; neg"),
        ([("v0", "neg", "x0"), ("v1", "exp", "x0")], "v1 v0", "exp; neg"),
        ([("v1", "exp", "x0"), ("v0", "neg", "x0")], "v0 v1", "exp; neg"),
    ],
)
def test_outline(calls: list[Call], outputs: str, text: str) -> None:
    assert outline(graph_of({"x0": "float32[2,3]"}, calls, outputs)) == text


def test_the_order_of_outputs_stays_as_it_is() -> None:
    """The names of findings depend on it."""
    graph = graph_of({"x0": "float32[2]"}, [*PLAIN, ("v2", "tanh", "v0")], "v2 v1")
    assert outline(graph) == "exp(a); tanh(a) where a = neg"


def test_it_knows_no_sizes_dtypes_or_roles() -> None:
    calls: list[Call] = [("v0", "conv2d", "x0 {0}"), ("v1", "relu", "v0")]

    def of(data: str, weights: str, type: str) -> str:
        ready = [(results, op, args.format(weights)) for results, op, args, *_ in calls]
        return outline(graph_of({"x0": data, weights: type}, ready, "v1"))

    assert of("float32[1,3,8,8]", "w0", "float32[4,3,3,3]") == "relu(conv2d)"
    assert of("float64[2,1,5,5]", "x1", "float64[1,1,2,2]") == "relu(conv2d)"


def renamed(graph: Graph, names: dict[str, str]) -> Graph:
    nodes = tuple(
        Node(n.op, tuple(names[a] for a in n.args), n.attrs, tuple(Value(names[v.name], v.type) for v in n.results))
        for n in graph.nodes
    )
    return Graph((), nodes, tuple(names[name] for name in graph.outputs))


@pytest.mark.slow
@given(st.integers(0, 2**32), st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_names_and_the_order_of_outputs_do_not_matter(seed: int, random: object) -> None:
    graph = generate(NumpySource(seed, 0)).graph
    values = [value.name for value in graph.values()]
    shuffled = random.sample(values, len(values))  # type: ignore[attr-defined]
    other = renamed(graph, dict(zip(values, shuffled, strict=True)))
    turned = Graph((), other.nodes, tuple(random.sample(other.outputs, len(other.outputs))))  # type: ignore[attr-defined]
    assert outline(turned) == outline(graph)


def test_a_long_chain_of_doublings_has_a_short_outline() -> None:
    calls: list[Call] = [
        (f"v{i}", "add", f"{before} {before}") for i, before in enumerate(["x0", *map("v{}".format, range(39))])
    ]
    text = outline(graph_of({"x0": "float32[1]"}, calls, "v39"))
    assert text.startswith("add(a, a) where ")
    assert len(text) < 1000


def test_a_long_chain_of_calls_needs_no_recursion() -> None:
    calls: list[Call] = [(f"v{i}", "neg", before) for i, before in enumerate(["x0", *map("v{}".format, range(2999))])]
    assert outline(graph_of({"x0": "float32[1]"}, calls, "v2999")) == "neg(" * 2999 + "neg" + ")" * 2999
