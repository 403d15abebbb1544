"""From the graph of torch.fx.symbolic_trace to a Relax module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from tvm.relax.frontend.torch import from_fx

from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.relax.guard_zones import Constants
from fuzzer.lanes.torch.prepared import model_of
from generators.graph import Array
from oracles.lane import LaneSpec
from oracles.stage import Stage


def read(
    prepared: PreparedCase, _: LaneSpec, step: Step, constants: Constants, keep: bool
) -> tuple[Any, Mapping[str, Array]]:
    model = model_of(prepared)
    step(Stage.EXPORT)
    with torch.no_grad():
        traced = torch.fx.symbolic_trace(model)
    step(Stage.IMPORT)
    types = [(array.shape, str(array.dtype)) for array in prepared.inputs.values()]
    with torch.no_grad(), constants.guarded():
        return from_fx(traced, types, keep_params_as_input=keep), prepared.inputs
