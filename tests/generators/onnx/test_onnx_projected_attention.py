"""Attention of com.microsoft: result types, refusals, and drawn cases in both readers."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_calls import inferred, invalid_case

from fuzzer.lanes.onnx.witnesses import by_interpreter, by_onnxruntime
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Array, Invalid
from generators.onnx.random_graph import generate
from generators.onnx.rows import ROWS

PLAIN = "float32[2,3,4] float32[4,18] float32[18]"
PAST = f"{PLAIN} float32[2,2,2,5,3]"
WITH_PAST = {"inputs": (True, True, True, False, True, False, False), "outputs": (True, True)}
WITH_SCORES = {"inputs": (True, True, True, False, False, True, False)}

TYPES = [
    (PLAIN, {}, "float32[2,3,6]"),
    (PLAIN, {"outputs": (True, True)}, "float32[2,3,6] float32[2,2,2,3,3]"),
    (PLAIN, {"qkv_hidden_sizes": (4, 4, 10)}, "float32[2,3,10]"),
    (PAST, WITH_PAST, "float32[2,3,6] float32[2,2,2,8,3]"),
    (f"{PLAIN} int32[2]", {}, "float32[2,3,6]"),
    (f"{PLAIN} int32[4]", {}, "float32[2,3,6]"),
    (f"{PLAIN} int32[2,3]", {}, "float32[2,3,6]"),
    (f"{PLAIN} int32[2,3,3]", {}, "float32[2,3,6]"),
    (f"{PLAIN} float32[1,2,3,3]", WITH_SCORES, "float32[2,3,6]"),
]

REFUSED = [
    ("float32[2,3,4] float32[4,18]", {}, "ends the process without a bias"),
    (PLAIN, {"num_heads": 4}, "6 and 6 are not 4 heads"),
    (PLAIN, {"qkv_hidden_sizes": (4, 6, 8)}, "sizes of float32[4,18] are wrong"),
    (PLAIN, {"qkv_hidden_sizes": (6, 6)}, "has 3 sizes"),
    (PLAIN, {"qkv_hidden_sizes": (4, 4, 10), "outputs": (True, True)}, "the present needs keys and values of one size"),
    (PAST, {**WITH_PAST, "outputs": (True, False)}, "the present is wanted"),
    (f"{PLAIN} int32[8]", {}, "int32[8] is no mask of 3 keys"),
    (f"{PLAIN} int32[2,1,3,3]", {}, "is no mask of 3 keys"),
    (f"{PLAIN} float32[2,3,3,3]", WITH_SCORES, "is no bias of scores [2, 2, 3, 3]"),
    (PLAIN, {"do_rotary": 1}, "no kernel for do_rotary"),
    (PLAIN, {"past_present_share_buffer": 1}, "no kernel for past_present_share_buffer"),
    (PLAIN, {"scale": 0.0}, "scale must be positive"),
]


@pytest.mark.parametrize(("types", "given", "result"), TYPES)
def test_result_types(types: str, given: dict[str, object], result: str) -> None:
    assert inferred("Attention-1", types, **{"num_heads": 2, **given}) == result


@pytest.mark.parametrize(("types", "given", "message"), REFUSED)
def test_refusals(types: str, given: dict[str, object], message: str) -> None:
    with pytest.raises(Invalid) as error:
        inferred("Attention-1", types, **{"num_heads": 2, **given})
    assert message in str(error.value)


def test_drawn_cases_are_valid_in_both_readers() -> None:
    assert invalid_case("Attention", 120) == ""


def test_each_input_is_drawn() -> None:
    drawn: set[tuple[str, int]] = set()
    row = ROWS["Attention-1"]
    for number in range(80):
        graph = generate(NumpySource(3, number), Limits(max_nodes=1), [row], opset=17).graph
        node = graph.nodes[-1]
        call = row.source.call(graph.arg_types(node), node.attrs)
        drawn.update((name, type.rank) for name, type in zip(call.names, call.types, strict=True))
    masks = {("mask_index", rank) for rank in (1, 2, 3)}
    others = {("past", 5), ("attention_bias", 4), ("past_sequence_length", 0)}
    assert drawn == {("input", 3), ("weights", 2), ("bias", 1)} | masks | others


# the mask, what a query may see of three keys
MASKS = [
    (None, "111 111"),
    ([2], "110 110"),
    ([3, 1], "011 011"),
    ([[1, 0, 1]], "101 101"),
    ([[[1, 0, 0], [0, 1, 1]]], "100 011"),
]


@pytest.mark.parametrize("unidirectional", [0, 1])
@pytest.mark.parametrize(("mask", "visible"), MASKS)
def test_a_query_takes_the_mean_of_the_values_that_it_sees(
    mask: list[object] | None, visible: str, unidirectional: int
) -> None:
    """All scores are 0, so that the values of all visible keys have the same weight. One key is in the past."""
    given: dict[str, Array] = {
        "input": np.array([[[10.0], [100.0]]], np.float32),
        "weights": np.array([[0.0, 0.0, 1.0]], np.float32),
        "bias": np.zeros(3, np.float32),
        "past": np.array([0.0, 1.0], np.float32).reshape(2, 1, 1, 1, 1),
    }
    if mask is not None:
        given["mask_index"] = np.array(mask, np.int32)
    values, rows = (1.0, 10.0, 100.0), visible.split()
    if unidirectional:
        rows[0] = rows[0][:2] + "0"
    wanted = [np.mean([value for value, sees in zip(values, row, strict=True) if sees == "1"]) for row in rows]
    names = ["input", "weights", "bias", "mask_index" if mask is not None else "", "past"]
    attributes = {"num_heads": 1, **({"unidirectional": 1} if unidirectional else {})}
    node = helper.make_node("Attention", names, ["y", "present"], "", domain="com.microsoft", **attributes)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in given.items()
    ]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "present")]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(helper.make_graph([node], "g", infos, outputs), opset_imports=opsets, ir_version=8)
    for reader in (by_onnxruntime, by_interpreter):
        y, present = reader(model, given)
        np.testing.assert_allclose(y.reshape(-1), wanted, rtol=1e-6, err_msg=reader.__name__)
        assert present.reshape(-1).tolist() == [0, 0, 0, 1, 10, 100]
