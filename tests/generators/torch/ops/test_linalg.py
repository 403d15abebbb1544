"""Matrix products and contractions: drawn calls and source texts."""

from __future__ import annotations

import pytest
import torch

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import DRAWN, Form, Node
from generators.shared.equations import PATTERNS
from generators.torch.ops import TABLE
from generators.torch.source import render

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def drawn(op: str, count: int) -> list[Node]:
    builders = [Builder(NumpySource(4, index), Limits(max_numel=512)) for index in range(count)]
    return [builder.nodes[-1] for builder in builders if builder.grow(TABLE[op])]


def test_matmul_is_drawn_for_all_kinds_of_ranks() -> None:
    builders = [Builder(NumpySource(4, index), Limits(max_numel=512)) for index in range(300)]
    ranks = {
        tuple(min(t.rank, 3) for t in b.graph().arg_types(b.nodes[-1])) for b in builders if b.grow(TABLE["matmul"])
    }
    assert ranks == {(a, c) for a in (1, 2, 3) for c in (1, 2, 3)}


@pytest.mark.slow
def test_equations_of_patterns_and_others_are_drawn() -> None:
    equations = {str(node.attrs["equation"]) for node in drawn("einsum", 1000)}
    assert len(equations.intersection(PATTERNS)) > 0.9 * len(PATTERNS)
    assert len(equations.difference(PATTERNS)) > 100
    assert any("..." in text for text in equations)


@pytest.mark.parametrize("name", ["addmm", "addbmm", "baddbmm", "addmv", "addr"])
def test_sums_of_products_are_drawn_in_place(name: str) -> None:
    in_place = 0
    for index in range(200):
        builder = Builder(NumpySource(5, index), Limits(max_numel=512))
        builder.grow(TABLE["add_scalar"])
        builder.grow(TABLE[name], connected=True)
        in_place += builder.nodes[-1].form is Form.INPLACE
    assert in_place


def test_the_source_of_a_linear_layer() -> None:
    for index in range(200):
        builder = Builder(NumpySource(3, index), Limits(max_numel=512))
        if builder.grow(TABLE["linear"]) and builder.nodes[-1].form is Form.MODULE and len(builder.inputs) == 3:
            break
    x, weight, _ = (item.value.type for item in builder.inputs)
    lines = [line.strip() for line in render(builder.graph()).splitlines()]
    assert f"self.m0 = torch.nn.Linear({x.sizes[-1]}, {weight.sizes[0]})" in lines
    assert "self.m0.weight = torch.nn.Parameter(w0)" in lines
    assert "self.m0.bias = torch.nn.Parameter(w1)" in lines


def test_kron_accepts_operands_of_any_memory_layout() -> None:
    x = torch.ones(6).as_strided((1, 1, 2), (5, 1, 3))
    scope = {"torch": torch, "a0": x, "a1": torch.ones(3, 1, 1).transpose(0, 2)}
    assert eval(TABLE["kron"].render(("a0", "a1"), {}), scope).shape == (1, 1, 6)


def test_einsum_is_drawn_for_every_dtype() -> None:
    dtypes = {result.type.dtype for node in drawn("einsum", 400) for result in node.results}
    assert dtypes == set(DRAWN)
