"""Arrays become tensors and arrays again without a change, and inputs have the memory layouts of the case."""

from __future__ import annotations

import traceback

import numpy as np
import pytest
import torch
from graphs_by_hand import case_of

from fuzzer.lanes import ONNXRUNTIME
from fuzzer.lanes.base.arrays import from_torch, laid_out, to_torch
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.onnx.runtime import OnnxRuntimeLane
from fuzzer.lanes.torch.prepared import model_of, tensors_of
from generators.graph import Array, Case, DType, Layout

BFLOAT16 = DType.BFLOAT16.numpy


def rounded(dtype: str, layout: Layout = Layout.CONTIGUOUS) -> Case:
    """x0 of this dtype, cast to float32."""
    return case_of({"x0": f"{dtype}[2,3] {layout}"}, [("v0", "to", "x0", {"dtype": "float32"})], "v0")


def same(a: Array, b: Array) -> bool:
    return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


# --- arrays and tensors


@pytest.mark.parametrize("dtype", DType)
def test_arrays_of_every_dtype_become_tensors_and_arrays_again(dtype: DType) -> None:
    bits = np.random.default_rng(0).integers(0, 256, 6 * dtype.numpy.itemsize, np.uint8)
    array = (bits % 2 if dtype is DType.BOOL else bits).view(dtype.numpy).reshape(2, 3)
    tensor = to_torch(array)
    assert (str(tensor.dtype), tensor.shape) == (f"torch.{dtype}", (2, 3))
    assert same(from_torch(tensor), array)


@pytest.mark.parametrize("dtype", [np.float32, BFLOAT16, np.int8])
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1)])
def test_scalars_and_empty_arrays(dtype: np.dtype, shape: tuple[int, ...]) -> None:
    array = np.ones(shape, dtype)
    tensor = to_torch(array)
    assert tensor.stride() == torch.empty(shape).stride()
    assert same(from_torch(tensor), array)


@pytest.mark.parametrize("dtype", [np.float32, BFLOAT16])
def test_a_tensor_is_contiguous_with_memory_of_its_own(dtype: np.dtype) -> None:
    whole = np.arange(12).reshape(3, 4).astype(dtype)
    for array in (whole, whole.T, whole[::-1, ::2], np.broadcast_to(whole[:1], (3, 4))):
        before = array.copy()
        tensor = to_torch(array)
        assert tensor.is_contiguous()
        assert same(from_torch(tensor), before)
        tensor.zero_()
        assert same(array, before)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_tensors_of_any_layout_come_back(dtype: torch.dtype) -> None:
    for layout in Layout:
        array = from_torch(laid_out(torch.ones(2, 3, dtype=dtype), layout))
        assert array.flags.c_contiguous
        assert array.astype(np.float32).tolist() == [[1.0] * 3] * 2


# --- layouts


@pytest.mark.parametrize(
    ("layout", "strides"),
    [
        (Layout.CONTIGUOUS, (12, 4, 1)),
        (Layout.TRANSPOSED, (1, 2, 6)),
        (Layout.STRIDED, (24, 8, 2)),
        (Layout.EXPANDED, (0, 4, 1)),
    ],
)
def test_strides(layout: Layout, strides: tuple[int, ...]) -> None:
    slices = torch.arange(12.0).reshape(1, 3, 4).expand(2, 3, 4).contiguous()
    tensor = laid_out(slices, layout)
    assert tensor.stride() == strides
    assert torch.equal(tensor, slices)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (1, 5, 1)])
@pytest.mark.parametrize("layout", Layout)
def test_layouts_of_odd_shapes(layout: Layout, shape: tuple[int, ...]) -> None:
    tensor = torch.ones(shape)
    assert torch.equal(laid_out(tensor, layout), tensor)


@pytest.mark.parametrize("layout", Layout)
def test_inputs_of_a_case_are_laid_out_anew_each_time(layout: Layout) -> None:
    case = rounded("float32", layout)
    prepared = PreparedCase(case, lambda stage: None)
    (one,), (other,) = tensors_of(prepared), tensors_of(prepared)
    expected = laid_out(torch.from_numpy(case.tensors["x0"]), layout)
    assert one.stride() == other.stride() == expected.stride()
    assert torch.equal(one, expected)
    assert one.data_ptr() != other.data_ptr()


def test_parameters_are_not_among_the_inputs() -> None:
    inputs = {"b0": "float32[2]", "x0": "float32[2]", "w0": "float32[2]"}
    numbers = {"b0": 1, "x0": 2, "w0": 3}
    case = case_of(
        inputs,
        [("v0", "add", "x0 b0"), ("v1", "add", "v0 w0")],
        "v1",
        lambda item: np.full(2, numbers[item.value.name], np.float32),
    )
    prepared = PreparedCase(case, lambda stage: None)
    model = model_of(prepared)
    assert [(name, p.tolist()) for name, p in model.named_parameters()] == [("w0", [3.0, 3.0])]
    assert [(name, b.tolist()) for name, b in model.named_buffers()] == [("b0", [1.0, 1.0])]
    assert not model.training
    assert model is not model_of(prepared)
    (x0,) = tensors_of(prepared)
    assert model(x0)[0].tolist() == [6.0, 6.0]


def test_a_failure_that_lanes_share_has_the_traceback_of_its_first_time() -> None:
    """Without the frames of the lanes that got it before."""
    prepared = PreparedCase(case_of({"x0": "float32[2]"}, [("v0", "neg", "x0")], "v0"), lambda stage: None)

    def fails() -> None:
        raise ValueError("no")

    def depth() -> int:
        with pytest.raises(ValueError, match="no") as raised:
            prepared.once("part", fails)
        return len(list(traceback.walk_tb(raised.value.__traceback__)))

    depths = [depth() for _ in range(5)]
    assert set(depths[1:]) == {depths[0] + 1}  # the line that raises it again


# --- onnxruntime


@pytest.mark.parametrize("dtype", DType)
def test_onnxruntime_does_not_accept_bfloat16_inputs(dtype: DType) -> None:
    reason = OnnxRuntimeLane().supports(rounded(dtype), ONNXRUNTIME)
    expected = "onnxruntime neither accepts nor returns numpy arrays of bfloat16"
    assert reason == (expected if dtype is DType.BFLOAT16 else None)


def test_onnxruntime_does_not_return_bfloat16_but_may_compute_in_it() -> None:
    there, back = ("v0", "to", "x0", {"dtype": "bfloat16"}), ("v1", "to", "v0", {"dtype": "float32"})
    inside, outside = (case_of({"x0": "float32[2]"}, [there, back], outputs) for outputs in ("v1", "v1 v0"))
    lane = OnnxRuntimeLane()
    assert lane.supports(inside, ONNXRUNTIME) is None
    assert lane.supports(outside, ONNXRUNTIME) is not None
