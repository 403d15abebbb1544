"""The judgement of one run of a Relax module, in the order in which `oracles.judge` judges lanes: an ill-formed module
first, because it explains every later failure; then an exception; then the results."""

from __future__ import annotations

from oracles.compare import judge
from oracles.expected_output import Expected
from oracles.finding import Kind
from oracles.outcome import Raised, Ran
from oracles.transforms import Rounding


def objection(
    outcome: Ran | Raised, right: tuple[Expected, ...], rounding: Rounding = Rounding.SAME
) -> tuple[Kind, str] | None:
    """Return the kind of failure, and what is wrong in one sentence. Return None where the module is right."""
    if broken := outcome.facts.ill_formed:
        return Kind.ILL_FORMED, f"after {broken.after}, TVM's checker refuses the module: {broken.message}"
    if isinstance(outcome, Raised):
        return Kind.INTERNAL_ERROR, f"{outcome.type}: {outcome.message}"
    if found := judge(outcome.outputs, right, rounding):
        kind, differs = found
        return kind, f"result {differs.output}: expected {differs.expected}, and it is {differs.actual}"
    return None
