"""generators/onnx/schemas.json is what the installed onnx and onnxruntime say."""

from __future__ import annotations

import onnx_schemas
import pytest


@pytest.mark.tvm
def test_the_file_is_what_the_packages_say() -> None:
    assert onnx_schemas.FILE.read_text() == onnx_schemas.text()
