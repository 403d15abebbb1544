"""For every oracle: lanes that are honest up to the largest legal rounding, and one that commits exactly its sin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import fakes
import numpy as np
from fakes import EXPORTED, ONNX_REFERENCE, ONNXRUNTIME, TORCH, TORCH_ENVELOPE, TORCH_F64, TVM, TVM_C, TVM_ONNX

from generators.graph import Array
from oracles.finding import Component, Kind
from oracles.lane import Engine, LaneSpec, Params, Pipeline
from oracles.outcome import Facts, IllFormed, Mutant, MutantFate, Outcome, Ran, Stage


def _beside(name: str, **adds: Any) -> LaneSpec:
    return replace(TVM, name=f"relax-export-{name}", asserts=False, **adds)


ZERO = _beside("zero", pipeline=Pipeline.ZERO, checked=True)
FOLDED = _beside("folded", passes=("FoldConstant", "FuseOps"))
SCRIPT = _beside("script", passes=("ScriptRoundTrip",))
JSON = _beside("json", passes=("JsonRoundTrip",))
LIBRARY = _beside("library", as_library=True)
AGAIN = _beside("again", fresh=True)
LIFTED = _beside("lifted", params=Params.LIFTED, checked=True)
SYMBOLIC = _beside("symbolic", symbolic=True)
GRADIENT = _beside("gradient", variant="gradient")
MUTANTS = _beside("mutants", variant="mutants")
GRADIENT_REFERENCES = (
    LaneSpec("torch-grad", Engine.TORCH, variant="gradient"),
    LaneSpec("torch-grad-f64", Engine.TORCH, variant="gradient-f64"),
    LaneSpec("torch-grad-envelope", Engine.TORCH, variant="gradient-envelope"),
)

RIGHT = fakes.TWO_OUTPUTS
VALUE_AND_GRADIENT = (fakes.expect(1.5, envelope=0.02), fakes.expect([[0.5, -1.0, 2.0]], envelope=0.02))
"""What is differentiated, and its gradient."""
WRONG = fakes.wrong_value(RIGHT)
PLAIN = Facts(parameter_bytes=4000, constant_bytes=4000, built_bytes=90_000, peak_bytes=8 << 20, compile_seconds=0.2)


def _below() -> Ran:
    """As far from the truth as is legal, on the other side of it than the plain lane."""
    outputs = tuple(fakes.within(right, -0.99) for right in RIGHT)
    return Ran(outputs, tuple(array.copy() for array in outputs), PLAIN)


def _gradients() -> dict[LaneSpec, Outcome]:
    runs = fakes.references(*VALUE_AND_GRADIENT)
    return dict(zip(GRADIENT_REFERENCES, (runs[lane] for lane in (TORCH, TORCH_F64, TORCH_ENVELOPE)), strict=True))


SAME = replace(fakes.correct(RIGHT), facts=PLAIN)
CORRECT_OUTCOMES: Mapping[LaneSpec, Outcome] = {
    **fakes.references(*RIGHT),
    **_gradients(),
    **dict.fromkeys((ONNXRUNTIME, ONNX_REFERENCE, EXPORTED, TVM, SCRIPT, JSON, LIBRARY, AGAIN), SAME),
    **dict.fromkeys((TVM_C, TVM_ONNX, ZERO, FOLDED, LIFTED, SYMBOLIC), _below()),
    GRADIENT: replace(fakes.correct(VALUE_AND_GRADIENT), facts=PLAIN),
    MUTANTS: replace(
        SAME, facts=replace(PLAIN, mutants=(Mutant("a shape", MutantFate.REFUSED), Mutant("b", MutantFate.HARMLESS)))
    ),
}
"""Everybody, and nobody lies."""


@dataclass(frozen=True)
class Violation:
    """Who does what otherwise than in `CORRECT_OUTCOMES`, and what that is called."""

    lane: LaneSpec
    outcome: Outcome
    kind: Kind
    component: Component = Component.TVM
    more: Mapping[LaneSpec, Outcome | None] | None = None

    @property
    def outcomes(self) -> dict[LaneSpec, Outcome]:
        changed = {**CORRECT_OUTCOMES, self.lane: self.outcome, **(self.more or {})}
        return {lane: outcome for lane, outcome in changed.items() if outcome is not None}


def one_bit(ran: Ran) -> Ran:
    """One unit in the last place of one element off, both times: any tolerance forgives it."""
    first = np.nextafter(ran.outputs[0], ran.outputs[0].dtype.type(0))
    outputs: tuple[Array, ...] = (np.where(np.arange(first.size).reshape(first.shape) == 0, first, ran.outputs[0]),)
    outputs += ran.outputs[1:]
    return replace(ran, outputs=outputs, again=outputs)


def facts(**seen: Any) -> Ran:
    return replace(SAME, facts=replace(PLAIN, **seen))


_STEEP = replace(
    fakes.correct(VALUE_AND_GRADIENT),
    outputs=(VALUE_AND_GRADIENT[0].eager, *fakes.wrong_value(VALUE_AND_GRADIENT[1:]).outputs),
    again=None,
)


def nudged(ran: Ran, relative: float) -> Ran:
    """All floats off by that part of the largest: the most that lanes may differ by where there is no envelope."""
    first = ran.outputs[0] + np.float32(relative * np.max(np.abs(ran.outputs[0])))
    return replace(ran, outputs=(first, *ran.outputs[1:]), again=None)


_VOTES = dict.fromkeys((ZERO, FOLDED, LIFTED, SYMBOLIC), nudged(SAME, 0.99 * 2.0**-11))

VIOLATIONS: dict[str, Violation] = {
    "well_formed": Violation(
        ZERO, facts(checked=("import",), ill_formed=IllFormed("FuseOps", "ValueError", "no")), Kind.ILL_FORMED
    ),
    "crash": Violation(TVM_C, fakes.segfault(Stage.RUN), Kind.DIED),
    "modified_inputs": Violation(TVM_C, facts(modified=("x0",)), Kind.MODIFIED_INPUT),
    "second_run": Violation(TVM_C, fakes.unstable(RIGHT), Kind.UNSTABLE),
    "fresh_process": Violation(AGAIN, one_bit(SAME), Kind.NONDETERMINISTIC),
    "round_trips": Violation(SCRIPT, one_bit(SAME), Kind.WRONG_VALUE),
    "passes_change_nothing": Violation(ZERO, WRONG, Kind.WRONG_VALUE),
    "lifted_equals_unlifted": Violation(LIFTED, WRONG, Kind.WRONG_VALUE),
    "symbolic_equals_static": Violation(SYMBOLIC, WRONG, Kind.WRONG_VALUE),
    "against_onnxruntime": Violation(ONNXRUNTIME, WRONG, Kind.WRONG_VALUE, Component.ONNXRUNTIME),
    "against_export": Violation(EXPORTED, WRONG, Kind.WRONG_VALUE, Component.EXPORTER),
    "gradient_equals_autograd": Violation(GRADIENT, _STEEP, Kind.WRONG_VALUE),
    "against_torch": Violation(TVM_C, WRONG, Kind.WRONG_VALUE),
    "agreement": Violation(TVM_C, nudged(SAME, 2.02 * 2.0**-11), Kind.WRONG_VALUE, more={**_VOTES, TORCH_F64: None}),
    "aliased_outputs": Violation(TVM_C, facts(aliases=((1, "x0"),)), Kind.ALIASED_OUTPUT),
    "bloat": Violation(TVM_C, facts(constant_bytes=200_000), Kind.BLOAT),
    "slow": Violation(TVM_C, facts(compile_seconds=9.0), Kind.SLOW),
    "checker_gap": Violation(
        MUTANTS, facts(mutants=(Mutant("an argument fewer", MutantFate.RAISED, "type mismatch"),)), Kind.CHECKER_GAP
    ),
}
"""By oracle: the sin that it is there for."""

ALSO_CAUGHT_BY = {name: {"against_torch"} for name in VIOLATIONS if name.endswith(("unlifted", "static", "nothing"))}
"""A lane that is wrong beside its sibling is wrong against PyTorch too; the sibling says more, and is asked first."""
