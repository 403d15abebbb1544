"""The rows of the importers are complete, and in one order."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracles.importers import EXPENSIVE, Importer, Reads, drawn_importers, evaluated_importers, plain_importer

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("importer", Importer)
def test_a_row_is_complete(importer: Importer) -> None:
    row = importer.row
    assert bool(row.steps) == (row.reads is not Reads.MODEL)
    assert (importer in EXPENSIVE) == bool(row.fails_with)
    assert not row.code or (ROOT / f"fuzzer/lanes/relax/importers/{row.code}.py").is_file()
    assert (ROOT / f"fuzzer/templates/repro/importer/{row.script}.py.j2").is_file()
    assert importer.route.route is importer.route
    assert not (row.listed and row.route)
    assert not (row.drawn and not row.is_evaluated)
    assert (importer.program is not None) == row.reads.is_program
    assert importer.program is None or importer.program.row.reads is row.reads


def test_what_reads_files() -> None:
    assert {each for each in Reads if each.is_file} == {Reads.FILE, Reads.DYNAMO_FILE, Reads.FILE_OF_CASE}
    assert {each for each in Reads if each.is_exported_file} == {Reads.FILE, Reads.DYNAMO_FILE}


def test_the_order_of_drawn_and_evaluated_importers() -> None:
    """Another order would change the lanes of every test."""
    assert " ".join(drawn_importers("torch")) == "export onnx fx export-raw"
    assert " ".join(drawn_importers("onnx")) == "onnx-model"
    assert " ".join(drawn_importers("relax")) == "module"
    assert [plain_importer(dialect) for dialect in ("torch", "onnx")] == [Importer.EXPORT, Importer.ONNX_MODEL]
    cheap, expensive = "export onnx export-raw fx", "export-tvm onnx-dynamo"
    assert " ".join(evaluated_importers()) == f"{cheap} {expensive} onnx-model module"
