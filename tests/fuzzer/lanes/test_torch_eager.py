"""The references: the truth and the envelope belong to the function that the model computes, however it is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from graphs_by_hand import Call, case_of, numbered

from fuzzer.lanes import TORCH, TORCH_ENVELOPE, TORCH_F64
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.envelope.measure import LAST_UNITS
from fuzzer.lanes.envelope.program import Program
from fuzzer.lanes.envelope.push import tiny
from fuzzer.lanes.envelope.sample import PLAIN
from fuzzer.lanes.envelope.sizes import sizes_of
from fuzzer.lanes.torch import eager as references
from fuzzer.lanes.torch import envelope as measuring
from fuzzer.lanes.torch.skipped_padding import WITHOUT_ZEROS
from generators.choice import NumpySource
from generators.graph import Array, Case, DType, Form, Input, Layout, Profile, TensorType
from generators.torch.ops import TABLE as ROWS
from generators.torch.random_graph import generate
from oracles.lane import Engine, Importer, LaneSpec
from oracles.reference import rounding_error
from oracles.tolerance import C

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

HALVES = pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def run(case: Case, lane: LaneSpec) -> tuple[Array, ...]:
    return references.TorchLane().run(PreparedCase(case, Quiet()), lane, Quiet()).outputs


def envelope(case: Case) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Spreads, and what is ill-conditioned."""
    outputs = run(case, TORCH_ENVELOPE)
    half = len(outputs) // 2
    return outputs[:half], outputs[half:]


def thirds(item: Input) -> Array:
    """Numbers that no float holds."""
    if not item.value.type.dtype.is_float:
        return numbered(item.value.type)
    array = (1 + numbered(item.value.type).astype(np.float64) / 3).astype(item.value.type.dtype.numpy)
    return np.ascontiguousarray(np.broadcast_to(array[:1], array.shape)) if item.layout is Layout.EXPANDED else array


# --- one function, three ways to evaluate it


@pytest.mark.exhaustive
@pytest.mark.parametrize("profile", Profile)
def test_node_by_node_is_the_whole_model(profile: Profile) -> None:
    """Random graphs: all rows, forms, layouts and dtypes. Where nothing is pushed, nothing moves; no lane changes a
    case."""
    forms, layouts = set(), set()
    for index in range(60):
        source = NumpySource(6, index)
        case = source.choice(generate(source, origin=f"test {index}", profile=profile).instances())
        before = {name: array.tobytes() for name, array in case.tensors.items()}
        truth = run(case, TORCH_F64)
        alone = Program(case, measuring.TORCH).run(PLAIN)
        for right, found in zip(truth, alone, strict=True):
            scale = np.abs(np.where(np.isfinite(right), right, 0)).max(initial=0) if right.dtype == np.float64 else 0
            np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-9 * scale, err_msg=case.origin)
        spreads, ill = envelope(case)
        for right, spread, bad in zip(truth, spreads, ill, strict=True):
            assert spread.shape == bad.shape == right.shape, case.origin
            assert not np.isnan(spread).any(), case.origin
        assert {name: array.tobytes() for name, array in case.tensors.items()} == before
        forms |= {node.form for node in case.graph.nodes}
        layouts |= {item.layout for item in case.graph.inputs}
    assert forms == {form for op in ROWS.values() for form in (Form.PLAIN, *op.forms)}
    assert layouts == set(Layout)


# --- the truth


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16])
def test_the_truth_is_not_rounded(dtype: DType) -> None:
    calls: list[Call] = [("v0", "mul", "x0 x0"), ("v1", "to", "v0", {"dtype": "float16"}), ("v2", "sin", "v1")]
    case = case_of({"x0": f"{dtype}[5]"}, calls, "v2 v1", thirds)
    x = case.tensors["x0"].astype(np.float64)
    right, between = run(case, TORCH_F64)
    np.testing.assert_allclose(right, np.sin(x * x), rtol=1e-15)
    assert between.tolist() == (x * x).tolist()
    assert [str(array.dtype) for array in run(case, TORCH)] == ["float16", "float16"]


