"""One Relax module that contradicts itself, made by hand: a founding bug of difftvm.

Its `conv2d` gives (1, 64, 56, 56), and the kernel of the ReLU that takes this was made for (64, 64, 56, 56). TVM's
checker once let it pass, and the build failed on it. The case at hand is not looked at. Runs in every release of TVM
that has Relax: what they name otherwise is asked for in one place.
"""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax, te, topi

from fuzzer.lanes.base.bench import Bench, Step
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Built, Mutant, MutantFate, Stage

GIVEN, TAKEN = (1, 64, 56, 56), (64, 64, 56, 56)
MAX_MESSAGE = 500


class ContradictionLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        return None

    def run(self, bench: Bench, spec: LaneSpec, step: Step) -> Built:
        """What becomes of the module is noted."""
        told = f"a kernel made for {TAKEN} takes {GIVEN}"
        step(Stage.IMPORT)
        module = contradiction()
        step(Stage.VERIFY)
        if refusal := refused(module):
            fate, message = MutantFate.REFUSED, refusal
        else:
            step.note(mutants=(Mutant(told, MutantFate.DIED),))  # until something else is known of it
            step(Stage.COMPILE)
            fate, message = _built(module, spec)
        step.note(mutants=(Mutant(told, fate, message[:MAX_MESSAGE]),))
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
    """What the checker says against it; empty where it is content. Up to 0.17 it gives a boolean, later it raises."""
    try:
        content = relax.analysis.well_formed(module)
    except Exception as error:  # whatever the checker raises is its verdict
        return f"{type(error).__name__}: {error}"
    return "" if content is None or content else "it is not well formed"


def _built(module: Any, spec: LaneSpec) -> tuple[MutantFate, str]:
    try:
        relax.build(module, tvm.target.Target(spec.target))
    except Exception as error:  # whatever refuses it: the checker did not
        return MutantFate.RAISED, f"{type(error).__name__}: {error}"
    return MutantFate.MISCOMPILED, "it is built"
