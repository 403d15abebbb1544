"""Every motif fits an empty graph at each opset that has its operators, and its cases are valid files."""

from __future__ import annotations

import pytest

from generators.builder import Builder
from generators.check import check
from generators.choice import NumpySource
from generators.domain import within
from generators.graph import Profile
from generators.onnx.motifs import MOTIFS, Motif
from generators.onnx.schema import newest_opset
from generators.random_graph import with_values


@pytest.mark.exhaustive
@pytest.mark.parametrize("motif", MOTIFS, ids=lambda motif: motif.name)
def test_every_draw_of_a_motif_fits_an_empty_graph(motif: Motif) -> None:
    for opset in range(motif.since, newest_opset() + 1):
        for seed in range(4):
            builder = Builder(NumpySource(seed), dialect="onnx", opset=opset)
            assert motif.grow(builder), (opset, seed)
            check(with_values(builder))


def test_a_motif_does_not_fit_an_older_opset() -> None:
    builder = Builder(NumpySource(0), dialect="onnx", opset=9)
    late = next(motif for motif in MOTIFS if motif.since > 9)
    assert not late.grow(builder)
    assert not builder.nodes


@pytest.mark.parametrize("profile", [Profile.NORMAL, Profile.SPECIAL])
def test_a_chain_of_casts_converts_floats_to_integers_in_range(profile: Profile) -> None:
    """A conversion of infinity is undefined: onnxruntime gives the least integer, and others give 0."""
    motif = next(each for each in MOTIFS if each.name == "casts")
    casts = 0
    for seed in range(60):
        builder = Builder(NumpySource(seed), profile=profile, dialect="onnx", opset=18)
        assert motif.grow(builder)
        bounded = {item.value.name for item in builder.inputs if item.domain == within(-100, 100)}
        bounded |= {value.name for node in builder.nodes if node.op.startswith("Clip") for value in node.results}
        types = {value.name: value.type.dtype for node in builder.nodes for value in node.results}
        types |= {item.value.name: item.value.type.dtype for item in builder.inputs}
        for node in builder.nodes:
            if node.op.startswith("Cast") and types[node.args[0]].is_float and not node.results[0].type.dtype.is_float:
                assert node.args[0] in bounded, seed
                casts += 1
    assert casts > 20
