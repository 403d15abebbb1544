"""Normalisations."""

from __future__ import annotations

from conformance import Table

FIVE = "float32[2,3,4] float32[3] float32[3] float32[3] float32[3]"
MIXED = "float16[2,3,4] float32[3] float32[3] float16[3] float16[3]"
EMBEDDED = "int32[2,5] float32[9,4] float32[5,4] float32[4] float32[4]"
PLAIN = {"inputs": (True, False, True, True, False, True, True, False, False)}


REFUSED: Table = [
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

RESULTS: Table = [
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
