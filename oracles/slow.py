"""A lane compiles as fast as the others of its test, for what it has to do.

Its work is the number of kernels that it compiles and of passes that it runs, both also to fold constants. Their costs
were fitted to 263 compilations of random cases (`benchmarks/compile_work.py`): what one lane needed for its work was at
most 2.2 times what the median of the others needed for theirs, so that a factor of four shows. CPU time is measured: a
busy machine does not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from generators.graph import Case
from oracles.finding import OTHER_LANES, Component, Excess, Finding, Kind, Quantity
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Built, Facts, Outcome, Outcomes, Ran, Stage, facts_of
from oracles.transforms import ModuleForm, Rounding, is_own, transform_named

ONCE, EACH_KERNEL, EACH_PASS = 0.015, 0.0075, 0.0003
"""CPU seconds of a compilation, of each kernel and of each pass, on the machine of the measurement. Only their ratios
matter."""

TIMES_OTHERS, SECONDS = 3.2, 0.05
TIMES_OTHERS_OF_RELAY, SECONDS_OF_RELAY = 10.0, 5.0
"""difftvm does not count the kernels and passes of Relay."""


def slow(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    """A lane is not judged where no other lane compiled the case for its target: some models take long to compile. Nor
    is a case with empty tensors: nothing is left of its kernels in some lanes."""
    if not all(type.numel for type in case.bound.types.values()):
        return
    spent = {
        lane: facts_of(outcome)
        for lane, outcome in outcomes.items()
        if lane.engine is Engine.TVM and was_compiled(outcome) and not _does_other_work(lane)
    }
    for lane, own in spent.items():
        others = [fact for other, fact in spent.items() if other != lane and _comparable(lane, own, other, fact)]
        if others and own.compile_seconds > (allowed := _allowed(own, others)):
            excess = Excess(Quantity.TIME, round(own.compile_seconds, 2), round(allowed, 2), OTHER_LANES)
            yield Finding(Kind.SLOW, Component.TVM, lane, Stage.COMPILE, excess)


def was_compiled(outcome: Outcome) -> bool:
    """Whether a lane was compiled to the end: one that fails after a few passes has hardly begun."""
    return isinstance(outcome, Ran | Built) and outcome.facts.compile_seconds > 0


def _does_other_work(lane: LaneSpec) -> bool:
    """Whether the number of kernels and passes says too little about the work: passes give the kernels other loops, or
    write the module as text and read it, which takes 0.05 s for a kernel. A user's own pass may do anything."""
    rows = [transform_named(name) for name in lane.passes]
    schedules = any(row.form is ModuleForm.KERNELS and row.rounding is Rounding.OTHER_ORDER for row in rows)
    return schedules or any(row.round_trip or is_own(row.name) for row in rows)


def _comparable(lane: LaneSpec, own: Facts, other: LaneSpec, facts: Facts) -> bool:
    """Whether two lanes have the same code generator: another one, or checks of arguments, take another time."""
    if not own.passes or not facts.passes:
        return not own.passes and not facts.passes
    return (lane.toolchain, lane.target, lane.asserts) == (other.toolchain, other.target, other.asserts)


def _allowed(own: Facts, others: list[Facts]) -> float:
    if not own.passes:
        return max(SECONDS_OF_RELAY, TIMES_OTHERS_OF_RELAY * median(fact.compile_seconds for fact in others))
    most = max(work(own), median(map(work, others)))  # a fused kernel has the loops of several
    return TIMES_OTHERS * most * median(fact.compile_seconds / work(fact) for fact in others) + SECONDS


def work(facts: Facts) -> float:
    """Return the CPU seconds that a compilation takes on the machine of the measurement, by what it does."""
    return ONCE + EACH_KERNEL * facts.kernels + EACH_PASS * facts.passes
