"""The file of ONNX that an importer reads: that of a case of ONNX, or the one that an exporter of torch.onnx writes."""

from __future__ import annotations

import onnx

from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.onnx.prepared import file_of_case, file_with_open_sizes
from fuzzer.lanes.torch.onnx_file import exported_file, exported_file_with_open_sizes, folded_file
from oracles.importers import Importer
from oracles.lane import LaneSpec


def file_of_lane(prepared: PreparedCase, spec: LaneSpec) -> onnx.ModelProto:
    """A copy of the file that a lane imports, with the open sizes that the lane keeps."""
    if not spec.symbolic:
        return onnx_file(prepared, spec.importer, spec.opset)
    if spec.importer.row.reads.is_by_dynamo:
        return onnx.load_from_string(exported_file_with_open_sizes(prepared, spec.importer, spec.opset))
    return file_with_open_sizes(prepared)


def onnx_file(prepared: PreparedCase, importer: Importer, opset: int | None = None) -> onnx.ModelProto:
    """A copy of the file. Constants of an exported file are folded, but not in that of a model that a person gave:
    TVM imports what the exporter wrote."""

    def make() -> bytes:
        if not importer.row.reads.is_exported_file:
            return file_of_case(prepared, opset)
        if prepared.case.given is not None:
            return exported_file(prepared, importer, opset)
        return folded_file(prepared, importer, opset)

    return onnx.load_from_string(prepared.once(f"{importer}_{opset}", make))


def onnx_file_as_exported(prepared: PreparedCase, importer: Importer, opset: int | None = None) -> onnx.ModelProto:
    """A copy of the file that an exporter wrote, without constant folding."""
    return onnx.load_from_string(exported_file(prepared, importer, opset))
