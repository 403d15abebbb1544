"""Each row is drawn with symbolic sizes and with operands that other rows computed, except for the rows listed here."""

from __future__ import annotations

from contextlib import suppress

import pytest

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Invalid
from generators.op import Op
from generators.torch.ops import OPS
from generators.torch.random_graph import generate

pytestmark = pytest.mark.slow

ATTEMPTS = 40

NO_OPERANDS = frozenset(
    {
        *("full", "zeros", "ones", "empty", "constant", "scalar_tensor", "arange", "linspace", "logspace", "eye"),
        *("tril_indices", "triu_indices", "no_noise"),
        *(f"{name}_window" for name in ("hann", "hamming", "blackman", "bartlett", "kaiser")),
    }
)
"""Their sizes are attributes, and attributes cannot be symbolic."""

BATCH_IN_AN_ATTRIBUTE = frozenset({"affine_grid"})

NO_TIES = frozenset(
    {
        *("sort", "argsort", "topk", "kthvalue", "median_dim", "nanmedian_dim", "cummax", "cummin", "isin_unique"),
        *(f"{kind}max_pool{nd}d_with_indices" for kind in ("", "adaptive_") for nd in (1, 2, 3)),
        *(f"max_unpool{nd}d" for nd in (1, 2, 3)),
    }
)
"""They read inputs without equal elements: PyTorch does not document which of two equal elements they return."""

ODD_OPERANDS = frozenset({"affine_grid", "assert_async"})
"""Their operands are seldom computed by chance, so that it may happen here or not: the matrices of affine maps, and a
tensor that is true."""


def is_ever_symbolic(op: Op) -> bool:
    for draw in range(ATTEMPTS):
        with suppress(Invalid):  # no drawn operands fit
            source = NumpySource(27, OPS.index(op), draw)
            graph = generate(source, Limits(max_nodes=1), [op], symbolic=True, motifs=()).graph
            if graph.symbols and op.name in graph.ops:
                return True
    return False


def ever_reads_another(op: Op) -> bool:
    for draw in range(ATTEMPTS):
        source = NumpySource(28, OPS.index(op), draw)
        builder = Builder(source)
        for _ in range(6):
            builder.grow(source.choice(OPS))
        if any(builder.grow(op, connected=True) for _ in range(6)):
            return True
    return False


def test_every_row_but_those_without_symbolic_sizes_is_drawn_with_them() -> None:
    assert {op.name for op in OPS if not is_ever_symbolic(op)} == NO_OPERANDS | BATCH_IN_AN_ATTRIBUTE


def test_every_row_but_those_that_must_not_reads_computed_values() -> None:
    never = {op.name for op in OPS if op.name not in ODD_OPERANDS and not ever_reads_another(op)}
    assert never == NO_OPERANDS | NO_TIES
