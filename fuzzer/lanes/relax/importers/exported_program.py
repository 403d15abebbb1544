"""From a program of torch.export to a Relax module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tvm.relax.frontend.torch import from_exported_program

from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.relax.guard_zones import Constants
from fuzzer.lanes.torch import symbolic
from fuzzer.lanes.torch.prepared import exported, exported_raw, given_program
from generators.graph import Array
from oracles.importers import Importer
from oracles.lane import LaneSpec
from oracles.stage import Stage


def read(
    prepared: PreparedCase, spec: LaneSpec, step: Step, constants: Constants, keep: bool
) -> tuple[Any, Mapping[str, Array]]:
    by_tvm = spec.importer is Importer.EXPORT_TVM
    if by_tvm or spec.importer is Importer.EXPORT_RAW:
        program = given_program(prepared) if spec.symbolic and prepared.case.given else exported_raw(prepared)
    else:
        program = symbolic.exported(prepared, step) if spec.symbolic else exported(prepared)
    step(Stage.IMPORT)
    with constants.guarded():
        module = from_exported_program(program, run_ep_decomposition=by_tvm, keep_params_as_input=keep)
    return module, prepared.inputs
