"""What the languages of devices permit, and envelopes that are measured with it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fuzzer.lanes.envelope.devices import OPENCL_C, WGSL, Accuracy, Call, accuracy_of, plain_name
from fuzzer.lanes.envelope.measure import envelope
from fuzzer.lanes.envelope.program import Program
from fuzzer.lanes.torch.envelope import TORCH
from generators.graph import Array, Case, Graph, Input, Node, TensorType, Value

EPS = 2.0**-23


def reach(accuracy: Accuracy, operator: str, *args: float, result: float, is_function: bool = True) -> float:
    call = Call([torch.tensor([arg], dtype=torch.float64) for arg in args], torch.tensor([result]).double(), {}, EPS)
    return float(accuracy.reach(operator, call, is_function=is_function))


@pytest.mark.parametrize(
    ("operator", "args", "result", "opencl", "webgpu"),
    [
        ("exp", (2.0,), 7.0, 3 * 7 * EPS, (3 + 2 * 2) * 7 * EPS),
        ("relax.sin", (1.0,), 0.5, 4 * 0.5 * EPS, 2.0**-11),
        ("Log-13", (2.0,), 0.5, 3 * 0.5 * EPS, 2.0**-21 + 3 * 0.5 * EPS),
        ("tanh", (0.01,), 0.01, 5 * 0.01 * EPS, 1e-5),
        ("Sqrt-13", (4.0,), 2.0, 3 * 2 * EPS, 4.5 * 2 * EPS),
        ("relax.divide", (4.0, 2.0), 2.0, 2.5 * 2 * EPS, 2.5 * 2 * EPS),
        ("relax.ewise_fma", (3.0, 5.0, -14.0), 1.0, (15 + 1) * EPS, (15 + 1) * EPS),
        ("relax.nn.gelu", (-1000.0,), 0.0, 16 * 1000 * EPS, 16 * 1000 * EPS),
    ],
)
def test_what_a_language_permits(
    operator: str, args: tuple[float, ...], result: float, opencl: float, webgpu: float
) -> None:
    found = reach(OPENCL_C, operator, *args, result=result), reach(WGSL, operator, *args, result=result)
    assert found == pytest.approx((opencl, webgpu), rel=1e-12)


def test_pow_is_off_by_its_logarithm_times_the_exponent() -> None:
    permitted = np.log(2) * (8 * 2.0**-21 + 4 * EPS * 8) + (3 + 2 * 8) * EPS
    assert reach(WGSL, "pow", 2.0, 8.0, result=256.0) == pytest.approx(256 * permitted, rel=1e-12)


def test_nothing_is_permitted_for_sums_and_moved_numbers() -> None:
    for accuracy in (OPENCL_C, WGSL):
        assert reach(accuracy, "matmul", 3.0, result=3.0, is_function=False) == 0.0


def test_a_name_without_dialect_and_version() -> None:
    names = ("tanh", "Tanh-13", "relax.tanh", "relax.nn.gelu_tanh")
    assert [plain_name(name) for name in names] == ["tanh", "tanh", "tanh", "gelu_tanh"]


def test_targets_of_one_family_have_one_language() -> None:
    assert accuracy_of("opencl -max_num_threads=64") is OPENCL_C
    assert (accuracy_of("webgpu"), accuracy_of("llvm"), accuracy_of("cuda")) == (WGSL, None, None)


def measured(operator: str, numbers: Array, accuracy: Accuracy | None) -> tuple[Array, Array]:
    type = TensorType.parse(f"float32[{numbers.size}]")
    attrs = {"approximate": "none"} if operator == "gelu" else {}
    node = Node(operator, ("x0",), attrs, (Value("v0", type),))
    case = Case(Graph((Input(Value("x0", type)),), (node,), ("v0",)), {"x0": numbers})
    spread, ill = envelope(Program(case, TORCH, accuracy))
    return spread, ill


def test_an_envelope_for_a_device_reaches_as_far_as_its_language() -> None:
    numbers = np.array([0.5, 1.0, 3.0], np.float32)
    processor, opencl, webgpu = (measured("sin", numbers, each)[0] for each in (None, OPENCL_C, WGSL))
    assert (processor <= opencl).all()
    assert (opencl < 1e-5).all()
    assert ((webgpu >= 2.0**-11) & (webgpu < 2.0**-10)).all()


def test_gelu_of_a_large_negative_number_need_not_be_zero_on_webgpu() -> None:
    """TVM's erf for WGSL ends one unit before -1, which gelu multiplies by its operand: 2.3e-5 for -380."""
    numbers = np.array([-380.0], np.float32)
    assert float(measured("gelu", numbers, None)[0][0]) < 1e-5
    assert float(measured("gelu", numbers, WGSL)[0][0]) > 2.3e-5


@pytest.mark.parametrize(("accuracy", "compared"), [(None, True), (OPENCL_C, True), (WGSL, False)])
@pytest.mark.parametrize("numbers", [[1.0, np.nan], [1.0, np.inf], [1.0, 100.0]])
def test_where_nan_has_no_meaning_a_case_with_one_is_not_compared(
    accuracy: Accuracy | None, compared: bool, numbers: list[float]
) -> None:
    """exp(100) overflows in float32."""
    _, ill = measured("exp", np.array(numbers, np.float32), accuracy)
    assert ill.tolist()[0] is not compared
