"""The varied motifs have operands of each rank and dtype, biases of each shape, and open sizes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from generators.builder import Builder, OpenSizes
from generators.choice import NumpySource
from generators.graph import DType, Symbol, TensorType
from generators.torch.motifs import PLAIN_MOTIFS, Motif
from generators.torch.varied_motifs import VARIED_MOTIFS

EACH = pytest.mark.parametrize("motif", VARIED_MOTIFS, ids=lambda motif: motif.name)
DRAWS = 80


def drawn(motif: Motif) -> Iterator[Builder]:
    for seed in range(DRAWS):
        builder = Builder(NumpySource(seed))
        assert motif.grow(builder)
        yield builder


def operands(builder: Builder, *ops: str) -> list[tuple[TensorType, ...]]:
    return [tuple(map(builder.type_of, node.args)) for node in builder.nodes if node.op in ops]


@EACH
def test_each_dtype_is_drawn(motif: Motif) -> None:
    found = {builder.inputs[-1].value.type.dtype for builder in drawn(motif)}
    assert found >= {DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16, DType.FLOAT64}


@EACH
def test_sizes_are_open_in_some_case_that_has_symbols(motif: Motif) -> None:
    opened = 0
    for seed in range(DRAWS):
        builder = Builder(NumpySource(seed), open_sizes=OpenSizes([Symbol("n", 1, 5)], {"n": 5}, [{"n": 1}, {"n": 3}]))
        if motif.grow(builder):
            opened += bool(builder.graph().symbols)
    assert opened > DRAWS // 4


def test_products_have_vectors_matrices_and_batches() -> None:
    (motif,) = (each for each in VARIED_MOTIFS if each.name == "matmul_of_varied_sum")
    ranks = {types[0].rank for builder in drawn(motif) for types in operands(builder, "matmul")}
    assert ranks == {1, 2, 3}


@pytest.mark.parametrize("name", ["varied_linear_stack", "varied_parallel_matmuls", "conv_varied_bias"])
def test_a_bias_has_any_shape_that_broadcasts(name: str) -> None:
    (motif,) = (each for each in VARIED_MOTIFS if each.name == name)
    pairs = [sorted(types, key=lambda t: t.numel) for each in drawn(motif) for types in operands(each, "add")]
    shorter = {large.rank - small.rank for small, large in pairs}
    assert shorter >= {0, 1, 2}
    assert any(small.rank == 0 for small, _ in pairs)
    assert any(small.rank == large.rank and small.sizes != large.sizes for small, large in pairs)


def test_no_two_motifs_share_a_name() -> None:
    names = [motif.name for motif in (*PLAIN_MOTIFS, *VARIED_MOTIFS)]
    assert len(names) == len(set(names))