@pytest.mark.parametrize("layout", Layout)
@HALVES
def test_layouts_do_not_change_the_references(layout: Layout, dtype: DType) -> None:
    case = case_of({"x0": f"{dtype}[2,3] {layout}"}, [("v0", "cumsum", "x0", {"dim": 1})], "v0", thirds)
    plain = case_of({"x0": f"{dtype}[2,3]"}, [("v0", "cumsum", "x0", {"dim": 1})], "v0", lambda _: case.tensors["x0"])
    for lane in (TORCH, TORCH_F64, TORCH_ENVELOPE):
        for laid, right in zip(run(case, lane), run(plain, lane), strict=True):
            assert (laid.dtype, laid.tobytes()) == (right.dtype, right.tobytes())


def test_the_truth_is_right_where_pytorch_is_wrong_on_a_layout() -> None:
    """median(dim) of an expanded tensor, as of PyTorch 2.13: the copy that it sorts in place has stride 0."""
    calls: list[Call] = [("v0", "median_dim_values", "x0", {"dim": 0, "keepdim": False})]
    falling = lambda item: np.tile(np.arange(9, 0, -1, dtype=np.float32), (3, 1))
    case = case_of({"x0": "float32[3,9] expanded"}, calls, "v0", falling)
    assert run(case, TORCH_F64)[0].tolist() == list(range(9, 0, -1))


# --- the exported program, run by PyTorch

DECOMPOSED, RAW = (
    LaneSpec("exported", Engine.TORCH, importer, "exported") for importer in (Importer.EXPORT, Importer.EXPORT_RAW)
)


@pytest.mark.slow
def test_an_exported_program_is_the_model() -> None:
    case = case_of({"x0": "float32[3,4] transposed"}, [("v0", "softmax", "x0", {"dim": 1})], "v0", thirds)
    (right,) = run(case, TORCH)
    for lane in (DECOMPOSED, RAW):
        np.testing.assert_allclose(run(case, lane)[0], right, rtol=1e-6)


@pytest.mark.slow
def test_where_a_decomposition_is_another_function_the_decomposed_program_shows_it() -> None:
    """As of PyTorch 2.13: block_diag takes a 0-d operand for a scalar, which does not promote, its decomposition makes
    a matrix of it, which does."""
    case = case_of({"x0": "float16[3]", "x1": "float32[]"}, [("v0", "block_diag", "x0 x1")], "v0")
    assert [str(run(case, lane)[0].dtype) for lane in (TORCH, RAW, DECOMPOSED)] == ["float16", "float16", "float32"]


# --- the envelope


INEXACT = [1, 2, 4]
"""The indices of the inexact numbers in `thirds`, which begins with 1, 4/3, 5/3, 2, 7/3."""

EVERY_FLOAT = pytest.mark.parametrize("dtype", [d for d in DType if d.is_float])


def in_units(spread: Array, truth: Array, dtype: DType) -> Array:
    """What the pushes made of each number, in units: without what is added for the last roundings."""
    units = spread / (dtype.eps * np.abs(truth))
    return np.asarray(np.where(units > 0, units - LAST_UNITS, 0.0))


@EVERY_FLOAT
@pytest.mark.parametrize("form", [Form.PLAIN, Form.METHOD, Form.OPERATOR])
def test_operations_that_ieee_754_rounds_are_pushed_by_one_unit_and_rounded(dtype: DType, form: Form) -> None:
    called = "mul" if form is Form.PLAIN else f"mul:{form}"
    case = case_of({"x0": f"{dtype}[5]"}, [("v0", called, "x0 x0")], "v0", thirds)
    (spread,), (ill,) = envelope(case)
    found = in_units(spread, run(case, TORCH_F64)[0], dtype)
    assert (found[INEXACT] >= 0.5).all()
    assert (found <= 1.5).all()
    assert not ill.any()


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT64])
def test_functions_are_pushed_by_four_units(dtype: DType) -> None:
    case = case_of({"x0": f"{dtype}[5]"}, [("v0", "sin", "x0")], "v0", thirds)
    found = in_units(envelope(case)[0][0], run(case, TORCH_F64)[0], dtype)
    assert ((found >= 3.4) & (found <= 4.6)).all()


