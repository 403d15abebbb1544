"""Every row's inference against PyTorch's own: dtype and shape of every output of every drawn call."""

from __future__ import annotations

import pytest
import torch
from eager import empty, run, type_text
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzer.lanes.base import laid_out, to_torch
from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attrs, Graph, Input, Node, TensorType
from generators.ops import OPS, TABLE, Op
from generators.strategies import calls
from generators.torch_source import render
from generators.values import draw

EACH_ROW = pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
LIMITS = Limits(max_numel=256)


def on_numbers(item: Input) -> torch.Tensor:
    return laid_out(to_torch(draw(NumpySource(0), item)), item.layout)


def outputs_in_torch(graph: Graph) -> tuple[torch.Tensor, ...]:
    """On meta tensors; on numbers within the inputs' domains where there is no meta kernel, or where what the kernel
    does depends on numbers."""
    try:
        return run(graph, empty)
    except (NotImplementedError, RuntimeError):
        return run(graph, on_numbers)


def drawn(op: Op, index: int) -> Node | None:
    """The call that the campaign's source makes of a row, if it makes one."""
    builder = Builder(NumpySource(1, index), LIMITS)
    return builder.nodes[-1] if builder.grow(op) else None


@EACH_ROW
@given(data=st.data())
@settings(max_examples=20)
def test_types_are_what_pytorch_gives(op: Op, data: st.DataObject) -> None:
    graph = data.draw(calls(op))
    assert [type_text(t) for t in outputs_in_torch(graph)] == [str(t) for t in graph.output_types], render(graph)


@EACH_ROW
def test_the_campaign_draws_every_row(op: Op) -> None:
    calls = [node for node in (drawn(op, index) for index in range(40)) if node]
    assert len(calls) >= 14
    assert {node.op for node in calls} == {op.name}


@EACH_ROW
def test_terms_are_a_positive_number_or_the_row_is_exact(op: Op) -> None:
    for index in range(30):
        builder = Builder(NumpySource(1, index), LIMITS)
        if builder.grow(op) and op.terms:
            graph = builder.graph()
            assert op.terms(graph.arg_types(graph.nodes[-1]), graph.nodes[-1].attrs) >= 1


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "cumsum", "sum", "prod"])
def test_terms_of_0d_operands(name: str) -> None:
    scalar = (TensorType.parse("float32[]"),)
    op = TABLE[name]
    attrs: Attrs = {**op.defaults, "dim": (-1,) if name == "sum" else -1}
    assert op.results(scalar, attrs) == scalar
    assert op.terms is not None
    assert op.terms(scalar, attrs) == 1


def numbers(attrs: Attrs, key: str) -> tuple[int, ...]:
    value = attrs[key]
    return tuple(n for n in (value if isinstance(value, tuple) else (value,)) if isinstance(n, int))


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("squeeze", "dim"),
        ("pad_constant", "pad"),
        ("pad_reflect", "pad"),
        ("pad_replicate", "pad"),
        ("pad_circular", "pad"),
        ("unsqueeze", "dim"),
        ("sum", "dim"),
        ("cat", "dim"),
        ("slice", "start"),
        ("select", "index"),
        ("softmax", "dim"),
    ],
)
def test_negative_numbers_are_drawn_and_others_too(name: str, key: str) -> None:
    calls = [node for node in (drawn(TABLE[name], index) for index in range(300)) if node]
    negative = sum(min(numbers(node.attrs, key), default=0) < 0 for node in calls)
    assert 0.1 * len(calls) <= negative <= 0.9 * len(calls)


def test_squeeze_is_drawn_in_all_its_forms() -> None:
    calls = [node for node in (drawn(TABLE["squeeze"], index) for index in range(300)) if node]
    assert {type(node.attrs["dim"]) for node in calls} == {type(None), int, tuple}
