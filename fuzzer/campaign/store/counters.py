"""The counters of a campaign: what was run, what it cost, how it ended. They are added up over all runs."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from fuzzer.campaign.store.judged_counts import JudgedCounts
from fuzzer.campaign.store.numbers import Count, Seconds
from fuzzer.signature import missing_features
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Broken, Outcome, Result, Skipped, Stage, Unsupported

COMPILER_STAGES = frozenset(Stage) - {Stage.START, Stage.RENDER}
"""The stages whose time is spent in torch, TVM and onnxruntime."""

MAX_REASONS = 500
OTHER_REASONS = "(other reasons)"


class Counters(msgspec.Struct):
    """The counters.

    invalid              tests whose case PyTorch refuses
    errors               tests that difftvm itself could not do
    lane_results         outcomes of TVM lanes in tests, without unsupported and skipped ones
    triage_lane_results  the same in triage
    unsupported          by lane, the outcomes that were unsupported
    lacking              by lane and by operator or feature, the tests in which it was not supported
    environment          by reason, the lanes that were skipped because this machine lacks something
    broken               by lane, the outcomes in which difftvm's own code raised an exception
    evaluation_disagrees by lane, the tests in which difftvm evaluated the imported module wrongly. These are errors of
                         difftvm
    judged               how much of the results of tests is judged
    stage_cpu            by stage, CPU seconds of the lanes
    triage_steps         by step of triage, CPU seconds of the lanes
    """

    tests: Count = 0
    invalid: Count = 0
    errors: Count = 0
    lane_results: Count = 0
    triage_lane_results: Count = 0
    unsupported: dict[str, Count] = msgspec.field(default_factory=dict)
    lacking: dict[str, dict[str, Count]] = msgspec.field(default_factory=dict)
    environment: dict[str, Count] = msgspec.field(default_factory=dict)
    broken: dict[str, Count] = msgspec.field(default_factory=dict)
    evaluation_disagrees: dict[str, Count] = msgspec.field(default_factory=dict)
    judged: JudgedCounts = msgspec.field(default_factory=JudgedCounts)
    stage_cpu: dict[str, Seconds] = msgspec.field(default_factory=dict)
    triage_steps: dict[str, Seconds] = msgspec.field(default_factory=dict)
    test_cpu_seconds: Seconds = 0.0
    """CPU time of the lanes that tests ran."""
    triage_cpu_seconds: Seconds = 0.0
    """CPU time of the lanes that triage ran."""
    cpu_seconds: Seconds = 0.0
    """CPU time of all processes: the supervisor, zygotes, children and the processes that they started."""
    wall_seconds: Seconds = 0.0

    def add(self, result: Result, *, triage: bool = False) -> None:
        counted = sum(_is_result(lane, outcome) for lane, outcome in result.outcomes.items())
        if triage:
            self.triage_cpu_seconds += result.cpu_seconds
            self.triage_lane_results += counted
        else:
            self.test_cpu_seconds += result.cpu_seconds
            self.lane_results += counted
            for lane, outcome in result.outcomes.items():
                match outcome:
                    case Unsupported():
                        self.unsupported[lane.name] = self.unsupported.get(lane.name, 0) + 1
                        for name in missing_features(outcome):
                            _count(self.lacking.setdefault(lane.name, {}), name)
                    case Broken():
                        self.broken[lane.name] = self.broken.get(lane.name, 0) + 1
                    case Skipped(reason=reason, environment=True):
                        _count(self.environment, reason)
                    case _:
                        pass
        for stage, seconds in result.stage_cpu.items():
            self.stage_cpu[stage] = self.stage_cpu.get(stage, 0.0) + seconds

    @property
    def compiler_cpu(self) -> float:
        return sum(seconds for stage, seconds in self.stage_cpu.items() if stage in COMPILER_STAGES)

    @property
    def triage_used(self) -> float:
        """The part of the CPU time of all lanes that triage has had."""
        return self.triage_cpu_seconds / max(self.test_cpu_seconds + self.triage_cpu_seconds, 1e-9)

    def summary(self) -> Mapping[str, object]:
        """The counters as the JSON summary has them."""
        total = max(self.cpu_seconds, 1e-9)
        results = self.lane_results + self.triage_lane_results
        return {
            "tests": self.tests,
            "invalid": self.invalid,
            "errors": self.errors,
            "lane_results": self.lane_results,
            "triage_lane_results": self.triage_lane_results,
            "cpu_seconds": round(self.cpu_seconds, 2),
            "test_cpu_seconds": round(self.test_cpu_seconds, 2),
            "triage_cpu_seconds": round(self.triage_cpu_seconds, 2),
            "triage_steps": {step: round(s, 2) for step, s in sorted(self.triage_steps.items())},
            "triage_used": round(self.triage_used, 3),
            "wall_seconds": round(self.wall_seconds, 2),
            "stage_cpu_seconds": {stage: round(s, 2) for stage, s in sorted(self.stage_cpu.items())},
            "lane_results_per_cpu_second": round(results / total, 3),
            "outside_compilers_share": round(1 - min(1.0, self.compiler_cpu / total), 4),
            "unsupported": dict(sorted(self.unsupported.items())),
            "environment": dict(sorted(self.environment.items())),
            "broken": dict(sorted(self.broken.items())),
            "evaluation_disagrees": dict(sorted(self.evaluation_disagrees.items())),
            "judged": msgspec.to_builtins(self.judged),
        }


def _is_result(lane: LaneSpec, outcome: Outcome) -> bool:
    return lane.engine is Engine.TVM and not isinstance(outcome, Unsupported | Skipped | Broken)


def _count(counts: dict[str, int], reason: str) -> None:
    """Count a reason. When `counts` has `MAX_REASONS` entries, new reasons are counted together."""
    key = reason if reason in counts or len(counts) < MAX_REASONS else OTHER_REASONS
    counts[key] = counts.get(key, 0) + 1