@HALVES
def test_functions_of_half_precision_round_once(dtype: DType) -> None:
    case = case_of({"x0": f"{dtype}[5]"}, [("v0", "sin", "x0")], "v0", thirds)
    found = in_units(envelope(case)[0][0], run(case, TORCH_F64)[0], dtype)
    assert ((found >= 0.5) & (found <= 1.6)).all()


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16])
def test_results_that_the_dtype_holds_exactly_are_not_pushed(dtype: DType) -> None:
    calls: list[Call] = [("v0", "mul", "x0 x0"), ("v1", "add", "v0 x0"), ("v2", "floor", "v1")]
    case = case_of({"x0": f"{dtype}[7]"}, calls, "v2 v1")
    spreads, ill = envelope(case)
    assert not any(array.any() for array in (*spreads, *ill))


def test_results_of_exact_operators_are_not_pushed() -> None:
    case = case_of({"x0": "float16[2,3] transposed"}, [("v0", "flip", "x0", {"dims": (0,)})], "v0", thirds)
    (spread,), (ill,) = envelope(case)
    assert not spread.any()
    assert not ill.any()


def test_a_coarser_result_is_pushed_by_its_own_units() -> None:
    """float32 cast to float16."""
    case = case_of({"x0": "float32[5]"}, [("v0", "to", "x0", {"dtype": "float16"})], "v0", thirds)
    found = in_units(envelope(case)[0][0], run(case, TORCH_F64)[0], DType.FLOAT16)
    assert ((found[INEXACT] >= 0.4) & (found[INEXACT] <= 1.5)).all()


def ones(item: Input) -> Array:
    return np.ones(item.value.type.sizes, item.value.type.dtype.numpy)


def summed(dtype: DType, count: int) -> float:
    """The spread of a sum of ones, in units of its result."""
    case = case_of({"x0": f"{dtype}[{count}]"}, [("v0", "sum", "x0")], "v0", ones)
    return float(in_units(envelope(case)[0][0], run(case, TORCH_F64)[0], dtype))


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT64])
def test_the_spread_of_a_sum_grows_with_the_root_of_its_terms(dtype: DType) -> None:
    assert 0.5 <= summed(dtype, 1) <= 1.5
    assert 16 <= summed(dtype, 256) <= 18


@HALVES
def test_a_sum_of_half_precision_accumulates_in_float32(dtype: DType) -> None:
    for count in (1, 256, 4096):
        assert 0.5 <= summed(dtype, count) <= 1.6


def test_a_product_that_its_bias_cancels() -> None:
    """One product and a bias: the result is small, the rounding of the product is not."""
    case = case_of(
        {"x0": "float32[1,1]", "w0": "float32[1,1]", "w1": "float32[1]"}, [("v0", "linear", "x0 w0 w1")], "v0"
    )
    tensors = {
        name: np.array(number, np.float32) for name, number in (("x0", [[10.1]]), ("w0", [[10.1]]), ("w1", [-102.0]))
    }
    case = replace(case, tensors=tensors)
    (spread,), _ = envelope(case)
    assert abs(run(case, TORCH_F64)[0][0, 0]) < 0.02
    assert spread[0, 0] > 100 * DType.FLOAT32.eps


def half_sums() -> dict[str, Case]:
    """Sums that PyTorch accumulates in half precision itself, with the kernels of some processors."""
    conv = {"stride": 1, "padding": 0, "output_padding": 0, "dilation": 1, "groups": 1}
    made: dict[str, tuple[dict[str, str], Call]] = {
        "addbmm": ({"x0": "[4,4]", "x1": "[9,4,5]", "x2": "[9,5,4]"}, ("v0", "addbmm", "x0 x1 x2")),
        "conv_transpose1d": ({"x0": "[1,3,9]", "x1": "[3,2,8]"}, ("v0", "conv_transpose1d", "x0 x1", conv)),
        "adaptive_avg_pool3d": ({"x0": "[1,8,8,8]"}, ("v0", "adaptive_avg_pool3d", "x0", {"output_size": (2, 2, 2)})),
    }
    return {
        name: case_of({key: f"float16{shape}" for key, shape in inputs.items()}, [call], "v0", uneven)
        for name, (inputs, call) in made.items()
    }


