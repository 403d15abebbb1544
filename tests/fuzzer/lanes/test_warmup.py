"""Which lanes a zygote runs before it forks."""

from __future__ import annotations

from fuzzer.lanes import LANES
from fuzzer.lanes.warmup import different
from generators.dialect_names import NAMES
from oracles.importers import plain_importer
from oracles.lane import Engine, Importer, LaneSpec


def test_a_lane_without_a_new_part_is_left_out() -> None:
    first = LaneSpec("first", Engine.TVM, Importer.EXPORT, target="llvm")
    importer = LaneSpec("importer", Engine.TVM, Importer.ONNX, target="llvm")
    target = LaneSpec("target", Engine.TVM, Importer.EXPORT, target="c")
    both = LaneSpec("both", Engine.TVM, Importer.ONNX, target="c")
    engine = LaneSpec("engine", Engine.ONNXRUNTIME, Importer.ONNX, target="llvm")
    assert list(different([first, importer, target, both, engine])) == [first, importer, engine]
    assert list(different([both, first])) == [both, first]


def test_no_c_compiler_runs_meanwhile() -> None:
    left_out = {str(lane) for lane in LANES} - {str(lane) for lane in different(LANES)}
    assert left_out == {f"relax-{plain_importer(dialect)}-c" for dialect in NAMES}
