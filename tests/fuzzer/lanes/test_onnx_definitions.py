"""The interpreter reads legal calls that the one of the onnx package refuses or misreads: exact results, as onnxruntime
gives them."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest
from onnx import helper

from fuzzer.children.own_faults import is_own_fault
from fuzzer.lanes.onnx.definitions.legal import NotEvaluated
from fuzzer.lanes.onnx.session import ERRORS, NotKnown
from fuzzer.lanes.onnx.witnesses import by_interpreter, by_onnxruntime

INTS = [10, 11, 12, 13]

# operator, opset, the first input, other inputs, attributes, outputs (empty: not read), the results
CALLS = [
    ("Slice", 13, INTS, [[-9], [-9], [0], [-1]], {}, ["y"], [[10]]),
    ("Slice", 13, INTS, [[3], [-5], None, [-2]], {}, ["y"], [[13, 11]]),
    ("Slice", 1, INTS, [], {"starts": [1], "ends": [-1]}, ["y"], [[11, 12]]),
    ("Pad", 21, INTS, [[-1, 2]], {}, ["y"], [[11, 12, 13, 0, 0]]),
    ("Pad", 21, INTS, [[-1, 1], np.array(7), [-1]], {}, ["y"], [[11, 12, 13, 7]]),
    ("Pad", 21, INTS, [[0, -3]], {"mode": "reflect"}, ["y"], [[10]]),
    ("GatherElements", 13, [[1, 2], [3, 4], [5, 6]], [[[2], [-3]]], {"axis": 0}, ["y"], [[[5], [1]]]),
    ("Scatter", 9, INTS, [[2, 0], [7, 8]], {}, ["y"], [[8, 11, 7, 13]]),
    ("Unique", 13, [5, 3, 5, 1], [], {"sorted": 0}, ["", "", "inverse", "counts"], [[0, 1, 0, 2], [2, 1, 1]]),
    ("Unique", 13, [[5, 3], [1, 5]], [], {"sorted": 0, "axis": 1}, ["", "", "inverse"], [[0, 1]]),
    ("ReduceSumSquare", 13, [2, 3], [], {"keepdims": 0}, ["y"], [13]),
    ("ReduceLogSumExp", 18, [np.inf], [], {"keepdims": 0}, ["y"], [np.inf]),
    ("ReduceLogSumExp", 18, 3.0, [], {}, ["y"], [3.0]),
]


@pytest.mark.parametrize("call", CALLS, ids=[f"{call[0]}-{place}" for place, call in enumerate(CALLS)])
def test_both_readers_give_the_result(call: tuple) -> None:
    name, opset, first, others, attributes, outputs, wanted = call
    dtype = np.float32 if name == "ReduceLogSumExp" else np.int32 if name == "ReduceSumSquare" else np.int64
    arrays = {"x": np.array(first, dtype)}
    arrays |= {f"i{at}": np.array(each, np.int64) for at, each in enumerate(others) if each is not None}
    names = ["x", *("" if each is None else f"i{at}" for at, each in enumerate(others))]
    named = [each or ("unread" if name == "Unique" and not at else "") for at, each in enumerate(outputs)]
    node = helper.make_node(name, names, named, **attributes)
    read = [each for each in outputs if each]
    model = helper.make_model(
        helper.make_graph(
            [node],
            "graph",
            [helper.make_tensor_value_info(key, _element(each), each.shape) for key, each in arrays.items()],
            [helper.make_tensor_value_info(key, _element(arrays["x"]), None) for key in read],
        ),
        opset_imports=[helper.make_opsetid("", opset)],
        ir_version=10 if opset > 20 else 8,
    )
    for reader in (by_onnxruntime, by_interpreter):
        assert [array.tolist() for array in reader(model, arrays)] == wanted, reader.__name__


def test_a_larger_output_shape_of_a_transposed_convolution_has_zeros_at_the_end() -> None:
    """As in the test of the onnx package, `test_convtranspose_output_shape`."""
    x, w = np.ones((1, 1, 2), np.float32), np.ones((1, 1, 2), np.float32)
    node = helper.make_node("ConvTranspose", ["x", "w"], ["y"], output_shape=[6], strides=[3])
    values = [helper.make_tensor_value_info(name, 1, [1, 1, 2]) for name in ("x", "w")]
    graph = helper.make_graph([node], "graph", values, [helper.make_tensor_value_info("y", 1, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    for reader in (by_onnxruntime, by_interpreter):
        (y,) = reader(model, {"x": x, "w": w})
        assert y.tolist() == [[[1, 1, 0, 1, 1, 0]]], reader.__name__


def test_a_file_that_is_newer_than_onnxruntime_is_not_known() -> None:
    x, y = (helper.make_tensor_value_info(name, 1, [2]) for name in ("x", "y"))
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "graph", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)], ir_version=10)
    with pytest.raises(NotKnown, match=r"^ONNX Runtime only \*guarantees\* support"):
        by_onnxruntime(model, {"x": np.ones(2, np.float32)})
    model.ir_version = 99
    with pytest.raises(NotKnown, match="Unsupported model IR version: 99"):
        by_onnxruntime(model, {"x": np.ones(2, np.float32)})


def test_a_mask_that_is_shorter_than_the_keys_is_not_known() -> None:
    """ONNX adds columns of minus infinity to it: these keys count for nothing."""
    generator = np.random.default_rng(0)
    q, k, v = (generator.random((1, 1, rows, 4), np.float32) for rows in (2, 3, 3))
    arrays = {"q": q, "k": k, "v": v, "mask": np.zeros((2, 2), np.float32)}
    values = [helper.make_tensor_value_info(name, 1, array.shape) for name, array in arrays.items()]
    graph = helper.make_graph(
        [helper.make_node("Attention", list(arrays), ["y"])],
        "graph",
        values,
        [helper.make_tensor_value_info("y", 1, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)
    with pytest.raises(
        NotKnown, match=r"^inconsistent total_sequence_length \(between attn_mask and past_key and past_value\)$"
    ):
        by_onnxruntime(model, arrays)
    (y,) = by_interpreter(model, arrays)
    scores = np.exp(q[0, 0] @ k[0, 0, :2].T / 2)
    wanted = scores / scores.sum(1, keepdims=True) @ v[0, 0, :2]
    np.testing.assert_allclose(y[0, 0], wanted, rtol=1e-5)
    with pytest.raises(ERRORS, match="invalid dimensions for input: k"):
        by_onnxruntime(model, {**arrays, "k": k[:, :, :2]})


def _element(array: np.ndarray) -> int:
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def test_an_output_that_is_left_out_is_no_input_that_is_left_out() -> None:
    """The interpreter of onnx kept the indices of Unique under the empty name, and gave them to Slice for axes."""
    graph = onnx.parser.parse_graph(
        """agraph (int64[3] x) => (int64[N] inverse, int64[M] part)
        <int64[1] start = {0}, int64[1] end = {3}, int64[1] step = {2}> {
            unread, "", inverse = Unique(x)
            part = Slice(x, start, end, "", step)
        }"""
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    found = by_interpreter(model, {"x": np.array([5, 3, 5], np.int64)})
    assert [array.tolist() for array in found] == [[1, 0, 1], [5, 5]]


def test_windows_that_would_take_gigabytes_are_refused() -> None:
    """A kernel as large as a large tensor, which is padded by as much: 75 GB of places."""
    size = 100_003
    node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[size], pads=[size - 1, size - 1])
    values = [helper.make_tensor_value_info(name, 1, None) for name in "xy"]
    model = helper.make_model(
        helper.make_graph([node], "graph", values[:1], values[1:]),
        opset_imports=[helper.make_opsetid("", 12)],
        ir_version=8,
    )
    with pytest.raises(NotEvaluated, match="windows of 20,001,100,015 elements, "):
        by_interpreter(model, {"x": np.zeros((1, 1, size), np.float32)})


@pytest.mark.parametrize("image", [-1, 2])
def test_an_index_out_of_bounds_is_no_fault_of_the_definition(image: int) -> None:
    x, regions = np.zeros((2, 1, 3, 3), "float32"), np.array([[image, 0, 0, 2, 2]], "float32")
    node = helper.make_node("MaxRoiPool", ["x", "rois"], ["y"], pooled_shape=[1, 1])
    values = [helper.make_tensor_value_info(name, 1, None) for name in ("x", "rois", "y")]
    model = helper.make_model(
        helper.make_graph([node], "graph", values[:2], values[2:]),
        opset_imports=[helper.make_opsetid("", 12)],
        ir_version=8,
    )
    with pytest.raises(NotEvaluated, match=f"^indices from {image} to {image} into 2 rows$") as raised:
        by_interpreter(model, {"x": x, "rois": regions})
    assert not is_own_fault(raised.value)
