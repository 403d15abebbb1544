"""The record of how files become cases of PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from fuzzer.seeds.dialect import DialectSeeds
from fuzzer.seeds.onnx.graph import OnnxGraph
from fuzzer.seeds.resolved import Resolved
from fuzzer.seeds.torch.domains import copies, needed
from fuzzer.seeds.torch.from_onnx.file import program_of
from fuzzer.seeds.torch.program import Program
from fuzzer.seeds.torch.resolve import resolve
from generators.graph import Array


def _exported(program: Program, path: Path, given: Mapping[str, Array]) -> Resolved:
    return resolve(program)


def _translated(graph: OnnxGraph, path: Path, given: Mapping[str, Array]) -> Resolved:
    """A file of ONNX, with its nodes translated."""
    return replace(resolve(program_of(graph, path)), open=graph.open)


SEEDS = DialectSeeds(resolve={".pt2": _exported, ".onnx": _translated}, needed=needed, copies=copies)
