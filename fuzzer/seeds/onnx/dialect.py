"""The record of how files become cases of ONNX."""

from __future__ import annotations

from fuzzer.seeds.dialect import DialectSeeds
from fuzzer.seeds.onnx.calls import in_rows_of_onnx
from fuzzer.seeds.onnx.domains import copies, needed

SEEDS = DialectSeeds(resolve={".onnx": in_rows_of_onnx}, needed=needed, copies=copies)
