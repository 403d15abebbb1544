"""Normalisations: the mask of embeddings."""

from __future__ import annotations

import pytest

from generators.builder import Limits
from generators.choice import NumpySource
from generators.onnx.random_graph import generate
from generators.onnx.schema import schemas
from generators.table import TABLE

ONE = Limits(max_nodes=1)
NAMES = [item.name for item in schemas()["EmbedLayerNormalization"][0].inputs]


@pytest.mark.slow
def test_the_mask_of_embeddings_is_0_or_1() -> None:
    """onnxruntime counts the ones of a mask, so what it does with a 2 is nobody's rule."""
    highest = set()
    for seed in range(200):
        graph = generate(NumpySource(seed), ONE, [TABLE["EmbedLayerNormalization-1"]], symbolic=False).graph
        (node,) = graph.nodes
        wanted = node.attrs["inputs"]
        assert isinstance(wanted, tuple)
        given = [name for name, there in zip(NAMES, wanted, strict=True) if there]
        inputs = {item.value.name: item for item in graph.inputs}
        if "mask" in given:
            highest.add(inputs[node.args[given.index("mask")]].domain.high)
    assert highest == {1}
