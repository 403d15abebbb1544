"""Blame of real failures of TVM's importer of ONNX, on cases of one or two calls."""

from __future__ import annotations

import pytest
from graphs_by_hand import Call, case_of

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import MODEL_LANES
from fuzzer.lanes.base.pointed import value_written_as
from fuzzer.signature import signature_of
from fuzzer.signature.blame import Place
from fuzzer.triage.blame.search import blame
from fuzzer.triage.reproduce import observe
from fuzzer.triage.suspects import located
from generators.graph import Attrs, Case

TILE = case_of({"x0": "float32[1]"}, [("v0", "Tile-13:list", "x0", {"repeats": (1,)})], "v0", opset=17)
SHAPE_CALLS: list[Call] = [("v0", "Shape-15", "x0"), ("v1", "Shrink-9", "v0")]
SHAPE = case_of({"x0": "float32[1]"}, SHAPE_CALLS, "v1", opset=17)
MASKED: Call = ("v0 v1", "Dropout-13", "x0", {"outputs": (True, True)})
DROPOUT = case_of({"x0": "float32[2]"}, [MASKED], "v1", opset=17)
NEGATED = case_of({"x0": "float32[2]"}, [MASKED, ("v2", "Not-1", "v1")], "v2", opset=17)
BESIDE = case_of(
    {"x0": "float32[2]"}, [MASKED, ("v2", "Shape-15", "x0"), ("v3", "Shrink-9", "v2")], "v0 v1 v3", opset=17
)
SAME_LOWER: Attrs = {"kernel_shape": (1, 1), "strides": (2, 2), "auto_pad": "SAME_LOWER", "outputs": (True, False)}
POOL: Call = ("v0", "MaxPool-12", "x0", SAME_LOWER)
FLAT: Call = ("v1", "Reshape-14", "v0", {"shape": (-1,)})
POOLED = case_of(
    {"w0": "float32[16]", "x0": "float32[1,1,7,7]"}, [POOL, FLAT, ("v2", "MatMul-13", "v1 w0")], "v2", opset=17
)
PRODUCT: Call = ("v0", "MatMulInteger-10", "x0 x1 x2", {"inputs": (True, True, True, False)})
SUMMED = case_of(
    {"x0": "uint8[2]", "x1": "uint8[2,2]", "x2": "uint8[1]"},
    [PRODUCT, ("v1", "CumSum-14", "v0", {"T2": "int64", "axis": 0}), ("v2", "Reshape-14", "v1", {"shape": (-1,)})],
    "v2",
    opset=17,
)

SPLIT: Call = ("v0", "SplitToSequence-11", "x0", {"I": "int64", "at": 0})
FIRST_OF_ONE = case_of({"x0": "float32[1]"}, [SPLIT], "v0", opset=17)
NORMALIZE: Call = ("v0", "BatchNormalization-15:branch", "x0 x1 x2 x3 x4", {"outputs": (True, False, False)})
IN_A_BRANCH = case_of(
    {"x0": "float32[1,1,1]", **{f"x{place}": "float32[1]" for place in range(1, 5)}, "x5": "float32[1,1,1]"},
    [NORMALIZE, ("v1", "ConvTranspose-11", "v0 x5", {"inputs": (True, True, False)})],
    "v1",
    opset=17,
)

STOPS_AT_SEQUENCE_AT = ("SplitToSequence", "SequenceAt._impl_v11", "The importer stops at `SequenceAt`")
STOPS_AT_CONSTANT = ("Tile", "Constant._impl_v13", "The importer stops at `Constant`")
STOPS_BEFORE_SHRINK = ("Shrink", "", "The importer stops before it calls a converter for `Shrink`")
DECLARES_FLOATS = (
    *("Dropout", "Dropout._impl_v12"),
    "The imported module declares float32[2] where onnxruntime gives bool[2]",
)
STOPS_AT_NOT = (
    *("Dropout", "Dropout._impl_v12"),
    "The imported module declares float32[2] where onnxruntime gives bool[2]; "
    "`Dropout` becomes float32[2], and should be bool[2]",
)
NOT_AS_INPUT = ": where that is an input, the failure does not show"
STOPS_AT_MATMUL = (
    *("MaxPool", "Pool._impl_v1"),
    "The importer stops at `MatMul`; `MaxPool` becomes float32[1, 1, 3, 3], and should be float32[1, 1, 4, 4]"
    f"{NOT_AS_INPUT}",
)
STOPS_AT_A_TUPLE = (
    *("BatchNormalization", "BatchNormalization._impl_v15"),
    "The importer stops at `ConvTranspose`; `BatchNormalization` becomes a tuple of 3, and should be float32[1, 1, 1]"
    f"{NOT_AS_INPUT}",
)
SUMS_OTHERWISE = (
    *("MatMulInteger", "MatMulInteger._impl_v10"),
    f"`MatMulInteger` becomes int32[1, 2], and should be int32[2]{NOT_AS_INPUT}",
)


@pytest.mark.tvm
@pytest.mark.parametrize(
    ("case", "blamed"),
    [
        (TILE, STOPS_AT_CONSTANT),
        (SHAPE, STOPS_BEFORE_SHRINK),
        (DROPOUT, DECLARES_FLOATS),
        (NEGATED, STOPS_AT_NOT),
        (POOLED, STOPS_AT_MATMUL),
        (SUMMED, SUMS_OTHERWISE),
        (BESIDE, STOPS_BEFORE_SHRINK),
        (FIRST_OF_ONE, STOPS_AT_SEQUENCE_AT),
        (IN_A_BRANCH, STOPS_AT_A_TUPLE),
    ],
    ids=["tile", "shape", "dropout", "negated", "pooled", "summed", "beside", "sequence", "branch"],
)
def test_the_converter_is_named_where_one_is_at_fault(
    executor: Executor, case: Case, blamed: tuple[str, str, str]
) -> None:
    finding = observe(executor.run, case, MODEL_LANES[0]).finding
    assert finding is not None
    found = blame(executor.run, case, finding, signature_of(finding))
    assert (found.place, found.operator, found.culprit, found.evidence) == (Place.FRONTEND, *blamed)


@pytest.mark.tvm
def test_the_importer_points_at_the_node_where_it_stops(executor: Executor) -> None:
    finding = observe(executor.run, SHAPE, MODEL_LANES[0]).finding
    assert finding is not None
    first = located(executor.run, SHAPE, finding, signature_of(finding))
    assert first.suspects[0] == "v1"
    assert {name: array.tolist() for name, array in first.computed.items()} == {"v0": [1], "v1": [1]}


@pytest.mark.parametrize(("output", "value"), [("v1", "v1"), ("v0_shape", "v0"), ("v0_0_at", "v0"), ("x0_size", "")])
def test_what_is_added_to_write_a_node_belongs_to_the_node(output: str, value: str) -> None:
    assert value_written_as([output], SHAPE) == value
