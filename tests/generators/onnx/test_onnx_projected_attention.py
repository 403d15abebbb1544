"""Attention of com.microsoft: what is drawn, and what a query sees."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

from fuzzer.lanes.onnx.witnesses import by_interpreter, by_onnxruntime
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Array
from generators.onnx.random_graph import generate
from generators.onnx.rows import ROWS


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
