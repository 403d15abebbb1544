"""Lanes that are right by definition compute PyTorch's results, and restore the settings of the process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from graphs_by_hand import Call, case_of

from fuzzer.lanes import HONEST_LANES
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.envelope.layouts import other_layout
from fuzzer.lanes.honest import CXX, HonestLane
from fuzzer.lanes.torch.prepared import model_of, tensors_of
from generators.graph import Array, Case, TensorType
from oracles.lane import LaneSpec

OF_ONNX = [lane for lane in HONEST_LANES if lane.dialect == "onnx"]
OF_TORCH = [lane for lane in HONEST_LANES if lane.dialect == "torch"]
CHEAP = [lane for lane in OF_TORCH if lane.variant not in ("decomposed", "inductor", "threads")]
CALLS: list[Call] = [("v0", "conv2d", "x0 w0"), ("v1", "relu", "v0"), ("v2", "mean", "v1", {"dim": (2, 3)})]


def small() -> Case:
    return case_of({"x0": "float32[2,3,5,4]", "w0": "float32[4,3,2,2]"}, CALLS, "v2")


@pytest.mark.parametrize("lane", CHEAP, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_each_lane_computes_the_same_function(lane: LaneSpec) -> None:
    case = small()
    prepared = PreparedCase(case, Quiet())
    right = model_of(prepared)(*tensors_of(prepared))[0].detach().numpy()
    (array,) = HonestLane().run(prepared, lane, Quiet()).outputs
    np.testing.assert_allclose(array, right, rtol=1e-5)
    assert array.dtype == right.dtype


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4), (2, 3, 4, 5), (1, 2, 3, 4, 5), (0, 3)])
def test_another_layout_has_the_same_numbers(shape: tuple[int, ...]) -> None:
    tensor = torch.arange(float(np.prod(shape))).reshape(shape)
    other = other_layout(tensor)
    assert torch.equal(other, tensor)
    if min(shape, default=1) > 0 and sum(size > 1 for size in shape) > 1:
        assert other.stride() != tensor.stride()


def test_lanes_restore_the_settings_of_the_process() -> None:
    tiny = torch.tensor([1e-39])
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    flush = next(lane for lane in HONEST_LANES if lane.variant == "flush")
    HonestLane().run(PreparedCase(small(), Quiet()), flush, Quiet())
    assert (tiny * 1.0).item() != 0
    assert torch.get_num_threads() == 1
    torch.set_num_threads(before)


def test_threads_are_started_in_a_process_of_their_own() -> None:
    assert [lane.fresh for lane in HONEST_LANES if lane.variant == "threads"] == [True]


def test_an_unknown_variant_raises() -> None:
    with pytest.raises(ValueError, match="no honest lane 'x'"):
        HonestLane().run(PreparedCase(small(), Quiet()), LaneSpec("x", HONEST_LANES[0].engine, variant="x"), Quiet())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_onnxruntime_keeps_the_factor_of_a_product_in_its_dtype(dtype: str) -> None:
    """Its fusion of a factor with a product keeps the factor in float32."""
    calls: list[Call] = [("v0", "mul_scalar", "x0", {"other": 0.1}), ("v1", "matmul", "v0 x1")]
    case = case_of({"x0": f"{dtype}[2,3]", "x1": f"{dtype}[3,2]"}, calls, "v1")
    prepared = PreparedCase(case, Quiet())
    right = model_of(prepared)(*tensors_of(prepared))[0].detach().numpy()
    for lane in OF_TORCH:
        if lane.variant.startswith("ort-"):
            (array,) = HonestLane().run(prepared, lane, Quiet()).outputs
            np.testing.assert_allclose(array, right, rtol=4 * np.finfo(dtype).eps, err_msg=lane.name)


@pytest.mark.filterwarnings("ignore")
def test_onnxruntime_transposes_a_matrix_that_it_multiplies_by_a_vector() -> None:
    """Its fusion of a transposition with such a product forgets the transposition."""
    calls: list[Call] = [
        ("v0", "permute", "x0", {"dims": (1, 0)}),
        ("v1", "cat", "v0 v0", {"dim": 1}),
        ("v2", "mv", "v1 x1"),
        ("v3", "sum", "v0", {"dim": (1,)}),
    ]
    case = case_of({"x0": "float32[2,3]", "x1": "float32[4]"}, calls, "v2 v3")
    prepared = PreparedCase(case, Quiet())
    right = model_of(prepared)(*tensors_of(prepared))[0].detach().numpy()
    for lane in OF_TORCH:
        if lane.variant.startswith("ort-"):
            np.testing.assert_allclose(HonestLane().run(prepared, lane, Quiet()).outputs[0], right, err_msg=lane.name)


@pytest.mark.filterwarnings("ignore")
def test_onnxruntime_expands_to_no_elements() -> None:
    calls: list[Call] = [("v0", "relu", "x0"), ("v1", "expand", "v0", {"shape": (-1, 0)}), ("v2", "sigmoid", "v1")]
    case = case_of({"x0": "float32[2,1]"}, calls, "v2")
    for lane in OF_TORCH:
        if lane.variant.startswith("ort-"):
            (array,) = HonestLane().run(PreparedCase(case, Quiet()), lane, Quiet()).outputs
            assert array.shape == (2, 0), lane.name


def test_onnxruntime_does_not_quantise_integers_of_32_bits() -> None:
    """Its propagation of quantisations makes uint8 of them, so negative numbers become zero."""
    calls: list[Call] = [
        ("v0", "DequantizeLinear-13", "x0 w0", {"axis": None, "inputs": (True, True, False)}),
        ("v1", "Reshape-14", "v0", {"shape": (1,), "allowzero": None}),
        ("v2", "Neg-13", "v1"),
    ]
    case = case_of({"x0": "int32[]", "w0": "float32[]"}, calls, "v2", lambda item: minus_seven(item.value.type), 15)
    for lane in OF_ONNX:
        (array,) = HonestLane().run(PreparedCase(case, Quiet()), lane, Quiet()).outputs
        assert array.tolist() == [-49.0], lane.name


def minus_seven(type: TensorType) -> Array:
    return np.full(type.sizes, -7, type.dtype.numpy)


@pytest.mark.filterwarnings("ignore")
def test_onnxruntime_does_not_change_the_arrays_of_a_case() -> None:
    """Its BatchNormalization writes the running mean into its input."""
    types = {"x0": "float64[2,3,4]", "x1": "float64[3]", "b0": "float64[3]"}
    case = case_of(types, [("v0 v1 v2", "batch_norm_training", "x0 x1 b0")], "v0 v1 v2")
    before = {name: array.copy() for name, array in case.tensors.items()}
    HonestLane().run(
        PreparedCase(case, Quiet()), next(lane for lane in HONEST_LANES if lane.variant == "ort-disable"), Quiet()
    )
    for name, array in case.tensors.items():
        np.testing.assert_array_equal(array, before[name])


def test_inductor_needs_a_compiler_and_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    inductor = next(lane for lane in HONEST_LANES if lane.variant == "inductor")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert HonestLane().supports(small(), inductor) == f"no {CXX} on PATH: inductor compiles C++"
    compiler = tmp_path / CXX
    compiler.write_text("")
    compiler.chmod(0o755)
    assert HonestLane().supports(small(), inductor) is None


@pytest.mark.tvm
@pytest.mark.programs(CXX)
@pytest.mark.skipif(
    torch.backends.cpu.get_cpu_capability() == "DEFAULT",
    reason="for a processor without vectors PyTorch 2.13's inductor writes C++ that does not compile (at::vec)",
)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.long
def test_inductor_keeps_the_nan_of_a_softmax() -> None:
    """Its pattern of attention gives 0 where a row of scores is -inf throughout."""
    calls: list[Call] = [
        ("v0", "transpose", "x1", {"dim0": -2, "dim1": -1}),
        ("v1", "matmul", "x0 v0"),
        ("v2", "mul_scalar", "v1", {"other": 0.5}),
        ("v3", "softmax", "v2", {"dim": -1}),
        ("v4", "matmul", "v3 x2"),
    ]
    shapes = dict.fromkeys(("x0", "x1", "x2"), "float32[2,1,3,4]")
    case = case_of(
        shapes,
        calls,
        "v4",
        lambda item: np.full(item.value.type.sizes, -np.inf if item.value.name == "x0" else 1, np.float32),
    )
    inductor = next(lane for lane in HONEST_LANES if lane.variant == "inductor")
    (array,) = HonestLane().run(PreparedCase(case, Quiet()), inductor, Quiet()).outputs
    assert np.isnan(array).all()
