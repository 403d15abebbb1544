"""Rows of `native`: operators of aten whose further results are used."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Attr
from generators.torch.ops import TABLE, Op, native
from generators.torch.random_graph import generate


def evaluated(op: str, *args: torch.Tensor, **attrs: Attr) -> tuple[torch.Tensor, ...]:
    names = tuple(f"a{i}" for i in range(len(args)))
    scope: dict[str, Any] = {"torch": torch, **dict(zip(names, args, strict=True))}
    text = TABLE[op].render(names, attrs)
    outs = {f"out{i}": f"y{i}" for i in range(5)}
    exec(text.format(**outs) if "{out" in text else f"y = {text}", scope)
    return tuple(scope[f"y{i}"] for i in range(5)) if "{out" in text else scope["y"]


def test_the_statistics_are_the_mean_and_the_reciprocal_of_the_deviation() -> None:
    x = torch.tensor([[0.0, 2.0, 4.0, 6.0], [1.0, 1.0, 3.0, 3.0]])
    _, mean, scale = evaluated("native_layer_norm", x, normalized_shape=(4,), eps=0.0)
    torch.testing.assert_close(mean, torch.tensor([[3.0], [2.0]]))
    torch.testing.assert_close(scale, torch.tensor([[5.0**-0.5], [1.0]]))
    _, mean, scale = evaluated("native_group_norm", x, group=2, eps=0.0)
    torch.testing.assert_close(mean, torch.tensor([[1.0, 5.0], [1.0, 3.0]]))
    _, mean, scale = evaluated("native_batch_norm_batch_stats", x, momentum=0.1, eps=0.75)
    torch.testing.assert_close(mean, torch.tensor([0.5, 1.5, 3.5, 4.5]))
    torch.testing.assert_close(scale, torch.tensor([1.0, 1.0, 1.0, 3.0**-0.5]))


def test_training_moves_copies_of_the_running_statistics() -> None:
    x, mean, var = torch.tensor([[0.0], [4.0]]), torch.tensor([1.0]), torch.tensor([2.0])
    _, own_mean, _, new_mean, new_var = evaluated("native_batch_norm_training", x, mean, var, momentum=0.5, eps=0.1)
    assert (own_mean.tolist(), new_mean.tolist(), new_var.tolist()) == ([2.0], [1.5], [5.0])
    assert (mean.tolist(), var.tolist()) == ([1.0], [2.0])


@pytest.mark.parametrize(
    ("op", "p", "kept", "mask"),
    [
        ("native_dropout", 0.5, [3.0, -2.0], [True, True]),
        ("native_dropout_training", 0.0, [3.0, -2.0], [True, True]),
        ("native_dropout_training", 1.0, [0.0, 0.0], [False, False]),
    ],
)
def test_dropout_gives_the_mask_of_what_it_keeps(op: str, p: float, kept: list[float], mask: list[bool]) -> None:
    result, found = evaluated(op, torch.tensor([3.0, -2.0]), p=p)
    assert (result.tolist(), found.tolist()) == (kept, mask)


@pytest.mark.parametrize("op", native.OPS, ids=lambda op: op.name)
def test_every_result_is_read_and_is_an_output_in_some_case(op: Op) -> None:
    count, read, out = 0, set(), set()
    for number in range(60):
        graph = generate(NumpySource(3, number), Limits(max_nodes=3), (op, TABLE["neg"], TABLE["sum"]), motifs=()).graph
        operands = {name for node in graph.nodes for name in node.args}
        for node in graph.nodes:
            if node.op == op.name:
                count = len(node.results)
                read |= {place for place, value in enumerate(node.results) if value.name in operands}
                out |= {place for place, value in enumerate(node.results) if value.name in graph.outputs}
    assert read == out == set(range(count))
