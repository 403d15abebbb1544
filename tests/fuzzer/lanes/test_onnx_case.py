"""The references of a case of ONNX: onnxruntime, the interpreter, the truth, and the envelope."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest
import torch
from graphs_by_hand import Call, case_of

from fuzzer.lanes import ONNX, ONNX_ENVELOPE, ONNX_F64, ONNX_LANES, ONNX_WITNESS
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.envelope.measure import LAST_UNITS
from fuzzer.lanes.envelope.program import double
from fuzzer.lanes.onnx.kernel import ONNX as DIALECT
from fuzzer.lanes.onnx.kernel import OnnxKernel
from fuzzer.lanes.onnx.otherwise import IN_HALF, ONE_PASS, WITHOUT_ZEROS
from fuzzer.lanes.onnx.proto import to_proto
from fuzzer.lanes.onnx.widened import FLOATS_TO_DOUBLE, widened
from fuzzer.lanes.onnx.witnesses import by_interpreter, file_of
from fuzzer.lanes.runners import runner_of
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Array, Case, DType, Form, Input, Invalid, Profile
from generators.onnx.forms import WIDER
from generators.onnx.operator import NodeForm
from generators.onnx.random_graph import generate
from generators.onnx.rows import OPS
from generators.onnx.schema import OLDEST, newest_opset, schemas
from generators.onnx.source import NUMBER_OF, element
from generators.op import Op, never
from oracles.lane import LaneSpec
from oracles.outcome import Raised, Ran, Stage
from oracles.reference import expected, witnesses_disagree

pytestmark = pytest.mark.filterwarnings("ignore")
"""numpy warns of numbers that are not finite."""

OPSET = 13
TITLES = {op.name.rpartition("-")[0] for op in OPS}


def run(case: Case, lane: LaneSpec) -> tuple[Array, ...]:
    outcome = runner_of(lane).run(PreparedCase(case, Quiet()), lane, Quiet())
    assert isinstance(outcome, Ran)
    return outcome.outputs


def measured(case: Case) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """The spread of each output, and which elements are ill-conditioned."""
    outputs = run(case, ONNX_ENVELOPE)
    count = len(case.graph.outputs)
    return outputs[:count], outputs[count:]


def thirds(item: Input) -> Array:
    """1, 4/3, 5/3, ..., rounded to the dtype."""
    type = item.value.type
    return (1 + np.arange(type.numel).reshape(type.sizes) / 3).astype(type.dtype.numpy)


def of_onnx(inputs: dict[str, str], calls: list[Call], outputs: str) -> Case:
    return case_of(inputs, calls, outputs, thirds, OPSET)


def in_units(case: Case, dtype: DType) -> Array:
    """What the pushes made of each number of the only output, in units."""
    (spread,), (truth,) = measured(case)[0], run(case, ONNX_F64)
    units = spread / (dtype.eps * np.abs(truth))
    return np.asarray(np.where(units > 0, units - LAST_UNITS, 0.0))


# --- all four lanes


@pytest.mark.slow
@pytest.mark.parametrize("profile", [each for each in Profile if each is not Profile.EXTREME])
def test_node_by_node_in_float64_is_the_whole_file_in_float64(profile: Profile) -> None:
    """And no lane changes the case."""
    for index in range(40):
        source = NumpySource(3, index)
        case = source.choice(generate(source, origin=f"test {index}", profile=profile).instances())
        before = {name: array.tobytes() for name, array in case.tensors.items()}
        file, wanted = file_of(case), case.bound.output_types
        with DIALECT.double_precision():
            whole = by_interpreter(
                widened(to_proto(file.model), FLOATS_TO_DOUBLE),
                {name: double(array) for name, array in file.inputs.items()},
            )
        results = {lane: run(case, lane) for lane in ONNX_LANES}
        for right, found in zip(whole, results[ONNX_F64], strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-12, err_msg=case.origin)
        for lane in (ONNX, ONNX_WITNESS):
            assert [(array.dtype, array.shape) for array in results[lane]] == [
                (type.dtype.numpy, type.sizes) for type in wanted
            ], case.origin
        assert {name: array.tobytes() for name, array in case.tensors.items()} == before


def test_each_form_has_the_same_results_truth_and_envelope() -> None:
    call: Call = ("v0", "Clip-13", "x0", {"min": 0.10000000149011612, "max": None})
    case = of_onnx({"x0": "float16[3]"}, [call, ("v1", "Exp-13", "v0")], "v1")
    right = {lane: run(case, lane) for lane in ONNX_LANES}
    for form in (Form.CONSTANT, Form.AS_INPUT, Form.IDENTITY, Form.CAST, Form.BRANCH, Form.LOCAL):
        nodes = (replace(case.graph.nodes[0], form=form), case.graph.nodes[1])
        other = replace(case, graph=replace(case.graph, nodes=nodes))
        for lane, one in right.items():
            assert [array.tobytes() for array in one] == [array.tobytes() for array in run(other, lane)], (form, lane)


@pytest.mark.parametrize("dtype", WIDER)
def test_a_cast_and_its_way_back_keep_all_numbers(dtype: DType) -> None:
    case = of_onnx({"x0": f"{dtype}[256]"}, [("v0", "Reshape-13:cast", "x0", {"shape": (-1,)})], "v0")
    bits = np.arange(256, dtype=np.uint8).repeat(dtype.numpy.itemsize).reshape(256, -1)
    bits[:, 0] = np.arange(256) * 37  # all bytes, and others in the first place
    array = np.arange(256) % 2 == 1 if dtype is DType.BOOL else bits.reshape(-1).view(dtype.numpy)
    case = replace(case, tensors={"x0": array})
    casts = [node.attributes[0].value for node in file_of(case).model.nodes if node.op == "Cast"]
    assert casts == [NUMBER_OF[element(WIDER[dtype])], NUMBER_OF[element(dtype)]]
    for lane in (ONNX, ONNX_WITNESS):
        (found,) = run(case, lane)
        np.testing.assert_array_equal(found.astype(np.float64), array.astype(np.float64), err_msg=lane.name)


def test_a_dtype_that_has_no_wider_one_has_no_cast() -> None:
    for dtype in (DType.FLOAT64, DType.INT64):
        with pytest.raises(Invalid, match="cast form"):
            of_onnx({"x0": f"{dtype}[2]"}, [("v0", "Reshape-13:cast", "x0", {"shape": (-1,)})], "v0")


def test_onnxruntime_and_the_interpreter_raise_what_they_raise() -> None:
    """The index is beyond the data, which a case that is drawn never has."""
    case = of_onnx({"x0": "float32[2]", "x1": "int64[1]"}, [("v0", "Gather-13", "x0 x1")], "v0")
    case = replace(case, tensors={**case.tensors, "x1": np.array([7])})
    for lane in (ONNX, ONNX_WITNESS):
        with pytest.raises(Exception, match="out of"):
            run(case, lane)


def test_the_stage_of_onnxruntime_is_known() -> None:
    stages: list[Stage] = []

    class Steps(Quiet):
        def __call__(self, stage: Stage, /) -> None:
            stages.append(stage)

    case = of_onnx({"x0": "float32[2]"}, [("v0", "Relu-13", "x0")], "v0")
    runner_of(ONNX).run(PreparedCase(case, Steps()), ONNX, Steps())
    assert stages == [Stage.RENDER, Stage.LOAD, Stage.RUN]


# --- the truth


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16])
def test_the_truth_is_not_rounded(dtype: DType) -> None:
    calls: list[Call] = [("v0", "Mul-13", "x0 x0"), ("v1", "Cast-13", "v0", {"to": "float16"}), ("v2", "Sin-7", "v1")]
    case = of_onnx({"x0": f"{dtype}[5]"}, calls, "v2")
    numbers = case.tensors["x0"].astype(np.float64)
    np.testing.assert_array_equal(run(case, ONNX_F64)[0], np.sin(numbers * numbers))


def test_constants_have_the_numbers_that_the_file_has() -> None:
    """0.1 in the dtype of the operand, and attributes in float32."""
    case = of_onnx({"x0": "float16[1]"}, [("v0", "Clip-13", "x0", {"max": 0.1, "min": None})], "v0")
    assert run(case, ONNX_F64)[0].tolist() == [float(np.float16(0.1))]
    case = of_onnx({"x0": "float32[1]"}, [("v0", "LeakyRelu-6", "x0", {"alpha": 0.1})], "v0")
    case = replace(case, tensors={"x0": np.array([-1.0], np.float32)})
    assert run(case, ONNX_F64)[0].tolist() == [-float(np.float32(0.1))]


def test_a_symmetric_range_has_the_zero_point_that_a_scale_in_float32_gives() -> None:
    """Exactly it is 127.5."""
    case = of_onnx({"x0": "float32[4]"}, [("v0 v1 v2", "DynamicQuantizeLinear-11", "x0")], "v0 v1 v2")
    case = replace(case, tensors={"x0": np.array([-1, 1, 0.3, 0], np.float32)})
    for lane in (ONNX, ONNX_WITNESS, ONNX_F64):
        quantised, scale, zero = run(case, lane)
        assert (quantised.tolist(), zero.tolist()) == ([0, 254, 165, 127], 127)
        assert abs(float(scale) - 2 / 255) < 1e-9


def test_the_values_of_one_hot_are_not_rounded() -> None:
    attrs = {"axis": -1, "depth": 3, "T2": "int64"}
    case = of_onnx({"x0": "int64[1]", "x1": "float32[2]"}, [("v0", "OneHot-11", "x0 x1", attrs)], "v0")
    values = np.array([-0.37307322, 1.1], np.float32)
    case = replace(case, tensors={"x0": np.array([-2]), "x1": values})
    for lane in (ONNX, ONNX_WITNESS, ONNX_F64):
        assert run(case, lane)[0].tolist() == [[values[0], values[1], values[0]]]


def rows_of_floats() -> list[Op]:
    return [op for op in OPS if isinstance(op.source, NodeForm) and op.terms is not None]


@pytest.mark.exhaustive
def test_every_operator_is_computed_in_float64() -> None:
    """Where operands move by 1e-9, results move in proportion. Numbers that are rounded to float32 would jump by 1e-7,
    or not move at all."""
    jumping, compared = set(), 0
    for op in rows_of_floats():
        for index in range(6):
            found = _jump(op, index)
            compared += found is not None
            if found is not None and found > 1e-9:
                jumping.add(op.name)
    assert jumping == set()
    assert compared > 500


def _jump(op: Op, index: int) -> float | None:
    """By how much the results of a drawn call jump, relative to the largest; None where there are no floats."""
    assert isinstance(op.source, NodeForm)
    opset = min(max(op.source.schema.since, OLDEST), newest_opset()) if not op.source.schema.domain else OPSET
    case = generate(
        NumpySource(5, index), Limits(max_nodes=1), [op], profile=Profile.NORMAL, opset=opset, symbolic=False
    )
    node = case.graph.nodes[-1]
    if node.op != op.name or not set(node.args) <= case.tensors.keys():
        return None
    rng = np.random.default_rng(index)
    shapes = {name: case.tensors[name].shape for name in node.args}
    start = {name: 1 + 1e-3 * rng.uniform(0, 1, shape) for name, shape in shapes.items()}
    move = {name: rng.uniform(-1, 1, shape) for name, shape in shapes.items()}
    kernel = OnnxKernel(node, case.graph, case.graph.arg_types(node))

    def at(distance: float) -> list[Array]:
        args = []
        for name in node.args:
            array = double(case.tensors[name])
            if array.dtype == np.float64:
                array = array * start[name] * (1 + distance * move[name])
            args.append(torch.from_numpy(np.array(array)))
        with DIALECT.double_precision():
            return [made.numpy() for made in kernel(args)]

    worst = 0.0
    for value, one, two, three in zip(node.results, at(0), at(1e-9), at(2e-9), strict=True):
        if not value.type.dtype.is_float or not one.size:
            continue
        with np.errstate(all="ignore"):
            bend = np.abs((three - two) - (two - one))
            size = np.abs(one[np.isfinite(one)]).max(initial=1e-30)
        worst = max(worst, float(np.where(np.isfinite(bend), bend, 0.0).max() / size))
    return worst


# --- the envelope


@pytest.mark.parametrize("dtype", [d for d in DType if d.is_float])
def test_a_product_is_pushed_by_one_unit_and_a_function_by_four(dtype: DType) -> None:
    product = of_onnx({"x0": f"{dtype}[5]"}, [("v0", "Mul-13", "x0 x0")], "v0")
    inexact = [1, 2, 4]
    found = in_units(product, dtype)[inexact]
    assert ((found >= 0.5) & (found <= 1.5)).all()
    most = (0.5, 1.6) if dtype in (DType.FLOAT16, DType.BFLOAT16) else (3.4, 4.6)
    found = in_units(of_onnx({"x0": f"{dtype}[5]"}, [("v0", "Tanh-13", "x0")], "v0"), dtype)
    assert ((found >= most[0]) & (found <= most[1])).all()


def test_results_that_the_dtype_holds_and_exact_operators_are_not_pushed() -> None:
    calls: list[Call] = [
        ("v0", "Relu-13", "x0"),
        ("v1", "Add-13", "x1 x1"),
        ("v2", "Transpose-13", "x0", {"perm": None}),
    ]
    spreads, ill = measured(of_onnx({"x0": "float32[2,3]", "x1": "float32[1]"}, calls, "v0 v1 v2"))
    assert not any(array.any() for array in (*spreads, *ill))


WHOLE: list[tuple[int, dict[str, str], Call]] = [
    (13, {}, ("v0", "Round-11", "x0")),
    (13, {}, ("v0", "LeakyRelu-6", "x0", {"alpha": 0.2})),
    (13, {"x1": "float32[1]"}, ("v0", "PRelu-9", "x0 x1")),
    (13, {}, ("v0", "Shrink-9", "x0", {"bias": 1.0, "lambd": 0.5})),
    (13, {"x1": "int64[1,1]", "x2": "float32[1]"}, ("v0", "ScatterND-13", "x0 x1 x2")),
    (18, {"x1": "int64[1]", "x2": "float32[1]"}, ("v0", "ScatterElements-18", "x0 x1 x2", {"reduction": "max"})),
    (9, {"x0": "float32[1,3]"}, ("v0", "Upsample-9", "x0", {"scales": (1.0, 2.0), "mode": "nearest"})),
]
"""Calls that give numbers of their operands, or whole ones, with their opsets."""


@pytest.mark.parametrize(("opset", "inputs", "call"), WHOLE, ids=[call[1] for _, _, call in WHOLE])
def test_whole_numbers_that_an_operator_gives_are_compared_after_a_cast(
    opset: int, inputs: dict[str, str], call: Call
) -> None:
    calls: list[Call] = [call, ("v1", "Cast-9" if opset < 13 else "Cast-13", "v0", {"to": "int32"})]
    case = case_of({"x0": "float32[3]", **inputs}, calls, "v1", thirds, opset)
    numbers = {name: np.ones_like(array) for name, array in case.tensors.items()}
    numbers["x0"] += np.array([1, 2, 4], np.float32)
    _, (ill,) = measured(replace(case, tensors=numbers))
    assert not ill.any()


@pytest.mark.parametrize(("dtype", "least", "most"), [("float32", 16, 18), ("float16", 8, 10)])
def test_the_spread_of_a_sum_grows_with_the_root_of_its_terms(dtype: str, least: float, most: float) -> None:
    """In half precision half as fast: an implementation may add in it, and rounds each partial sum by half a unit."""
    attrs = {"keepdims": 0, "axes": None, "noop_with_empty_axes": None}
    case = of_onnx({"x0": f"{dtype}[256]"}, [("v0", "ReduceSum-13", "x0", attrs)], "v0")
    case = replace(case, tensors={"x0": np.ones(256, dtype)})
    assert least <= in_units(case, DType(dtype)) <= most


POOLED = {"auto_pad": None, "kernel_shape": (1,), "p": None, "pads": None, "strides": None}


@pytest.mark.parametrize(("dtype", "zero"), [("float16", True), ("float32", False)])
def test_a_norm_may_be_computed_in_half_precision(dtype: str, zero: bool) -> None:
    """float16 has no square of 0.00001526: a norm that squares in it is 0."""
    case = of_onnx({"x0": f"{dtype}[1,1,1]"}, [("v0", "LpPool-11", "x0", POOLED)], "v0")
    number = np.array([[[1.526e-05]]], dtype)
    spreads, ill = measured(replace(case, tensors={"x0": number}))
    assert (float(spreads[0].item()) >= float(number.item())) is zero
    assert not ill[0].any()


@pytest.mark.parametrize(("dtype", "overflows"), [("float16", True), ("float32", False)])
def test_a_norm_whose_squares_overflow_half_precision_is_not_compared(dtype: str, overflows: bool) -> None:
    case = of_onnx({"x0": f"{dtype}[1,1,6]"}, [("v0", "GlobalLpPool-2", "x0", {"p": None})], "v0")
    numbers = np.array([[[1, -36, 71, -106, 141, -176]]], dtype)
    _, ill = measured(replace(case, tensors={"x0": numbers}))
    assert ill[0].all() == overflows


def test_integers_that_a_push_changes_are_ill_conditioned() -> None:
    calls: list[Call] = [
        ("v0", "Mul-13", "x0 x1"),
        ("v1", "Cast-13", "v0", {"to": "int32"}),
        ("v2", "Less-13", "v0 x1"),
    ]
    case = of_onnx({"x0": "float32[3]", "x1": "float32[1]"}, calls, "v1 v2")
    case = replace(case, tensors={"x0": np.array([1 / 3, 0.5, 1.0], np.float32), "x1": np.array([3.0], np.float32)})
    _, (integers, booleans) = measured(case)
    assert integers.tolist() == [True, False, False]
    assert booleans.tolist() == [False] * 3


def test_numbers_that_may_be_equal_are_ill_conditioned() -> None:
    """HardSwish gives 0.996, and in bfloat16 perhaps 1, which Softmax of one number gives. Where both are pushed as far
    as they may be, they are never equal."""
    calls: list[Call] = [
        ("v0", "HardSwish-22", "x0"),
        ("v1", "Softmax-13", "v0", {"axis": -1}),
        ("v2", "Equal-19", "v1 v0"),
    ]
    case = case_of({"x0": "bfloat16[1]"}, calls, "v2", thirds, 22)
    case = replace(case, tensors={"x0": np.array([1.3671875], DType.BFLOAT16.numpy)})
    (ill,) = measured(case)[1]
    assert ill.tolist() == [True]


@pytest.mark.parametrize("pads", [None, (1, 1)])
def test_a_weight_that_is_not_finite_may_not_meet_the_padding(pads: tuple[int, ...] | None) -> None:
    """NaN x 0 or infinity x 0, which an implementation that skips the padding does not compute."""
    conv: Call = ("v0", "Conv-11", "x0 w0", {"pads": pads, "inputs": (True, True, False)})
    case = of_onnx({"x0": "float32[1,1,4]", "w0": "float32[1,1,3]"}, [conv], "v0")
    weights = np.array([[[np.inf, 1.0, 1.0]]], np.float32)
    case = replace(case, tensors={**case.tensors, "w0": weights})
    (ill,) = measured(case)[1]
    assert ill.reshape(-1).tolist() == ([True, False, False, False] if pads else [False, False])


@pytest.mark.parametrize(("alpha", "skipped"), [(0.0, True), (2.0, False)])
def test_a_product_with_the_factor_0_may_be_skipped(alpha: float, skipped: bool) -> None:
    """NaN x 0 or 0: BLAS does not read A and B where alpha is 0."""
    attrs = {"alpha": alpha, "beta": None, "transA": None, "transB": None, "inputs": (True, True, False)}
    case = of_onnx({"x0": "float32[1,1]", "x1": "float32[1,2]"}, [("v0", "Gemm-13", "x0 x1", attrs)], "v0")
    numbers = {"x0": np.array([[np.nan]], np.float32), "x1": np.array([[1, -2]], np.float32)}
    _, ill = measured(replace(case, tensors=numbers))
    assert ill[0].all() == skipped


@pytest.mark.parametrize(("op", "attrs"), [("LeakyRelu-6", {}), ("HardSigmoid-6", {"beta": 0.25})])
@pytest.mark.parametrize(("alpha", "skipped"), [(0.0, True), (0.125, False)])
def test_a_function_may_skip_a_factor_of_0(op: str, attrs: dict[str, float], alpha: float, skipped: bool) -> None:
    case = of_onnx({"x0": "float32[1]"}, [("v0", op, "x0", {"alpha": alpha, **attrs})], "v0")
    _, ill = measured(replace(case, tensors={"x0": np.array([-np.inf], np.float32)}))
    assert ill[0].all() == skipped


# --- other correct implementations


def drawn_calls(rows: list[Op]) -> list[tuple[OnnxKernel, list[torch.Tensor]]]:
    """Kernels of drawn calls in float64, and their operands."""
    found = []
    for op in rows:
        assert isinstance(op.source, NodeForm)
        opset = max(op.source.schema.since, OLDEST) if not op.source.schema.domain else OPSET
        for index in range(40):
            case = generate(NumpySource(11, index), Limits(max_nodes=1), [op], profile=Profile.NORMAL, opset=opset)
            node = case.bound.nodes[-1]
            if node.op == op.name and set(node.args) <= case.tensors.keys():
                kernel = OnnxKernel(node, case.bound, case.bound.arg_types(node))
                found.append((kernel, [torch.from_numpy(double(case.tensors[name])) for name in node.args]))
    return found


def test_all_of_them_are_operators_of_onnx() -> None:
    assert set(ONE_PASS) | set(WITHOUT_ZEROS) <= schemas().keys()
    without_variance = {"LpNormalization", "RMSNormalization"}
    assert set(ONE_PASS) == {name for name in TITLES if "Normalization" in name} - without_variance
    assert TITLES >= IN_HALF
    assert {op.name.rpartition("-")[0] for op in OPS if op.multiplies_by_zero is not never} == set(WITHOUT_ZEROS)


@pytest.mark.exhaustive
@pytest.mark.parametrize("title", sorted(TITLES & {*ONE_PASS, *WITHOUT_ZEROS}))
def test_they_are_the_same_function_in_exact_arithmetic(title: str) -> None:
    calls = drawn_calls([op for op in OPS if op.name.rpartition("-")[0] == title])
    compared = 0
    for kernel, args in calls:
        with DIALECT.double_precision():
            right = kernel(args)
        if title in WITHOUT_ZEROS:
            torch.testing.assert_close(kernel.without_zeros(args), right, equal_nan=True)
        elif kernel.has_variance:
            torch.testing.assert_close(kernel.in_one_pass(args, 0), right, rtol=1e-6, atol=1e-5, equal_nan=True)
        else:
            continue
        compared += 1
    assert compared > 20


@pytest.mark.slow
@pytest.mark.parametrize("title", sorted(IN_HALF))
def test_they_are_nearly_the_same_function_in_half_precision(title: str) -> None:
    calls = drawn_calls([op for op in OPS if op.name.rpartition("-")[0] == title])
    halves = [(kernel, args) for kernel, args in calls if kernel.may_be_in_half]
    for kernel, args in halves:
        with DIALECT.double_precision():
            right = kernel(args)
        for found, wanted in zip(kernel.in_half(args), right, strict=True):
            finite = torch.isfinite(found)
            torch.testing.assert_close(found[finite], wanted[finite], rtol=0.03, atol=0.03)
    assert len(halves) > 3
    assert len(halves) < len(calls), "of float16 alone"


# --- whether the readers agree


@pytest.mark.slow
def test_the_readers_of_drawn_cases_agree() -> None:
    """But for rare cases. ONNX does not define what operators that choose the largest number do with NaN."""
    disagree = 0
    for index in range(100):
        case = generate(NumpySource(4, index), origin=f"test {index}")
        lanes = {lane: Ran(run(case, lane)) for lane in ONNX_LANES}
        disagree += witnesses_disagree(lanes) and case.profile is not Profile.SPECIAL
        assert (expected(lanes) is None) == witnesses_disagree(lanes), case.origin
    assert disagree <= 2


def test_a_function_that_onnxruntime_rounds_to_float32_is_a_disagreement() -> None:
    """onnxruntime 1.31 computes Shrink of float64 in float32."""
    case = of_onnx({"x0": "float64[5]"}, [("v0", "Shrink-9", "x0", {"bias": 1.0, "lambd": 0.5})], "v0")
    lanes = {lane: Ran(run(case, lane)) for lane in ONNX_LANES}
    assert witnesses_disagree(lanes)
    assert expected(lanes) is None
    assert not witnesses_disagree({**lanes, ONNX_F64: Raised(Stage.RUN, "ValueError", "no")})


def test_the_file_in_float64_keeps_integers_and_names() -> None:
    calls: list[Call] = [("v0", "Cast-13", "x0", {"to": "float16"}), ("v1", "Cast-13", "x0", {"to": "int8"})]
    file = to_proto(file_of(of_onnx({"x0": "float32[2]", "w0": "bfloat16[2]"}, calls, "v0 v1")).model)
    wide = widened(file, FLOATS_TO_DOUBLE)
    double_type, int8 = onnx.TensorProto.DOUBLE, onnx.TensorProto.INT8
    assert [item.type.tensor_type.elem_type for item in (*wide.graph.input, *wide.graph.output)] == [
        double_type,
        double_type,
        int8,
    ]
    assert [node.attribute[0].i for node in wide.graph.node] == [double_type, int8]
    assert [item.data_type for item in wide.graph.initializer] == [double_type]
    assert [item.name for item in wide.graph.output] == [item.name for item in file.graph.output]