def uneven(item: Input) -> Array:
    """Numbers between 1 and 2 that float16 holds, and whose sums it does not."""
    rng = np.random.default_rng(5)
    return rng.uniform(1, 2, item.value.type.sizes).astype(np.float16)


@pytest.mark.parametrize("name", half_sums())
def test_the_envelope_of_a_sum_includes_accumulation_in_half_precision_where_processors_do_it(name: str) -> None:
    """The envelope is the same on every processor, and PyTorch's result lies in it, whichever kernel computed it."""
    case = half_sums()[name]
    node = case.graph.nodes[0]
    assert max(sizes_of(node, case.graph.arg_types(node)).operands) == DType.FLOAT16.eps
    (eager,), (truth,), ((spread,), _) = run(case, TORCH), run(case, TORCH_F64), envelope(case)
    assert (np.abs(eager - truth) <= C * (spread + rounding_error(truth, eager.dtype))).all()


def test_the_spread_of_a_normalisation_grows_with_the_root_of_its_terms() -> None:
    """Where all numbers are scaled alike it is the same: what rounds is the sum in it. By half of the root, for it
    divides by the root of the sum."""
    terms = 1024
    calls: list[Call] = [("v0", "rms_norm", "x0", {"normalized_shape": (terms,), "eps": 1e-12})]
    case = case_of({"x0": f"float32[{terms}]"}, calls, "v0", ones)
    found = in_units(envelope(case)[0][0], run(case, TORCH_F64)[0], DType.FLOAT32)
    assert (found >= 15).all()
    assert np.median(found) <= 60


def test_steps_of_half_precision_are_rounded_each() -> None:
    """Only what adds numbers keeps them in float32."""
    sizes = []
    for op in ("sum", "prod"):
        node = case_of({"x0": "float16[256]"}, [("v0", op, "x0")], "v0", ones).graph.nodes[0]
        sizes.append(sizes_of(node, (TensorType.parse("float16[256]"),)).operands[0])
    assert sizes == [16 * DType.FLOAT32.eps, DType.FLOAT16.eps]


WRITTEN: tuple[tuple[str, dict[str, str], list[Call]], ...] = (
    ("in place", {"x0": "float16[2,3]", "x1": "float16[3]"}, [("v0", "mul", "x0 x0"), ("v1", "add:inplace", "v0 x1")]),
    ("a layer without parameters", {"x0": "float32[2,3]"}, [("v1", "softmax:module", "x0", {"dim": 1})]),
    (
        "a layer with parameters",
        {"x0": "bfloat16[2,3]", "w0": "bfloat16[4,3]", "w1": "bfloat16[4]"},
        [("v1", "linear:module", "x0 w0 w1")],
    ),
    (
        "a layer with statistics",
        {"x0": "float32[2,3]", "b0": "float32[3]", "b1": "float32[3]", "w0": "float32[3]", "w1": "float32[3]"},
        [("v1", "batch_norm:module", "x0 b0 b1 w0 w1")],
    ),
    ("a method", {"x0": "float32[2,3] strided"}, [("v1", "sum:method", "x0", {"dim": (1,)})]),
)


@pytest.mark.parametrize(("inputs", "calls"), [w[1:] for w in WRITTEN], ids=[w[0] for w in WRITTEN])
def test_the_envelope_does_not_depend_on_how_a_call_is_written(inputs: dict[str, str], calls: list[Call]) -> None:
    plain: list[Call] = [(call[0], call[1].partition(":")[0], *call[2:]) for call in calls]
    case, other = (case_of(inputs, each, "v1", thirds) for each in (calls, plain))
    assert case.graph != other.graph
    for lane in (TORCH, TORCH_F64, TORCH_ENVELOPE):
        for array, right in zip(run(case, lane), run(other, lane), strict=True):
            assert (array.dtype, array.tobytes()) == (right.dtype, right.tobytes())
    assert envelope(case)[0][0].any(), "something was pushed"


