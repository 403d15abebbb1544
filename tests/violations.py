"""For every oracle: outcomes that violate its equation, and outcomes of all lanes that violate none."""

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
from oracles.memory_access import Access, MemoryAccess, Side
from oracles.outcome import BaseCosts, Facts, IllFormed, Mutant, MutantFate, Outcome, Ran, Stage


def _lane(name: str, **adds: Any) -> LaneSpec:
    """A lane whose plain sibling is `TVM`."""
    return replace(TVM, name=f"relax-export-{name}", asserts=False, **adds)


ZERO = _lane("zero", pipeline=Pipeline.ZERO, checked=True)
FOLDED = _lane("folded", passes=("FoldConstant", "FuseOps"))
SCRIPT = _lane("script", passes=("ScriptRoundTrip",))
JSON = _lane("json", passes=("JsonRoundTrip",))
LIBRARY = _lane("library", as_library=True)
AGAIN = _lane("again", fresh=True)
LIFTED = _lane("lifted", params=Params.LIFTED, checked=True)
SYMBOLIC = _lane("symbolic", symbolic=True)
GRADIENT = _lane("gradient", variant="gradient")
MUTANTS = _lane("mutants", variant="mutants")
GRADIENT_REFERENCES = (
    LaneSpec("torch-grad", Engine.TORCH, variant="gradient"),
    LaneSpec("torch-grad-f64", Engine.TORCH, variant="gradient-f64"),
    LaneSpec("torch-grad-envelope", Engine.TORCH, variant="gradient-envelope"),
)

RIGHT = fakes.TWO_OUTPUTS
VALUE_AND_GRADIENT = (fakes.expect(1.5, envelope=0.02), fakes.expect([[0.5, -1.0, 2.0]], envelope=0.02))
"""The output that is differentiated, and its gradient."""
WRONG = fakes.wrong_value(RIGHT)
FACTS = Facts(
    parameter_bytes=4000,
    needed_bytes=4000,
    constant_bytes=4000,
    built_bytes=60_000,
    peak_bytes=8 << 20,
    compile_seconds=0.2,
    kernels=4,
    passes=80,
)


def _rounded_the_other_way() -> Ran:
    """A result as far from the truth as the tolerance allows, on the other side than that of the plain lane."""
    outputs = tuple(fakes.within(right, -0.99) for right in RIGHT)
    return Ran(outputs, tuple(array.copy() for array in outputs), FACTS)


def _gradients() -> dict[LaneSpec, Outcome]:
    runs = fakes.references(*VALUE_AND_GRADIENT)
    return dict(zip(GRADIENT_REFERENCES, (runs[lane] for lane in (TORCH, TORCH_F64, TORCH_ENVELOPE)), strict=True))


CORRECT_RUN = replace(fakes.correct(RIGHT), facts=FACTS)
CORRECT_OUTCOMES: Mapping[LaneSpec, Outcome] = {
    **fakes.references(*RIGHT),
    **_gradients(),
    **dict.fromkeys((ONNXRUNTIME, ONNX_REFERENCE, EXPORTED, TVM, SCRIPT, JSON, LIBRARY, AGAIN), CORRECT_RUN),
    **dict.fromkeys((TVM_C, TVM_ONNX, ZERO, FOLDED, LIFTED, SYMBOLIC), _rounded_the_other_way()),
    GRADIENT: replace(fakes.correct(VALUE_AND_GRADIENT), facts=FACTS),
    MUTANTS: replace(
        CORRECT_RUN,
        facts=replace(FACTS, mutants=(Mutant("a shape", MutantFate.REFUSED), Mutant("b", MutantFate.HARMLESS))),
    ),
}
"""An outcome for each lane. No oracle objects to any of them."""


@dataclass(frozen=True)
class Violation:
    """A change of `CORRECT_OUTCOMES`, and the finding that it gives.

    lane, outcome  the lane that violates an equation, and its outcome
    kind           the kind of the finding
    component      the component at fault
    more           other outcomes that are changed too; None removes the lane
    """

    lane: LaneSpec
    outcome: Outcome
    kind: Kind
    component: Component = Component.TVM
    more: Mapping[LaneSpec, Outcome | None] | None = None

    @property
    def outcomes(self) -> dict[LaneSpec, Outcome]:
        changed = {**CORRECT_OUTCOMES, self.lane: self.outcome, **(self.more or {})}
        return {lane: outcome for lane, outcome in changed.items() if outcome is not None}


