"""Compares the types that each row infers with those of PyTorch, for every output of every drawn call.

The reference is eager PyTorch on numbers of the inputs' domains. The meta kernels, which torch.export uses, must agree.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache

import pytest
import torch
from eager import empty, run, type_text
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from fuzzer.lanes.base.arrays import laid_out, to_torch
from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attrs, Graph, Input, Node, TensorType
from generators.op import Op
from generators.table import TABLE
from generators.torch.ops import OPS
from generators.torch.source import render
from generators.torch.strategies import calls
from generators.values import draw

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

LIMITS = Limits(max_numel=256)
DRAWS = 30


def numbers(source: NumpySource) -> Callable[[Input], torch.Tensor]:
    """Return a function that makes the tensor of an input, with its domain and layout."""
    return lambda item: laid_out(to_torch(draw(source, item)), item.layout)


def types(tensors: tuple[torch.Tensor, ...]) -> list[str]:
    return list(map(type_text, tensors))


def declared(graph: Graph) -> list[str]:
    return list(map(str, graph.output_types))


@cache
def drawn(name: str, count: int = DRAWS) -> tuple[Graph, ...]:
    """Graphs that end in a call of the row: those of `count` attempts that fit, drawn as in a campaign. All results of
    the call are outputs."""
    graphs = []
    for index in range(count):
        builder = Builder(NumpySource(1, index), LIMITS)
        if builder.grow(TABLE[name]):
            nodes = tuple(builder.nodes)
            graphs.append(Graph(tuple(builder.inputs), nodes, tuple(value.name for value in nodes[-1].results)))
    return tuple(graphs)


def nodes(name: str, count: int = DRAWS) -> list[Node]:
    return [graph.nodes[-1] for graph in drawn(name, count)]


@pytest.mark.slow
@each_row()
@given(data=st.data())
@settings(max_examples=3)
def test_types_are_what_pytorch_gives(op: Op, data: st.DataObject) -> None:
    graph = data.draw(calls(op))
    assert types(run(graph, numbers(NumpySource(0)))) == declared(graph), render(graph)


@each_row()
@pytest.mark.exhaustive
def test_the_campaign_draws_every_row(op: Op) -> None:
    """At least 40 % of the attempts must fit: a row that seldom fits is seldom tested."""
    graphs = drawn(op.name)
    assert len(graphs) >= 0.5 * DRAWS or len(drawn(op.name, 300)) >= 0.4 * 300
    assert {graph.nodes[-1].op for graph in graphs} == {op.name}
    if op.terms:
        terms = [op.terms(graph.arg_types(graph.nodes[-1]), graph.nodes[-1].attrs) for graph in graphs]
        assert min(terms) >= 0, "0: this call is exact, as rounding to whole numbers is"
        assert max(terms) >= 1


TRACED = {"cond", "cond_item", "cond_size", "while_loop"}
"""PyTorch traces them again in each run, which takes a second."""

META_DIFFERS = {"block_diag": "0-d operands count as much as others"}
"""Operators whose meta kernel differs from eager PyTorch, and how."""


@pytest.mark.exhaustive
@each_row()
def test_drawn_calls_have_the_types_that_pytorch_gives_and_share_no_memory_unless_the_row_says_so(op: Op) -> None:
    for index, graph in enumerate(drawn(op.name)[: 8 if op.name in TRACED else DRAWS]):
        make = numbers(NumpySource(2, index))
        operands = {item.value.name: make(item) for item in graph.inputs}
        results = run(graph, lambda item, operands=operands: operands[item.value.name])
        assert types(results) == declared(graph), render(graph)
        if not op.view:
            memory = [t.untyped_storage().data_ptr() for t in results if t.numel()]
            assert len(set(memory)) == len(memory), f"results share memory: {render(graph)}"
            shared = {t.untyped_storage().data_ptr() for t in operands.values() if t.numel()}.intersection(memory)
            assert not shared, f"a result is part of an operand: {render(graph)}"
        if index < 2 and op.name not in META_DIFFERS:
            with suppress(NotImplementedError, RuntimeError):  # there is no meta kernel, or it needs the numbers
                assert types(run(graph, empty)) == declared(graph), f"on meta tensors: {render(graph)}"


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "cumsum", "sum", "prod"])
def test_terms_of_0d_operands(name: str) -> None:
    scalar = (TensorType.parse("float32[]"),)
    op = TABLE[name]
    attrs: Attrs = {**op.defaults, "dim": (-1,) if name == "sum" else -1}
    assert op.results(scalar, attrs) == scalar
    assert op.terms is not None
    assert op.terms(scalar, attrs) == 1


# --- the attributes that are drawn

AXES = {"dim", "dims", "dim0", "dim1", "dim2", "axis0", "axis1", "start_dim", "end_dim", "source", "destination"}
COUNTS = {("tile", "dims"): "how often", ("tensordot", "dims"): "how many"}
NEVER_NEGATIVE = {("diagonal_scatter", "dim1"): "not drawn so far"}


def integers(attrs: Attrs, key: str) -> list[int]:
    value = attrs[key]
    return [n for n in (value if isinstance(value, tuple) else (value,)) if isinstance(n, int)]


def negative(name: str, key: str, count: int) -> float:
    """Return the fraction of the drawn calls in which an attribute has a negative number."""
    drawn_nodes = nodes(name, count)
    return sum(min(integers(node.attrs, key), default=0) < 0 for node in drawn_nodes) / len(drawn_nodes)


WITH_AXES = [(op.name, key) for op in OPS for key in op.schema if key in AXES and (op.name, key) not in COUNTS]


@pytest.mark.exhaustive
def test_axes_are_counted_from_both_ends() -> None:
    assert len(WITH_AXES) > 100
    one_sided = [pair for pair in WITH_AXES if not 0.08 <= negative(*pair, count=80) <= 0.92]
    assert set(one_sided) <= set(NEVER_NEGATIVE)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("pad_constant", "pad"),
        ("pad_reflect", "pad"),
        ("pad_replicate", "pad"),
        ("pad_circular", "pad"),
        ("slice", "start"),
        ("select", "index"),
        ("roll", "shifts"),
        ("diagonal", "offset"),
        ("tril", "diagonal"),
    ],
)
def test_negative_and_other_numbers_are_drawn(name: str, key: str) -> None:
    assert 0.1 <= negative(name, key, count=300) <= 0.9


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "key", "kinds"),
    [
        ("squeeze", "dim", {type(None), int, tuple}),
        ("sum", "dim", {type(None), int, tuple}),
        ("conv2d", "stride", {int, tuple}),
        ("conv2d", "padding", {int, tuple, str}),
        ("softmax", "dtype", {type(None), str}),
        ("add_scalar", "other", {bool, int, float}),
        ("clamp", "min", {type(None), int, float}),
    ],
)
def test_attributes_are_drawn_with_all_their_types(name: str, key: str, kinds: set[type]) -> None:
    assert {type(node.attrs[key]) for node in nodes(name, 300)} == kinds
