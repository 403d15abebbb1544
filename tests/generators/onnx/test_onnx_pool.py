"""Versions of poolings."""

from __future__ import annotations

from generators.onnx.rows import ROWS


def test_versions_that_a_reader_lacks_have_no_row() -> None:
    assert "GlobalLpPool-2" in ROWS
    assert "GlobalLpPool-22" not in ROWS
    assert not any(name.startswith("Einsum-28") for name in ROWS)
