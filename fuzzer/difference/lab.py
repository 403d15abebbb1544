"""A lab in which only what fails in the patched toolchain, and not in the base, is a failure.

The lanes run in the patched toolchain. A lane that fails there runs in the base too, to its end, and with the
references that judge its values. Where it fails there as well, in whatever way, its outcome is replaced by `Skipped`,
which no oracle judges. So tests, reduction, confirmation and blame look for what is wrong in the patched toolchain
alone, and are otherwise those of every campaign. A lane that does not support a case fails where the base supports it.

All lanes of some tests, and those of investigations, run in the base too. That shows what fails in the base alone, and
what costs more than there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from fuzzer.difference.changed_code import ChangedCode
from fuzzer.difference.comparisons import Comparisons
from fuzzer.difference.failures import failures_in, refusal
from fuzzer.difference.pair import Pair, described
from fuzzer.isolate.fleet import Lab, RunLanes
from fuzzer.isolate.reports import SanitizerReport, ScriptRun
from fuzzer.lanes import needed
from fuzzer.triage.undisturbed import joined
from generators import case_file
from generators.graph import Case
from oracles.finding import Finding, runs_exported_program
from oracles.lane import Engine, LaneSpec, is_tier_1
from oracles.outcome import BaseCosts, Broken, Built, Outcome, Outcomes, Ran, Result, Skipped, Unsupported

IN_BOTH = Skipped("it fails in the base too")

ALL_TWINS_OF = 4
"""All lanes of one test in this many run in the base too."""

Fixed = Callable[[Case, Finding], None]
"""Called with what fails in the base alone."""


class _InBoth(Enum):
    """What is known of a lane in both toolchains."""

    RIGHT = auto()
    WORSE = auto()  # it fails in the patched toolchain alone
    FIXED = auto()  # it fails in the base alone
    BOTH = auto()


@dataclass(slots=True)
class _Runs:
    """What this thread ran of one case.

    outcomes   the outcomes so far
    base       the outcomes of twins, by the lane in the patched toolchain
    verdicts   what was said of a lane last
    all_twins  whether lanes that do not fail are compared too
    reached    what the lanes reached of the changed code
    differing  what the compilers did otherwise, by the lanes that ran in both
    """

    case: Case | None = None
    outcomes: dict[LaneSpec, Outcome] = field(default_factory=dict)
    base: dict[LaneSpec, Outcome] = field(default_factory=dict)
    verdicts: dict[LaneSpec, _InBoth] = field(default_factory=dict)
    all_twins: bool = False
    reached: set[str] = field(default_factory=set)
    differing: set[str] = field(default_factory=set)


class DifferenceLab:
    """Runs lanes in the patched toolchain, and compares them with the base. Several threads may call it at the same
    time; the runs of one case are those of one thread."""

    def __init__(
        self,
        lab: Lab,
        pair: Pair,
        fixed: Fixed,
        changed: ChangedCode = ChangedCode(),
        named: Collection[LaneSpec] = (),
    ) -> None:
        """`named` are the lanes that run in every test, where tests have no tiers."""
        self._lab, self._pair, self._fixed, self._changed = lab, pair, fixed, changed
        self._named = frozenset(named)
        self._here = threading.local()
        self.comparisons = Comparisons()

    @property
    def versions(self) -> dict[str, str]:
        """Those of the lab, and both toolchains in words: each report says which one is right."""
        return {**self._lab.versions, "base": described(self._pair.base), "patched": described(self._pair.patched)}

    @property
    def cpu_seconds(self) -> float:
        return self._lab.cpu_seconds

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return self._compared(self._lab.run, case, lanes)

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return self._compared(self._lab.run_fresh, case, lanes)

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        return self._lab.examine(case, lane)

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        return self._lab.run_script(source, lane)

    def reached(self, case: Case) -> tuple[Collection[str], Collection[str]]:
        """What the lanes of the case reached of the changed code, and what the compilers did otherwise. The thread that
        ran them may ask."""
        runs: _Runs | None = getattr(self._here, "runs", None)
        return (runs.reached, runs.differing) if runs and runs.case is case else ((), ())

    def _compared(self, run: RunLanes, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        result = run(case, lanes)
        runs = self._runs_of(case, result)
        failures = failures_in(case, runs.outcomes)
        alone = [lane for lane in runs.outcomes if self._pair.is_patched(lane) and lane not in runs.verdicts]
        known = [
            lane for lane in alone if is_tier_1(lane) and lane in failures and self.comparisons.is_known(failures[lane])
        ]
        runs.verdicts |= dict.fromkeys(known, _InBoth.BOTH)
        compared = [lane for lane in alone if lane not in known and (lane in failures or runs.all_twins)]
        twins = {lane: self._twin(lane, lane in failures) for lane in compared}
        references = dict.fromkeys(each for lane in twins if lane in failures for each in needed(lane))
        missing = [each for each in references if each not in runs.outcomes and not runs_exported_program(each)]
        ran = run(case, (*missing, *twins.values())) if twins else Result({})
        runs.outcomes |= {lane: ran.outcomes[lane] for lane in missing}
        failures = failures_in(case, runs.outcomes)
        base = {lane: ran.outcomes[twin] for lane, twin in twins.items()}
        self.comparisons.ran(len(base))
        self._trace(runs, result.outcomes, base)
        runs.base |= base
        # what exporters and onnxruntime do is the same with both
        others = [lane for lane, failure in failures.items() if lane.engine is not Engine.TVM]
        changed = {**dict.fromkeys((*known, *others), IN_BOTH), **dict(self._judged(case, runs, failures))}
        spent = joined(result, ran)
        return Result({**result.outcomes, **changed}, spent.stage_cpu, spent.cpu_seconds)

    def _judged(
        self, case: Case, runs: _Runs, failures: Mapping[LaneSpec, Finding]
    ) -> Iterator[tuple[LaneSpec, Outcome]]:
        """The outcomes of lanes that ran in both, where what is known of them is new: other lanes may have been missing
        to judge them."""
        failures_of_base = failures_in(case, {**runs.outcomes, **runs.base})
        for lane, base in runs.base.items():
            verdict = _in_both(lane in failures, lane in failures_of_base or isinstance(base, Skipped | Broken))
            if runs.verdicts.get(lane) is verdict:
                continue
            runs.verdicts[lane], patched = verdict, runs.outcomes[lane]
            match verdict:
                case _InBoth.BOTH:
                    self.comparisons.failed_in_both(failures[lane])
                    yield lane, IN_BOTH
                case _InBoth.WORSE:
                    yield lane, refusal(patched) if isinstance(patched, Unsupported) else patched
                case _InBoth.FIXED:
                    if lane in failures_of_base:
                        self._fixed(case, failures_of_base[lane])
                case _InBoth.RIGHT:
                    yield lane, _with_costs(patched, base)

    def _twin(self, lane: LaneSpec, fails: bool) -> LaneSpec:
        """The lane in the base. Where a lane that ends early fails, the base has to be right to the end of the run."""
        twin = self._pair.twin(lane)
        return replace(twin, until=None) if fails else twin

    def _trace(self, runs: _Runs, now: Outcomes, base: Outcomes) -> None:
        """Record what the lanes reached of the changed code, and what the twins did otherwise."""
        for lane, outcome in now.items():
            if self._pair.is_patched(lane):
                runs.reached.update(self._changed.reached_by(lane, outcome))
        for lane, outcome in base.items():
            runs.reached.update(self._changed.reached_by(lane, outcome))
            runs.differing.update(_differing(outcome, runs.outcomes[lane]))

    def _runs_of(self, case: Case, result: Result) -> _Runs:
        """What this thread ran of the case, with this result."""
        runs: _Runs = getattr(self._here, "runs", None) or _Runs()
        if runs.case is not case:
            digest = int(case_file.digest(case)[:8], 16)
            whole = bool(self._named) and self._named <= result.outcomes.keys()
            is_test = whole or any(is_tier_1(lane) for lane in result.outcomes)
            runs = self._here.runs = _Runs(case, all_twins=not is_test or digest % ALL_TWINS_OF == 0)
        runs.outcomes |= result.outcomes
        for lane in result.outcomes:  # it may have run before
            runs.base.pop(lane, None)
            runs.verdicts.pop(lane, None)
        return runs


def _in_both(patched_fails: bool, base_fails: bool) -> _InBoth:
    if patched_fails:
        return _InBoth.BOTH if base_fails else _InBoth.WORSE
    return _InBoth.FIXED if base_fails else _InBoth.RIGHT


def _differing(base: Outcome, patched: Outcome) -> Iterator[str]:
    """What one of the compilers did and the other did not, where both came to an end."""
    if not (isinstance(base, Ran | Built) and isinstance(patched, Ran | Built)):
        return
    before, now = set(base.facts.behaviour), set(patched.facts.behaviour)
    yield from (f"- {name}" for name in before - now)
    yield from (f"+ {name}" for name in now - before)


def _with_costs(patched: Outcome, base: Outcome) -> Outcome:
    """The outcome with what the lane cost in the base, where both came to an end."""
    if not (isinstance(patched, Ran | Built) and isinstance(base, Ran | Built)):
        return patched
    theirs = base.facts
    costs = BaseCosts(theirs.compile_seconds, theirs.constant_bytes, theirs.built_bytes, theirs.peak_bytes)
    return replace(patched, facts=replace(patched.facts, base=costs))
