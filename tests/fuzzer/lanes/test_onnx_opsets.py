"""The opsets of the ONNX lanes: at each version of a converter of TVM that files of these opsets can select."""

from __future__ import annotations

import numpy as np
import pytest
from graphs_by_hand import case_of
from small_models import CASES, outcome_of, small
from torch.onnx import _constants
from torch.onnx._internal.exporter._constants import TORCHLIB_OPSET

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import SAMPLED_LANES, TORCH, TVM_LANES, select
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.onnx.imported_file import onnx_file
from oracles.lane import Importer, LaneSpec
from oracles.outcome import Ran

pytestmark = pytest.mark.tvm

LANES = tuple(lane for lane in (*TVM_LANES, *SAMPLED_LANES) if lane.importer.row.reads.is_exported_file)

NOT_SELECTED = {("DequantizeLinear", 21), ("QuantizeLinear", 21)}
"""Versions for opsets 21 and 22 only."""


def opset_of(lane: LaneSpec) -> int:
    return lane.opset or _constants.ONNX_DEFAULT_OPSET


def selected(opset: int) -> set[tuple[str, int]]:
    """The version of each converter that TVM takes at an opset: the highest one that is not above it, or the lowest."""
    from tvm.relax.frontend.onnx import onnx_frontend

    found = set()
    for name, converter in onnx_frontend._get_convert_map().items():
        versions = sorted(int(key.removeprefix("_impl_v")) for key in dir(converter) if key.startswith("_impl_v"))
        found.add((name, max([version for version in versions if version <= opset], default=versions[0])))
    return found


def test_each_version_of_a_converter_is_selected_by_a_lane() -> None:
    by_lanes = {version for opset in set(map(opset_of, LANES)) for version in selected(opset)}
    possible = {version for opset in range(_constants.ONNX_MIN_OPSET, 40) for version in selected(opset)}
    assert possible - by_lanes == NOT_SELECTED


def test_the_lanes_have_the_oldest_and_the_newest_opset_of_the_torchscript_exporter() -> None:
    opsets = {opset_of(lane) for lane in LANES if lane.importer is Importer.ONNX}
    assert min(opsets) == _constants.ONNX_MIN_OPSET
    assert max(opsets) == _constants.ONNX_TORCHSCRIPT_EXPORTER_MAX_OPSET


def test_the_lanes_have_the_oldest_and_the_newest_opset_of_the_newer_exporter_that_tvm_tells_apart() -> None:
    opsets = {opset_of(lane) for lane in LANES if lane.importer is Importer.ONNX_DYNAMO}
    assert min(opsets) == TORCHLIB_OPSET
    assert selected(max(opsets)) == selected(40)


@pytest.mark.parametrize("lane", [lane for lane in LANES if lane.opset], ids=str)
def test_a_lane_reads_a_file_of_its_opset(executor: Executor, lane: LaneSpec) -> None:
    case = CASES["linear"]
    file = onnx_file(PreparedCase(case, Quiet()), lane.importer, lane.opset)
    assert [entry.version for entry in file.opset_import if not entry.domain] == [lane.opset]
    reference, outcome = (outcome_of(executor, case, each) for each in (TORCH, lane))
    assert isinstance(reference, Ran), reference
    assert isinstance(outcome, Ran), outcome
    np.testing.assert_allclose(outcome.outputs[0], reference.outputs[0], rtol=1e-5)


def test_at_opset_7_axes_and_bounds_are_attributes(executor: Executor) -> None:
    """The converters of TVM that no newer file reaches."""
    (lane,) = select("relax-onnx-llvm-opset7")
    attrs = {"min": -0.5, "max": 0.5}
    case = case_of(
        {"x0": "float32[1,4]"}, [("v0", "squeeze", "x0", {"dim": (0,)}), ("v1", "clamp", "v0", attrs)], "v1", small
    )
    file = onnx_file(PreparedCase(case, Quiet()), lane.importer, lane.opset)
    found = {node.op_type: [item.name for item in node.attribute] for node in file.graph.node}
    assert found == {"Squeeze": ["axes"], "Clip": ["max", "min"]}
    outcome = outcome_of(executor, case, lane)
    assert isinstance(outcome, Ran), outcome
