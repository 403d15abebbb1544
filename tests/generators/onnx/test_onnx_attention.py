"""Attention in ONNX: result types, refusals, and drawn cases in both readers."""

from __future__ import annotations

import pytest
from onnx_calls import inferred, invalid_case

from generators.graph import Invalid

FOUR = "float32[2,4,3,8] float32[2,2,5,8] float32[2,2,5,6]"
THREE = "float16[2,3,32] float16[2,5,16] float16[2,5,12]"
PAST = f"{FOUR} float32[2,2,1,8] float32[2,2,1,6]"
WITH_PAST = {"inputs": (True, True, True, False, True, True)}
ALL = {"outputs": (True, True, True, True)}

TYPES = [
    (FOUR, {}, "float32[2,4,3,6]"),
    (f"{FOUR} bool[4,3,5]", {}, "float32[2,4,3,6]"),
    (THREE, {"q_num_heads": 4, "kv_num_heads": 2}, "float16[2,3,24]"),
    (PAST, {**WITH_PAST, **ALL}, "float32[2,4,3,6] float32[2,2,6,8] float32[2,2,6,6] float32[2,4,3,6]"),
]

REFUSED = [
    (FOUR, {"q_num_heads": 4}, "q_num_heads is for rank 3"),
    (THREE, {}, "q_num_heads is needed"),
    (THREE, {"q_num_heads": 5, "kv_num_heads": 2}, "does not split into 5 heads"),
    (FOUR.replace("[2,4,", "[2,3,"), {}, "do not fit"),
    (f"{FOUR} float32[3,4]", {}, "is no mask for"),
    (f"{FOUR} float16[3,5]", {}, "has another dtype than"),
    (PAST, WITH_PAST, "the present is wanted"),
    (FOUR, {"outputs": (True, True, False, False)}, "are wanted together"),
    (FOUR, {"softcap": 1.0, **ALL}, "the readers disagree"),
    (FOUR.replace("float32", "float64"), {}, "Q cannot be float64"),
    (FOUR, {"scale": -1.0}, "scale must be positive"),
]


@pytest.mark.parametrize(("types", "given", "result"), TYPES)
def test_result_types(types: str, given: dict[str, object], result: str) -> None:
    assert inferred("Attention-23", types, **given) == result


@pytest.mark.parametrize(("types", "given", "message"), REFUSED)
def test_refusals(types: str, given: dict[str, object], message: str) -> None:
    with pytest.raises(Invalid) as error:
        inferred("Attention-23", types, **given)
    assert message in str(error.value)


def test_version_25_is_a_function_that_is_wrong_in_float64() -> None:
    assert inferred("Attention-25", FOUR) == "float32[2,4,3,6]"
    with pytest.raises(Invalid, match="no attention in float64"):
        inferred("Attention-25", FOUR.replace("float32", "float64"))


def test_lengths_of_keys_come_with_version_24() -> None:
    given = {"inputs": (True, True, True, False, False, False, True)}
    assert inferred("Attention-24", f"{FOUR} int64[2]", **given) == "float32[2,4,3,6]"
    with pytest.raises(Invalid, match="exclude each other"):
        inferred("Attention-24", f"{FOUR} int64[2]", **given, **ALL)


def test_drawn_cases_are_valid_in_both_readers() -> None:
    assert invalid_case("Attention", 60) == ""
