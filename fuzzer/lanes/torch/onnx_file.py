"""The files that the exporters of torch.onnx write of a case of PyTorch."""

from __future__ import annotations

import io
from typing import Any

from fuzzer.lanes.base.constant_folding import fold_constants
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.torch.prepared import given_program, model_of, tensors_of
from oracles.importers import Importer
from oracles.outcome import Stage


def exported_file(prepared: PreparedCase, importer: Importer, opset: int | None) -> bytes:
    """The file as it was exported."""
    return prepared.once(f"{importer}_{opset}_as_exported", lambda: _export(prepared, importer, opset))


def exported_file_with_open_sizes(prepared: PreparedCase, importer: Importer, opset: int | None) -> bytes:
    """The file as it was exported of a given program that leaves sizes open, which stay open."""
    return prepared.once(f"{importer}_{opset}_open", lambda: _export_open(prepared, opset), reads_inputs=False)


def folded_file(prepared: PreparedCase, importer: Importer, opset: int | None) -> bytes:
    """The file with constants folded."""
    file = exported_file(prepared, importer, opset)
    prepared.step(Stage.VERIFY)
    return fold_constants(file)


def _export_open(prepared: PreparedCase, opset: int | None) -> bytes:
    import torch

    program = given_program(prepared)
    file: Any = io.BytesIO()
    prepared.step(Stage.EXPORT)
    names = list(prepared.inputs)
    with torch.no_grad():
        torch.onnx.export(program, (), file, dynamo=True, verbose=False, input_names=names, opset_version=opset)
    written: bytes = file.getvalue()
    return written


def _export(prepared: PreparedCase, importer: Importer, opset: int | None) -> bytes:
    import torch

    model = model_of(prepared)
    file: Any = io.BytesIO()  # torch.onnx.export accepts file objects, but its annotation does not
    prepared.step(Stage.EXPORT)
    options: dict[str, Any] = {"input_names": list(prepared.inputs), "opset_version": opset}
    with torch.no_grad():
        if importer.row.reads.is_by_dynamo:
            torch.onnx.export(model, tensors_of(prepared), file, dynamo=True, verbose=False, **options)
        else:
            torch.onnx.export(model, tensors_of(prepared), file, dynamo=False, **options)
    written: bytes = file.getvalue()
    return written
