"""The times of compilations, measured again before a lane is called slow."""

from __future__ import annotations

from dataclasses import replace

from fuzzer.isolate.fleet import RunLanes
from generators.graph import Case
from oracles.outcome import Built, Outcome, Ran, Result
from oracles.slow import slow, was_compiled

MEASUREMENTS = 3
"""How often the lanes are measured before one of them is called slow."""


def measured_again(run: RunLanes, case: Case, result: Result) -> Result:
    """The result with the least of several measurements of each compilation, where a lane is slow by the first one.

    Other work on the machine takes the caches and so makes some measurements longer, of any lane, and none shorter.
    The outcomes are those of `result`; all runs are costs."""
    for _ in range(MEASUREMENTS - 1):
        if not any(slow(case, result.outcomes)):
            break
        lanes = [lane for lane, outcome in result.outcomes.items() if was_compiled(outcome)]
        again = run(case, lanes)
        shorter = {lane: _shorter(result.outcomes[lane], again.outcomes[lane]) for lane in lanes}
        stages = dict.fromkeys((*result.stage_cpu, *again.stage_cpu))
        spent = {stage: result.stage_cpu.get(stage, 0.0) + again.stage_cpu.get(stage, 0.0) for stage in stages}
        result = Result({**result.outcomes, **shorter}, spent, result.cpu_seconds + again.cpu_seconds)
    return result


def _shorter(one: Outcome, other: Outcome) -> Outcome:
    """The first outcome, with the shorter of the two times."""
    if not isinstance(one, Ran | Built) or not isinstance(other, Ran | Built) or not was_compiled(other):
        return one
    least = min(one.facts.compile_seconds, other.facts.compile_seconds)
    return replace(one, facts=replace(one.facts, compile_seconds=least))