def test_a_call_in_place_leaves_its_operand_as_it_was() -> None:
    case = case_of({"x0": "float32[3]"}, [("v0", "neg", "x0"), ("v1", "add:inplace", "v0 x0")], "v1", thirds)
    node = case.graph.nodes[1]
    args = [torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64) for _ in range(2)]
    (result,) = measuring.TorchKernel(node, case.graph, case.graph.arg_types(node))(args)
    assert result.tolist() == [2.0, 4.0, 6.0]
    assert [arg.tolist() for arg in args] == [[1.0, 2.0, 3.0]] * 2


# --- what is ill-conditioned


def signs(*numbers: float) -> Case:
    """sign(x + 0): the sum is pushed."""
    return case_of(
        {"x0": f"float32[{len(numbers)}]"},
        [("v0", "add_scalar", "x0", {"other": 0.0}), ("v1", "sign", "v0"), ("v2", "to", "v1", {"dtype": "int64"})],
        "v2",
        lambda item: np.array(numbers, np.float32),
    )


def test_infinities_are_not_pushed() -> None:
    (spread,), (ill,) = envelope(signs(np.inf, -np.inf, 1.0, 0.0))
    assert (spread.tolist(), ill.tolist()) == ([0.0] * 4, [False] * 4)


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
def test_infinities_and_nan_stay_as_they_are(number: float) -> None:
    calls: list[Call] = [("v0", "add_scalar", "x0", {"other": 1.0}), ("v1", "exp", "v0"), ("v2", "isnan", "v0")]
    case = case_of({"x0": "float16[1]"}, calls, "v0 v1 v2", lambda item: np.array([number], np.float16))
    spreads, ill = envelope(case)
    assert [array.tolist() for array in (*spreads, *ill)] == [[0.0]] * 3 + [[False]] * 3


def floored(*numbers: float) -> Case:
    """floor(sqrt(x^2)): the root is pushed."""
    calls: list[Call] = [("v0", "square", "x0"), ("v1", "sqrt", "v0"), ("v2", "floor", "v1")]
    calls.append(("v3", "to", "v2", {"dtype": "int32"}))
    array = np.array(numbers, np.float32)
    return case_of({"x0": f"float32[{len(numbers)}]"}, calls, "v2 v3", lambda item: array)


def test_numbers_near_a_jump_are_ill_conditioned() -> None:
    """A number within WIDE units of an integer may lie on its other side, 1.5 may not; integers and floats alike."""
    case = floored(2.0 + 2**-22, 1.5, 3.0, 7.25)
    _, (floats, integers) = envelope(case)
    assert integers.tolist() == [True, False, True, False]
    assert floats[1:].tolist() == [False, True, False] or floats[[1, 3]].tolist() == [False, False]


def test_integers_of_rounded_numbers_are_compared() -> None:
    """Quantisation: the result of round is exact. Only a number halfway between two integers may become either."""
    calls: list[Call] = [("v0", "square", "x0"), ("v1", "round", "v0"), ("v2", "to", "v1", {"dtype": "uint8"})]
    case = case_of({"x0": "float32[3]"}, calls, "v2", lambda item: np.array([1.1, 10.3, 1.5811388], np.float32))
    assert envelope(case)[1][0].tolist() == [False, False, True]


def test_equality_of_rounded_numbers_is_ill_conditioned() -> None:
    """tanh(x) is not 1, yet float32 holds nothing nearer."""
    calls: list[Call] = [("v0", "tanh", "x0"), ("v1", "eq_scalar", "v0", {"other": 1.0})]
    case = case_of({"x0": "float32[2]"}, calls, "v1", lambda item: np.array([9.5, 1.0], np.float32))
    assert run(case, TORCH)[0].tolist() != run(case, TORCH_F64)[0].tolist()
    assert envelope(case)[1][0].tolist() == [True, False]


