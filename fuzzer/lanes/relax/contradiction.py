"""A Relax module made by hand that contradicts itself: one of the founding bugs of difftvm.

Its `conv2d` returns (1, 64, 56, 56), but the kernel of the ReLU that follows was made for (64, 64, 56, 56). An earlier
TVM's check accepted the module, and the build failed on it. The lane does not use the case. It runs in every release
of TVM that has Relax.
"""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax, te, topi

from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Built, Mutant, MutantFate, Stage
from oracles.targets import target_named

GIVEN, TAKEN = (1, 64, 56, 56), (64, 64, 56, 56)
MAX_MESSAGE = 500


class ContradictionLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        return None

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Built:
        """Record whether TVM refuses the module, fails on it, or builds it."""
        change = f"a kernel made for {TAKEN} takes {GIVEN}"
        step(Stage.IMPORT)
        module = contradiction()
        step(Stage.VERIFY)
        if refusal := refused(module):
            fate, message = MutantFate.REFUSED, refusal
        else:
            step.note(mutants=(Mutant(change, MutantFate.DIED),))  # this stays if the build ends the process
            step(Stage.COMPILE)
            fate, message = _built(module, spec)
        step.note(mutants=(Mutant(change, fate, message[:MAX_MESSAGE]),))
        return Built()


def contradiction() -> Any:
    tensor_type = relax.TensorStructInfo if hasattr(relax, "TensorStructInfo") else relax.TensorType
    taken = te.placeholder(TAKEN, name="a")
    builder = relax.BlockBuilder()
    relu = te.create_prim_func([taken, topi.nn.relu(taken)]).with_attr("global_symbol", "relu")
    kernel = builder.add_func(relu, "relu")
    x = relax.Var("x", tensor_type((1, 3, 56, 56), "float32"))
    w = relax.Var("w", tensor_type((64, 3, 3, 3), "float32"))
    with builder.function("main", [x, w]):
        given = builder.emit(relax.op.nn.conv2d(x, w, padding=(1, 1)))
        builder.emit_func_output(builder.emit(relax.call_tir(kernel, [given], tensor_type(TAKEN, "float32"))))
    return builder.get()


def refused(module: Any) -> str:
    """Return why the check refuses the module, or an empty string.

    Up to TVM 0.17 `well_formed` returns a boolean, later releases raise an exception."""
    try:
        accepted = relax.analysis.well_formed(module)
    except Exception as error:  # any exception of the check is a refusal
        return f"{type(error).__name__}: {error}"
    return "" if accepted is None or accepted else "it is not well formed"


def _built(module: Any, spec: LaneSpec) -> tuple[MutantFate, str]:
    try:
        relax.build(module, tvm.target.Target(dict(target_named(spec.target).config)))
    except Exception as error:  # a later step refuses what the check accepted
        return MutantFate.RAISED, f"{type(error).__name__}: {error}"
    return MutantFate.MISCOMPILED, "it is built"
