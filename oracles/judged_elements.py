"""How many elements of the results of a case are judged, and why the others are not.

An element is judged where a wrong number shows. It does not where no number is expected, and where the tolerance
reaches the size of the number itself: then zero is right there, and so may be any small number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from generators.graph import Case, holds_floats
from generators.undefined import ROWS
from oracles.expected_output import Expected, rounded_to
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes, Ran, facts_of
from oracles.reference import doubtful, eager_run, expected
from oracles.tolerance import ALLOWANCES, is_wide
from oracles.transforms import Rounding, rounding_in


class Unjudged(StrEnum):
    """Why an element is not judged."""

    NO_REFERENCE = "the references give no result, or do not agree"
    DOUBTFUL = "the reference is further from float64 than rounding explains"
    NOT_FINITE = "of the reference and float64, one is finite and the other is not"
    ILL = "rounding decides it"
    OPEN = "rounding decides it, or no framework defines it"
    WIDE = "the tolerance is as wide as the number"
    OTHER_ROUNDING = "the passes round it in another way"


@dataclass(frozen=True, slots=True)
class JudgedElements:
    """The elements of the results of a case in the lanes that ran.

    elements          all of them
    unjudged          how many are not judged, by the reason
    overflow          the first value of the graph with a number that is too large for its dtype; "" where there is none
    has_floats        whether an output holds floats
    judged_floats     how many floats are judged
    different_floats  how many different numbers the judged floats of one output are, of the output with the most
    undefined         the rows of `generators.undefined` that hold for a node
    of_none           the outputs without a judged element, by number, each with the reasons
    """

    elements: int
    unjudged: Counter[Unjudged] = field(default_factory=Counter)
    overflow: str = ""
    has_floats: bool = False
    judged_floats: int = 0
    different_floats: int = 0
    undefined: tuple[str, ...] = ()
    of_none: tuple[tuple[int, Counter[Unjudged]], ...] = ()

    @property
    def judged(self) -> int:
        return self.elements - self.unjudged.total()

    @property
    def reasons(self) -> tuple[tuple[str, int], ...]:
        """Why elements are not judged, and how many, the most first."""
        return tuple((str(reason), count) for reason, count in self.unjudged.most_common())

    @property
    def none(self) -> bool:
        """Whether there are elements, and none of them is judged."""
        return self.elements > 0 and self.judged == 0


def elements_line(found: JudgedElements) -> str:
    """How many elements are judged, and why others are not, in one line."""
    others = "; ".join(f"{count} not: {reason}" for reason, count in found.reasons)
    return f"{found.judged} of {found.elements} elements are judged{f'; {others}' if others else ''}"


def reasons_in(case: Case, found: JudgedElements) -> tuple[tuple[str, int], ...]:
    """The reasons, with what is open, and the operator of the case at which a dtype overflows, where one does."""
    return tuple((f"{reason}{_detail(case, found, reason)}", count) for reason, count in found.unjudged.most_common())


def why_none(case: Case, found: JudgedElements) -> str:
    """Why no element of a case is judged, in one line: "no value of Mul, Sqrt is judged: ... (float16 overflows at Mul,
    node 0)"."""
    reasons = "; ".join(reason for reason, _ in reasons_in(case, found))
    return f"no value of {', '.join(dict.fromkeys(case.graph.ops))} is judged: {reasons}"


def unjudged_outputs(case: Case, found: JudgedElements) -> Iterator[tuple[str, str]]:
    """The outputs without a judged element, each with the reasons."""
    for number, reasons in found.of_none:
        texts = [f"{reason}{_detail(case, found, reason)}" for reason, _ in reasons.most_common()]
        yield case.graph.outputs[number], "; ".join(texts)


def _detail(case: Case, found: JudgedElements, reason: Unjudged) -> str:
    if reason is Unjudged.OPEN and found.undefined:
        return f" ({'; '.join(row.what for row in ROWS if row.name in found.undefined)})"
    return _overflow(case, found)


def _overflow(case: Case, found: JudgedElements) -> str:
    for number, node in enumerate(case.graph.nodes):
        if type := next((each.type for each in node.results if each.name == found.overflow), None):
            return f" ({type.dtype} overflows at {case.graph.ops[number]}, node {number})"
    return ""


def judged_elements(outcomes: Outcomes, lanes: Collection[LaneSpec]) -> JudgedElements:
    """Count the elements. One that is judged in one of the lanes that ran counts as judged."""
    ran = [lane for lane in lanes if isinstance(outcomes.get(lane), Ran)]
    right, eager = expected(outcomes), eager_run(outcomes)
    outputs = eager.outputs if eager and ran else ()
    elements, has_floats = sum(each.size for each in outputs), any(map(holds_floats, outputs))
    if right is None or not ran:
        reasons = Counter({Unjudged.NO_REFERENCE: elements} if elements else {})
        return JudgedElements(elements, reasons, has_floats=has_floats)
    facts = list(map(facts_of, outcomes.values()))
    undefined = tuple(sorted({name for each in facts for name in each.undefined}))
    overflow = next((each.overflow for each in facts if each.overflow), "")
    roundings = sorted({rounding_in(lane) for lane in ran})
    unjudged = Counter[Unjudged]()
    judged_floats = different_floats = 0
    of_none = []
    for number, each in enumerate(right):
        reasons, judged = _judged(each, roundings, bool(undefined))
        unjudged += reasons
        of_none += [(number, reasons)] if reasons and not judged.any() else []
        if holds_floats(each.eager):
            judged_floats += int(np.count_nonzero(judged))
            different_floats = max(different_floats, np.unique(each.eager[judged].astype(np.float64)).size)
    floats = has_floats, judged_floats, different_floats
    return JudgedElements(elements, unjudged, overflow, *floats, undefined, tuple(of_none))


def _judged(
    right: Expected, roundings: Collection[Rounding], open_choices: bool
) -> tuple[Counter[Unjudged], npt.NDArray[np.bool_]]:
    """The elements of one output that are judged with none of the roundings, by the first reason that holds; and where
    the judged ones are."""
    floats = holds_floats(right.eager)
    masks: list[tuple[Unjudged, npt.NDArray[np.bool_]]] = [
        (Unjudged.DOUBTFUL, doubtful(right)),
        (Unjudged.OPEN if open_choices else Unjudged.ILL, right.ill),
    ]
    if floats:
        masks += [(Unjudged.NOT_FINITE, _half_finite(right))]
        masks += [(Unjudged.WIDE, np.logical_and.reduce([is_wide(right, each) for each in roundings]))]
    elif not any(ALLOWANCES[each].integers for each in roundings):
        masks += [(Unjudged.OTHER_ROUNDING, np.ones(right.eager.shape, np.bool_))]
    left = np.ones(right.eager.shape, np.bool_)
    found = Counter[Unjudged]()
    for reason, mask in masks:
        found[reason] += int(np.count_nonzero(mask & left))
        left &= ~mask
    return +found, left


def _half_finite(right: Expected) -> npt.NDArray[np.bool_]:
    """Where one of the eager result and the truth is finite, or where they are infinite in other ways."""
    eager, truth = right.eager.astype(np.float64), rounded_to(right.truth, right.eager.dtype)
    both = np.isfinite(eager) & np.isfinite(truth)
    return np.asarray(~both & (eager != truth) & ~(np.isnan(eager) & np.isnan(truth)))