def test_ties_of_exact_numbers_are_compared() -> None:
    calls: list[Call] = [("v0", "mul", "x0 x0"), ("v1", "argmax", "v0", {"dim": None, "keepdim": False})]
    case = case_of({"x0": "float32[3]"}, calls, "v1", lambda item: np.array([-3, 3, 1], np.float32))
    assert envelope(case)[1][0].tolist() is False


def test_ties_of_rounded_numbers_are_not_compared() -> None:
    calls: list[Call] = [("v0", "exp", "x0"), ("v1", "argmax", "v0", {"dim": None, "keepdim": False})]
    case = case_of({"x0": "float32[3]"}, calls, "v1", lambda item: np.array([1, 1, 0], np.float32))
    assert envelope(case)[1][0].tolist() is True


# --- too large, too small


def test_an_overflow_of_an_intermediate_result_is_ill_conditioned() -> None:
    calls: list[Call] = [("v0", "mul", "x0 x0"), ("v1", "sqrt", "v0"), ("v2", "isinf", "v0")]
    case = case_of({"x0": "float16[2]"}, calls, "v1 v2 v0", lambda item: np.array([1000, 3], np.float16))
    _, ill = envelope(case)
    assert [array.tolist() for array in ill] == [[True, False], [True, False], [False, False]]


@pytest.mark.parametrize(("dtype", "value"), [("float16", "v0"), ("bfloat16", ""), ("float32", "")])
def test_the_first_value_that_is_too_large_for_its_dtype_is_named(dtype: str, value: str) -> None:
    calls: list[Call] = [("v0", "mul", "x0 x0"), ("v1", "mul", "v0 v0"), ("v2", "sqrt", "v1")]
    case = case_of({"x0": f"{dtype}[2]"}, calls, "v2", lambda item: np.array([1000, 3], item.value.type.dtype.numpy))
    program = Program(case, measuring.TORCH)
    program.run(PLAIN)
    assert program.overflow == value


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.BFLOAT16])
def test_denormal_numbers_may_be_zero(dtype: DType) -> None:
    array = np.array([tiny(dtype) / 4, 1.0], dtype.numpy)
    calls: list[Call] = [
        ("v0", "flip", "x0", {"dims": (0,)}),
        ("v1", "sign", "x0"),
        ("v2", "ne_scalar", "x0", {"other": 0}),
    ]
    case = case_of({"x0": f"{dtype}[2]"}, calls, "v0 v1 v2", lambda item: array)
    (first, second, _), (_, _, ill) = envelope(case)
    assert (first >= tiny(dtype)).all()
    assert second[0] >= 1.0
    assert ill.tolist() == [True, False]


def test_results_that_depend_on_the_layout_in_pytorch_are_ill_conditioned() -> None:
    """Bicubic interpolation with antialiasing to a width of 1: as of PyTorch 2.13 all rows are the first."""
    attrs = {"size": (3, 1), "scale_factor": None, "align_corners": True, "antialias": True}
    calls: list[Call] = [("v0", "interpolate_bicubic", "x0", attrs)]
    case = case_of({"x0": "float32[1,2,4,5]"}, calls, "v0", thirds)
    right = run(case, TORCH_F64)[0]
    assert (right[..., :1, :] == right).all()
    assert envelope(case)[1][0].any()


SPECIAL = {"a NaN in a corner": {0: np.nan}, "infinities in two corners": {0: np.inf, 8: -np.inf}}


