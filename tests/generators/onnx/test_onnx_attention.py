"""Versions of Attention."""

from __future__ import annotations

import pytest
from conformance.onnx.attention import ALL, FOUR
from onnx_calls import inferred

from generators.graph import Invalid


def test_version_25_is_a_function_that_is_wrong_in_float64() -> None:
    assert inferred("Attention-25", FOUR) == "float32[2,4,3,6]"
    with pytest.raises(Invalid, match="no attention in float64"):
        inferred("Attention-25", FOUR.replace("float32", "float64"))


def test_lengths_of_keys_come_with_version_24() -> None:
    given = {"inputs": (True, True, True, False, False, False, True)}
    assert inferred("Attention-24", f"{FOUR} int64[2]", **given) == "float32[2,4,3,6]"
    with pytest.raises(Invalid, match="exclude each other"):
        inferred("Attention-24", f"{FOUR} int64[2]", **given, **ALL)
