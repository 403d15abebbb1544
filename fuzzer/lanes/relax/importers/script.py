"""From the TVMScript of a case of Relax to a Relax module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tvm
from tvm import relax

from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.relax.guard_zones import Constants
from generators.graph import Array
from generators.relax.source import module
from oracles.lane import LaneSpec
from oracles.stage import Stage


def read(
    prepared: PreparedCase, spec: LaneSpec, step: Step, constants: Constants, keep: bool
) -> tuple[Any, Mapping[str, Array]]:
    """The parameters of the case are parameters of main, as importers of TVM keep them, or become constants."""
    name = "relax_module_open" if spec.symbolic else "relax_module"
    text = prepared.once(name, lambda: _parsed(prepared, open_sizes=spec.symbolic))
    step(Stage.IMPORT)
    parsed = tvm.ir.load_json(text)  # no lane shares a module
    with constants.guarded():
        owned = {each: tvm.runtime.tensor(array) for each, array in prepared.case.owned.items()}
    if not keep:
        return relax.transform.BindParams("main", owned)(parsed) if owned else parsed, prepared.inputs
    parsed["main"] = parsed["main"].with_attr("params", list(owned.values()))
    return parsed, prepared.inputs


def _parsed(prepared: PreparedCase, *, open_sizes: bool) -> str:
    """The module as TVM writes it: a parse takes 50 times as long as to read that."""
    prepared.step(Stage.RENDER)
    made = module(prepared.case.graph if open_sizes else prepared.case.bound)
    for helper in made.helpers:
        exec(helper, {"tvm": tvm})
    prepared.step(Stage.IMPORT)
    # the lane's own checker says what is ill-formed
    parsed = tvm.script.from_source(made.text, check_well_formed=False)
    written: str = tvm.ir.save_json(relax.transform.LambdaLift()(parsed) if made.is_lifted else parsed)
    return written