@pytest.mark.parametrize("weights", SPECIAL)
@pytest.mark.parametrize("padding", [0, 1])
def test_a_weight_that_is_not_finite_may_not_meet_the_padding(padding: int, weights: str) -> None:
    """A blocked convolution skips the padding, another multiplies with it and makes NaN of it. What meets one such
    weight and, in the padding, another is infinite or NaN."""

    def numbers(item: Input) -> Array:
        array = np.ones(item.value.type.sizes, np.float32)
        if item.value.name == "w0":
            array.reshape(-1)[list(SPECIAL[weights])] = list(SPECIAL[weights].values())
        return array

    calls: list[Call] = [("v0", "conv2d", "x0 w0", {"padding": (padding, padding)})]
    case = case_of({"x0": "float32[1,1,3,3]", "w0": "float32[1,1,3,3]"}, calls, "v0", numbers)
    assert np.isnan(run(case, TORCH)[0]).any()
    (ill,) = envelope(case)[1]
    if not padding:
        assert not ill.any()
    elif len(SPECIAL[weights]) == 1:
        assert ill[0, 0].tolist() == [[True] * 3, [True, False, False], [True, False, False]]
    else:
        assert ill[0, 0].tolist() == [[True, True, True], [True, False, True], [True, True, True]]


@pytest.mark.parametrize(("p", "ill"), [(1.0, [False, True, True]), (0.0, [False] * 3)])
def test_dropout_of_infinities_and_nan_may_be_zero(p: float, ill: list[bool]) -> None:
    """Eager PyTorch multiplies by zero, inductor chooses."""
    numbers = np.array([1.0, np.nan, np.inf], np.float32)
    case = case_of({"x0": "float32[3]"}, [("v0", "dropout_training", "x0", {"p": p})], "v0", lambda item: numbers)
    assert envelope(case)[1][0].tolist() == ill


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    "attrs", [{"padding": 1, "stride": 2}, {"padding": "same", "dilation": 2}, {"padding": "valid"}, {"groups": 2}]
)
def test_a_convolution_that_skips_the_padding_is_one(rank: int, attrs: dict[str, Any]) -> None:
    attrs = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1, **attrs}
    noise = torch.Generator().manual_seed(rank)
    draw = lambda *shape: torch.randn(shape, generator=noise, dtype=torch.float64)
    x, weight, bias = draw(2, 4, *(7, 6, 5)[:rank]), draw(6, 4 // attrs["groups"], *(2, 3, 1)[:rank]), draw(6)
    right = getattr(torch, f"conv{rank}d")(x, weight, bias, **attrs)
    convolve = WITHOUT_ZEROS[f"conv{rank}d"]
    torch.testing.assert_close(convolve((x, weight, bias), attrs), (right,))
    torch.testing.assert_close(convolve((x[0], weight, bias), attrs), (right[0],))


def test_denormal_numbers_of_float16_stay() -> None:
    """Processors compute with them in float32, where they are normal."""
    case = case_of({"x0": "float16[1]"}, [("v0", "neg", "x0")], "v0", lambda item: np.array([1e-6], np.float16))
    assert not envelope(case)[0][0].any()


def test_numbers_that_are_denormal_inside_a_function_may_be_zero() -> None:
    """The softmax of attention gives exp(-88), which is denormal; times 100 it is not."""
    numbers = {"x0": [[1.0]], "x1": [[0.0], [-88.0]], "x2": [[0.0], [100.0]]}
    case = case_of(
        {"x0": "float32[1,1]", "x1": "float32[2,1]", "x2": "float32[2,1]"},
        [("v0", "scaled_dot_product_attention", "x0 x1 x2", {"is_causal": False, "scale": 1.0, "enable_gqa": False})],
        "v0",
        lambda item: np.array(numbers[item.value.name], np.float32),
    )
    truth = float(run(case, TORCH_F64)[0][0, 0])
    assert tiny(DType.FLOAT32) < truth < 100 * tiny(DType.FLOAT32)
    assert envelope(case)[0][0][0, 0] >= truth


def test_products_that_are_denormal_inside_a_sum_may_be_zero() -> None:
    case = case_of(
        {"x0": "float32[64]", "x1": "float32[64]"},
        [("v0", "dot", "x0 x1")],
        "v0",
        lambda item: np.full(64, 1e-19, np.float32),
    )
    truth = float(run(case, TORCH_F64)[0])
    assert tiny(DType.FLOAT32) < truth
    assert float(envelope(case)[0][0]) >= truth
