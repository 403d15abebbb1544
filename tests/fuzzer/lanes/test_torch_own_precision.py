"""The truth and the envelope of calls by name: in float64 where PyTorch has it, and with sizes that depend on data."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from graphs_by_hand import Call, case_of

from fuzzer.children.own_faults import is_own_fault
from fuzzer.lanes import TORCH, TORCH_ENVELOPE, TORCH_F64
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.envelope.other_sizes import OtherSizes
from fuzzer.lanes.torch import eager as references
from generators.graph import Array, Attrs, Case
from oracles.lane import LaneSpec


def run(case: Case, lane: LaneSpec) -> tuple[Array, ...]:
    return references.TorchLane().run(PreparedCase(case, Quiet()), lane, Quiet()).outputs


def calling(call: str, *types: str) -> Attrs:
    return {"call": call, "types": types}


def thirds(type: str, call: str, *types: str) -> Case:
    """The call on 1/3, 2/3, ..., and then its result plus 1."""
    results = " ".join(f"v{index}" for index in range(len(types)))
    calls: list[Call] = [(results, "torch_call", "x0", calling(call, *types)), ("y0", "add_scalar", "v0", {"other": 1})]
    return case_of(
        {"x0": type},
        calls,
        "y0",
        lambda item: (
            np.arange(1, 1 + item.value.type.numel).reshape(item.value.type.sizes).astype(item.value.type.dtype.numpy)
            / item.value.type.dtype.numpy.type(3)
        ),
    )


def test_the_truth_of_complex_values_is_in_double_precision() -> None:
    call = "t0 = torch.ops.aten.fft_rfft.default(a0)\ntorch.ops.aten.abs.default(t0)"
    case = thirds("float32[6]", call, "float32[4]")
    (truth,), (eager,) = run(case, TORCH_F64), run(case, TORCH)
    right = np.abs(np.fft.rfft(case.tensors["x0"].astype(np.float64))) + 1
    np.testing.assert_allclose(truth, right, rtol=1e-14)
    assert np.abs(eager - right).max() > 1e-9
    spread, ill = run(case, TORCH_ENVELOPE)
    assert (spread.dtype, not ill.any()) == (np.float64, True)
    assert (np.abs(eager - right) <= spread).all()


def test_what_has_no_double_precision_is_computed_in_its_own_dtypes() -> None:
    """PyTorch quantizes float32 only. What comes after it is in float64 again."""
    call = (
        "t0 = torch.ops.aten.quantize_per_tensor.default(a0, 0.1, 0, torch.qint8)\ntorch.ops.aten.dequantize.self(t0)"
    )
    case = thirds("float32[4]", call, "float32[4]")
    x = torch.from_numpy(case.tensors["x0"])
    own = torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize()
    (truth,) = run(case, TORCH_F64)
    assert truth.dtype == np.float64
    assert truth.tolist() == (own.double() + 1).tolist()
    spread, ill = run(case, TORCH_ENVELOPE)
    assert not ill.any()
    assert (spread > 0).all()


def test_a_default_dtype_is_that_of_the_case_where_the_case_has_no_double_precision() -> None:
    call = "t0 = torch.ops.aten.hann_window.default(4)\nt1 = torch.ops.aten.mul.Tensor(a0, t0)\n" + (
        "t2 = torch.ops.aten.quantize_per_tensor.default(t1, 0.1, 0, torch.qint8)\ntorch.ops.aten.dequantize.self(t2)"
    )
    (truth,) = run(thirds("float32[4]", call, "float32[4]"), TORCH_F64)
    assert truth.shape == (4,)
    assert torch.get_default_dtype() is torch.float32


def chosen(threshold: float) -> Case:
    """Those of three exponentials that are greater than a number, and their number."""
    index = calling("torch.ops.aten.index.Tensor(a0, [a1])", "float32[2]")
    calls: list[Call] = [
        ("v0", "exp", "x0"),
        ("v1", "gt_scalar", "v0", {"other": threshold}),
        ("v2", "torch_call", "v0 v1", index),
        ("v3", "neg", "v2"),
    ]
    return case_of({"x0": "float32[3]"}, calls, "v3 v0")


def test_sizes_that_depend_on_data_are_those_of_the_case() -> None:
    case = chosen(2.0)
    (truth, _), (spread, _, ill, other) = run(case, TORCH_F64), run(case, TORCH_ENVELOPE)
    np.testing.assert_allclose(truth, [-np.e, -(np.e**2)])
    assert (spread.shape, ill.any(), other.any()) == ((2,), False, False)


def test_a_case_that_declares_other_types_than_pytorch_gives_is_refused() -> None:
    """Reduction proposes smaller inputs, and no rule infers what a call then gives."""
    for type, given in (("float32[5]", r"float32\[4\]"), ("float64[4]", r"float32\[4\]")):
        case = thirds("float32[4]", "torch.ops.aten.neg.default(a0)", type)
        with pytest.raises(OtherSizes, match=f"^output 0 is {given}, and the case declares {re.escape(type)}$"):
            run(case, TORCH)
    assert not is_own_fault(OtherSizes())


def test_nothing_is_compared_where_rounding_decides_about_sizes() -> None:
    """The threshold is the number itself: a correct exponential may be greater or not."""
    case = chosen(float(np.nextafter(np.float32(np.e), np.float32(0))))
    _, _, ill, other = run(case, TORCH_ENVELOPE)
    assert ill.all()
    assert other.all()
