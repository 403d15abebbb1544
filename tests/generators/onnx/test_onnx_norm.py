"""Normalisations in ONNX: result types, refusals, and drawn cases in both readers."""

from __future__ import annotations

import pytest
from onnx_calls import inferred, invalid_case

from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Invalid
from generators.onnx.ops.operands import float32
from generators.onnx.random_graph import generate
from generators.onnx.schema import schemas
from generators.table import TABLE

FIVE = "float32[2,3,4] float32[3] float32[3] float32[3] float32[3]"
MIXED = "float16[2,3,4] float32[3] float32[3] float16[3] float16[3]"
ONE = Limits(max_nodes=1)
NAMES = [item.name for item in schemas()["EmbedLayerNormalization"][0].inputs]
EMBEDDED = "int32[2,5] float32[9,4] float32[5,4] float32[4] float32[4]"
PLAIN = {"inputs": (True, False, True, True, False, True, True, False, False)}

TYPES = [
    ("BatchNormalization-9", FIVE, {}, "float32[2,3,4]"),
    ("BatchNormalization-7", "float32[2,3,4]" + 4 * " float32[3,4]", {"spatial": 0}, "float32[2,3,4]"),
    (
        "BatchNormalization-15",
        MIXED,
        {"training_mode": 1, "outputs": (True, True, True)},
        "float16[2,3,4] float16[3] float16[3]",
    ),
    (
        "LayerNormalization-17",
        "float16[2,3,4] float16[3,4]",
        {"axis": 1, "outputs": (True, False, True)},
        "float16[2,3,4] float32[2,1,1]",
    ),
    ("RMSNormalization-23", "float64[2,3] float64[3]", {"stash_type": 11, "epsilon": 0.5}, "float64[2,3]"),
    ("GroupNormalization-21", "float32[2,4] float32[4] float32[4]", {"num_groups": 2}, "float32[2,4]"),
    ("InstanceNormalization-6", "float32[0,4,2] float32[4] float32[4]", {}, "float32[0,4,2]"),
    ("MeanVarianceNormalization-13", "float32[2,3]", {"axes": (-1,)}, "float32[2,3]"),
    ("LRN-13", "float16[2,3,4,5]", {"size": 3}, "float16[2,3,4,5]"),
    (
        "SkipLayerNormalization-1",
        "float32[2,3,4] float32[1,3,4] float32[4]",
        {"outputs": (True, True, False, True)},
        "float32[2,3,4] float32[2,3,1] float32[2,3,4]",
    ),
    (
        "EmbedLayerNormalization-1",
        EMBEDDED,
        {**PLAIN, "outputs": (True, True, True)},
        "float32[2,5,4] int32[2] float32[2,5,4]",
    ),
]

REFUSED = [
    ("BatchNormalization-9", FIVE.replace("float32[3]", "float32[4]"), {}, "scale must be [3]"),
    ("BatchNormalization-14", MIXED, {}, "scale must be float16"),
    ("BatchNormalization-15", FIVE, {"training_mode": 1}, "has all results in training"),
    ("BatchNormalization-15", FIVE, {"outputs": (True, True, False)}, "a result does not exist"),
    ("LayerNormalization-17", "float64[3] float64[3]", {"epsilon": 0.5}, "would be in float32"),
    ("LayerNormalization-17", "float32[2,3] float32[2]", {}, "do not broadcast"),
    ("RMSNormalization-23", "float64[3] float64[3]", {"epsilon": 0.5}, "has stash_type 11"),
    ("RMSNormalization-23", "float64[3] float64[3]", {}, "the default of epsilon has another value in float64"),
    ("RMSNormalization-23", "float16[3] float32[3]", {}, "has another dtype"),
    ("GroupNormalization-21", "float32[2,4] float32[4] float32[4]", {"num_groups": 3}, "do not split into 3 groups"),
    ("InstanceNormalization-6", "float32[2,4,1] float32[4] float32[4]", {}, "takes rank 3 or more"),
    ("MeanVarianceNormalization-13", "float32[2,3]", {"axes": (0, -2)}, "no different dimensions"),
    ("MeanVarianceNormalization-13", "float32[2,3,4,5]", {}, "axes must be given"),
    ("MeanVarianceNormalization-13", "float32[1,3]", {"axes": (0,)}, "there is nothing to normalise"),
    ("LRN-13", "float32[2,3,4,5]", {"size": 2}, "size 2 is not odd"),
    ("SkipLayerNormalization-1", "float32[2,3,4] float32[2,1,4] float32[4]", {}, "does not fit"),
    ("EmbedLayerNormalization-1", EMBEDDED, {**PLAIN, "outputs": (True, False, False)}, "has the result mask_index"),
]


@pytest.mark.parametrize(("row", "types", "given", "result"), TYPES)
def test_result_types(row: str, types: str, given: dict[str, object], result: str) -> None:
    assert inferred(row, types, **given) == result


@pytest.mark.parametrize(("row", "types", "given", "message"), REFUSED)
def test_refusals(row: str, types: str, given: dict[str, object], message: str) -> None:
    with pytest.raises(Invalid) as error:
        inferred(row, types, **given)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "title",
    [
        "BatchNormalization",
        "LayerNormalization",
        "RMSNormalization",
        "GroupNormalization",
        "InstanceNormalization",
        "LRN",
        "SkipLayerNormalization",
        "EmbedLayerNormalization",
    ],
)
def test_drawn_cases_are_valid_in_both_readers(title: str) -> None:
    """With a very small epsilon, the rounding of a mean of equal numbers decides about the result."""
    assert invalid_case(title, 20, lambda attrs: attrs.get("epsilon") != float32(1e-12)) == ""


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