def one_bit_off(ran: Ran) -> Ran:
    """The same result with one element off by one unit in the last place, in both runs: within any tolerance."""
    first = np.nextafter(ran.outputs[0], ran.outputs[0].dtype.type(0))
    outputs: tuple[Array, ...] = (np.where(np.arange(first.size).reshape(first.shape) == 0, first, ran.outputs[0]),)
    outputs += ran.outputs[1:]
    return replace(ran, outputs=outputs, again=outputs)


def ran_with(**facts: Any) -> Ran:
    """A correct result with other facts."""
    return replace(CORRECT_RUN, facts=replace(FACTS, **facts))


_WRONG_GRADIENT = replace(
    fakes.correct(VALUE_AND_GRADIENT),
    outputs=(VALUE_AND_GRADIENT[0].eager, *fakes.wrong_value(VALUE_AND_GRADIENT[1:]).outputs),
    again=None,
)


def shifted(ran: Ran, relative: float) -> Ran:
    """The same result with all floats of the first output off by `relative` times the largest."""
    first = ran.outputs[0] + np.float32(relative * np.max(np.abs(ran.outputs[0])))
    return replace(ran, outputs=(first, *ran.outputs[1:]), again=None)


_OTHER_VOTES = dict.fromkeys((ZERO, FOLDED, LIFTED, SYMBOLIC), shifted(CORRECT_RUN, 0.99 * 2.0**-11))

VIOLATIONS: dict[str, Violation] = {
    "well_formed": Violation(
        ZERO, ran_with(checked=("import",), ill_formed=IllFormed("FuseOps", "ValueError", "no")), Kind.ILL_FORMED
    ),
    "crash": Violation(TVM_C, fakes.segfault(Stage.RUN), Kind.DIED),
    "memory_safety": Violation(
        TVM_C,
        ran_with(accesses=(MemoryAccess(Access.READ, "input x0", Side.BEFORE, 1, "float32"),)),
        Kind.OUT_OF_BOUNDS_READ,
    ),
    "modified_inputs": Violation(TVM_C, ran_with(modified=("x0",)), Kind.MODIFIED_INPUT),
    "second_run": Violation(TVM_C, fakes.unstable(RIGHT), Kind.SECOND_RUN_DIFFERS),
    "fresh_process": Violation(AGAIN, one_bit_off(CORRECT_RUN), Kind.NONDETERMINISTIC),
    "round_trips": Violation(SCRIPT, one_bit_off(CORRECT_RUN), Kind.WRONG_VALUE),
    "passes_change_nothing": Violation(ZERO, WRONG, Kind.WRONG_VALUE),
    "lifted_equals_unlifted": Violation(LIFTED, WRONG, Kind.WRONG_VALUE),
    "symbolic_equals_static": Violation(SYMBOLIC, WRONG, Kind.WRONG_VALUE),
    "against_onnxruntime": Violation(ONNXRUNTIME, WRONG, Kind.WRONG_VALUE, Component.ONNXRUNTIME),
    "against_export": Violation(EXPORTED, WRONG, Kind.WRONG_VALUE, Component.EXPORTER),
    "gradient_equals_autograd": Violation(GRADIENT, _WRONG_GRADIENT, Kind.WRONG_VALUE),
    "against_torch": Violation(TVM_C, WRONG, Kind.WRONG_VALUE),
    "agreement": Violation(
        TVM_C, shifted(CORRECT_RUN, 2.02 * 2.0**-11), Kind.WRONG_VALUE, more={**_OTHER_VOTES, TORCH_F64: None}
    ),
    "aliased_outputs": Violation(TVM_C, ran_with(aliases=((1, "x0"),)), Kind.ALIASED_OUTPUT),
    "bloat": Violation(TVM_C, ran_with(constant_bytes=16_000), Kind.BLOAT),
    "slow": Violation(ZERO, ran_with(compile_seconds=0.8), Kind.SLOW),
    "dearer_than_base": Violation(TVM_C, ran_with(built_bytes=12_000, base=BaseCosts(built_bytes=1000)), Kind.BLOAT),
    "checker_gap": Violation(
        MUTANTS, ran_with(mutants=(Mutant("an argument fewer", MutantFate.RAISED, "type mismatch"),)), Kind.CHECKER_GAP
    ),
}
"""For each oracle, outcomes that violate its equation."""

ALSO_CAUGHT_BY = {name: {"against_torch"} for name in VIOLATIONS if name.endswith(("unlifted", "static", "nothing"))}
"""For an oracle, the other oracles that object too.

A lane that is wrong where its sibling is right also differs from PyTorch. The comparison with the sibling comes first,
because it names what the lane adds.
"""
