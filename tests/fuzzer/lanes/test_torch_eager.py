"""The references: the truth and the envelope are the very function that the model computes, however it is written."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from graphs_by_hand import Call, case_of, numbered

from fuzzer.lanes import TORCH, TORCH_ENVELOPE, TORCH_F64
from fuzzer.lanes import torch_eager as references
from fuzzer.lanes.base import Bench, Quiet
from generators.choice import NumpySource
from generators.graph import Array, Case, DType, Form, Input, Layout, Profile
from generators.random_graph import generate
from oracles.lane import LaneSpec

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

HALVES = pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def run(case: Case, lane: LaneSpec) -> tuple[Array, ...]:
    return references.TorchLane().run(Bench(case, Quiet()), lane, Quiet()).outputs


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


@pytest.fixture
def nothing_is_pushed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "ULPS", 0.0)
    monkeypatch.setattr(references, "ONE_PASS", {})


@pytest.mark.exhaustive
@pytest.mark.usefixtures("nothing_is_pushed")
@pytest.mark.parametrize("profile", Profile)
def test_node_by_node_is_the_whole_model(profile: Profile) -> None:
    """Random graphs: all rows, forms, layouts and dtypes. Where nothing is pushed, nothing moves, NaN and infinities
    least of all; and no lane changes a case."""
    forms, layouts = set(), set()
    for index in range(60):
        source = NumpySource(6, index)
        case = source.choice(generate(source, origin=f"test {index}", profile=profile).instances())
        before = {name: array.tobytes() for name, array in case.tensors.items()}
        truth = run(case, TORCH_F64)
        spreads, ill = envelope(case)
        for right, spread, bad in zip(truth, spreads, ill, strict=True):
            assert spread.shape == bad.shape == right.shape, case.origin
            scale = np.abs(np.where(np.isfinite(right), right, 0)).max(initial=0) if right.dtype == np.float64 else 0
            assert spread.max(initial=0) <= 1e-9 * scale, case.origin
            assert not bad.any(), case.origin
        assert {name: array.tobytes() for name, array in case.tensors.items()} == before
        forms |= {node.form for node in case.graph.nodes}
        layouts |= {item.layout for item in case.graph.inputs}
    assert forms == set(Form)
    assert layouts == set(Layout)


# --- the truth


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16])
def test_the_truth_is_rounded_nowhere(dtype: DType) -> None:
    calls: list[Call] = [("v0", "mul", "x0 x0"), ("v1", "to", "v0", {"dtype": "float16"}), ("v2", "sin", "v1")]
    case = case_of({"x0": f"{dtype}[5]"}, calls, "v2 v1", thirds)
    x = case.tensors["x0"].astype(np.float64)
    right, between = run(case, TORCH_F64)
    np.testing.assert_allclose(right, np.sin(x * x), rtol=1e-15)
    assert between.tolist() == (x * x).tolist()
    assert [str(array.dtype) for array in run(case, TORCH)] == ["float16", "float16"]


@pytest.mark.parametrize("layout", Layout)
@HALVES
def test_layouts_change_no_number(layout: Layout, dtype: DType) -> None:
    case = case_of({"x0": f"{dtype}[2,3] {layout}"}, [("v0", "cumsum", "x0", {"dim": 1})], "v0", thirds)
    plain = case_of({"x0": f"{dtype}[2,3]"}, [("v0", "cumsum", "x0", {"dim": 1})], "v0", lambda _: case.tensors["x0"])
    for lane in (TORCH, TORCH_F64, TORCH_ENVELOPE):
        for laid, right in zip(run(case, lane), run(plain, lane), strict=True):
            assert (laid.dtype, laid.tobytes()) == (right.dtype, right.tobytes())


# --- the envelope


@pytest.mark.parametrize("dtype", [d for d in DType if d.is_float])
@pytest.mark.parametrize("form", [Form.PLAIN, Form.METHOD, Form.OPERATOR])
def test_one_rounded_result_is_pushed_by_four_units_of_its_own_dtype(dtype: DType, form: Form) -> None:
    called = "mul" if form is Form.PLAIN else f"mul:{form}"
    case = case_of({"x0": f"{dtype}[5]"}, [("v0", called, "x0 x0")], "v0", thirds)
    (spread,), (ill,) = envelope(case)
    own = 1e-6 if dtype is not DType.FLOAT64 else 1 / 8  # of float64 the envelope itself is rounded
    np.testing.assert_allclose(spread, 4 * dtype.eps * run(case, TORCH_F64)[0], rtol=own)
    assert not ill.any()


def test_what_is_exact_is_not_pushed() -> None:
    case = case_of({"x0": "float16[2,3] transposed"}, [("v0", "flip", "x0", {"dims": (0,)})], "v0", thirds)
    (spread,), (ill,) = envelope(case)
    assert not spread.any()
    assert not ill.any()


def test_a_coarser_result_is_pushed_by_its_own_units() -> None:
    """float32 cast to float16."""
    case = case_of({"x0": "float32[5]"}, [("v0", "to", "x0", {"dtype": "float16"})], "v0", thirds)
    (spread,), _ = envelope(case)
    np.testing.assert_allclose(spread, 4 * DType.FLOAT16.eps * run(case, TORCH_F64)[0], rtol=1e-6)


@HALVES
def test_a_sum_strays_with_the_root_of_its_terms(dtype: DType) -> None:
    def spread(count: int) -> float:
        case = case_of({"x0": f"{dtype}[{count}]"}, [("v0", "sum", "x0")], "v0", ones)
        return float(envelope(case)[0][0]) / count

    def ones(item: Input) -> Array:
        return np.ones(item.value.type.sizes, dtype.numpy)

    assert spread(1) == pytest.approx(4 * dtype.eps)
    # operands and result, each by 4 units times the root of the count
    assert spread(16) == pytest.approx((1 + 16 * dtype.eps) ** 2 - 1)


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
    plain: list[Call] = [(call[0], call[1].partition(":")[0], *call[2:]) for call in calls]  # type: ignore[misc]
    case, other = (case_of(inputs, each, "v1", thirds) for each in (calls, plain))
    assert case.graph != other.graph
    for lane in (TORCH, TORCH_F64, TORCH_ENVELOPE):
        for array, right in zip(run(case, lane), run(other, lane), strict=True):
            assert (array.dtype, array.tobytes()) == (right.dtype, right.tobytes())
    assert envelope(case)[0][0].all(), "something was pushed"


def test_a_call_in_place_leaves_its_operand_as_it_was() -> None:
    case = case_of({"x0": "float32[3]"}, [("v0", "neg", "x0"), ("v1", "add:inplace", "v0 x0")], "v1", thirds)
    node = case.graph.nodes[1]
    args = [torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64) for _ in range(2)]
    (result,) = references._apply(node, args, case.graph.arg_types(node))
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
def test_what_is_not_finite_stays_what_it_is(number: float) -> None:
    calls: list[Call] = [("v0", "add_scalar", "x0", {"other": 1.0}), ("v1", "exp", "v0"), ("v2", "isnan", "v0")]
    case = case_of({"x0": "float16[1]"}, calls, "v0 v1 v2", lambda item: np.array([number], np.float16))
    spreads, ill = envelope(case)
    assert [array.tolist() for array in (*spreads, *ill)] == [[0.0]] * 3 + [[False]] * 3


def test_integers_that_a_push_changes_are_ill_conditioned() -> None:
    """1 + 2^-23 is within four units of 1, 1.5 is not."""
    case = case_of(
        {"x0": "float32[2]"},
        [("v0", "mul_scalar", "x0", {"other": 1.0}), ("v1", "floor", "v0"), ("v2", "to", "v1", {"dtype": "int32"})],
        "v2",
        lambda item: np.array([1.0 + 2**-23, 1.5], np.float32),
    )
    assert envelope(case)[1][0].tolist() == [True, False]
