"""Every motif fits an empty graph at each opset that has its operators, and its cases are valid files."""

from __future__ import annotations

import pytest

from generators.builder import Builder
from generators.check import check
from generators.choice import NumpySource
from generators.onnx.motifs import MOTIFS, Motif
from generators.onnx.schema import newest_opset
from generators.random_graph import with_values


@pytest.mark.parametrize("motif", MOTIFS, ids=lambda motif: motif.name)
def test_every_draw_of_a_motif_fits_an_empty_graph(motif: Motif) -> None:
    for opset in range(motif.since, newest_opset() + 1):
        for seed in range(4):
            builder = Builder(NumpySource(seed), opset=opset)
            assert motif.grow(builder), (opset, seed)
            check(with_values(builder))


def test_a_motif_does_not_fit_an_older_opset() -> None:
    builder = Builder(NumpySource(0), opset=9)
    late = next(motif for motif in MOTIFS if motif.since > 9)
    assert not late.grow(builder)
    assert not builder.nodes
