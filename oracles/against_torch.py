"""The outputs equal PyTorch's in number, shape, dtype and values.

A lane that imports an ONNX file is judged only where a reader of the same file agrees with PyTorch. Where none does,
the file is another function than the model, and TVM is not at fault (`against_onnxruntime`). TVM is not at fault either
where PyTorch's own run of the exported program differs from the model (`against_export`).
"""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Array, Case
from oracles.compare import judge as judge
from oracles.finding import (
    Component,
    Finding,
    exported_program_of,
    is_other_reader,
    onnx_file_of,
    runs_exported_program,
)
from oracles.lane import LaneSpec, is_reference, returns_gradients
from oracles.outcome import Outcomes, Ran, Stage
from oracles.reference import difference, expected


def against_torch(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    for lane, outputs in comparable_results(outcomes).items():
        if not is_other_reader(lane) and (found := difference(lane, outputs, outcomes)):
            kind, evidence = found
            yield Finding(kind, Component.TVM, lane, Stage.RUN, evidence)


def comparable_results(outcomes: Outcomes) -> dict[LaneSpec, tuple[Array, ...]]:
    """Return the outputs, by lane, that can be compared with PyTorch's; empty without a full reference."""
    right = expected(outcomes)
    if right is None:
        return {}
    ran = {lane: out.outputs for lane, out in outcomes.items() if isinstance(out, Ran) and not returns_gradients(lane)}
    good_files = {
        onnx_file_of(lane) for lane, out in ran.items() if is_other_reader(lane) and judge(out, right) is None
    }
    wrong_programs = {
        exported_program_of(lane) for lane, out in ran.items() if runs_exported_program(lane) and judge(out, right)
    }
    return {
        lane: outputs
        for lane, outputs in ran.items()
        if is_other_reader(lane)
        or (
            not is_reference(lane)
            and (not lane.importer.row.reads.is_exported_file or onnx_file_of(lane) in good_files)
            and exported_program_of(lane) not in wrong_programs
        )
    }
