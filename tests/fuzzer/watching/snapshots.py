"""A snapshot made by hand: a campaign that runs well, but for one lane."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fuzzer.campaign.lanes.activity import CurrentTask
from fuzzer.campaign.plan.settings import RunLimits
from fuzzer.campaign.run.phase import Phase, PhaseProgress
from fuzzer.findings.severity import Level
from fuzzer.watching.causes import CauseCounts
from fuzzer.watching.glance import ConfirmedLine, Glance, ProvisionalLine
from fuzzer.watching.health import LaneHealth
from fuzzer.watching.resources import Resources
from fuzzer.watching.snapshot import Snapshot
from oracles.finding import Component

NOW = 1_800_000_000.0

FAILING = LaneHealth("relax-export-c", {"ran": 4, "raised": 36}, {"ran": 95, "raised": 5})
SOUND = LaneHealth("relax-export-llvm", {"ran": 38, "unsupported": 2}, {"ran": 450, "unsupported": 50})

SEEN = Glance(
    CauseCounts({Level.CRITICAL: 1, Level.HIGH: 2, Level.LOW: 1}, 9, 0, 7, 12, 1, 3, (Component.EXPORTER,), 1),
    3,
    (
        ConfirmedLine(Level.HIGH, "wrong-dtype where: the result has a wrong dtype", True),
        ConfirmedLine(Level.CRITICAL, "wrong-value squeeze, linear: the result is silently wrong", False),
        ConfirmedLine(Level.HIGH, "died cumsum: it ends the process", False),
        ConfirmedLine(Level.LOW, "timed-out sort: it does not end", False),
    ),
    (
        ProvisionalLine(6, "internal-error acos or cos: Unresolved call Op(tirx.acos)", "internal-error-acos-00-11"),
        ProvisionalLine(1, "wrong-value (no suspect): output 0 should be 1.0, but is 2.0.", "wrong-value-abs-00-11"),
    ),
)
"""Seven provisional causes, of which two are described here."""


def snapshot(**other: Any) -> Snapshot:
    values: dict[str, Any] = {
        "folder": Path("/campaigns/night"),
        "seed": 99,
        "pid": 4321,
        "now": NOW,
        "seconds": 3725.0,
        "limits": RunLimits(7200.0),
        "phase": PhaseProgress(Phase.FUZZING, 3475.0, 0.517),
        "run_tests": 1850,
        "run_lane_results": 9250,
        "run_findings": 3,
        "new": frozenset({"a", "b", "c"}),
        "causes": SEEN,
        "tests": 12345,
        "invalid": 2,
        "errors": 0,
        "next_test": 12346,
        "lane_results": 67890,
        "triage_lane_results": 5120,
        "cpu_seconds": 30000.4,
        "wall_seconds": 25000.0,
        "supervisor_share": 0.031,
        "stage_cpu": {"export": 100.0, "compile": 250.0, "run": 50.0, "import": 60.0, "load": 20.0, "start": 20.0},
        "tests_per_second": 0.5,
        "lane_results_per_second": 4.25,
        "findings": {("tvm", "wrong-value"): 7, ("tvm", "timed-out"): 2, ("exporter", "internal-error"): 1},
        "flaky": 1,
        "triage_share": 0.35,
        "triage_used": 0.333,
        "drain": 60.0,
        "today": 4,
        "last": "wrong-value-squeeze-linear-3f2a0c1b2d3e",
        "last_found": NOW - 200,
        "known": 812,
        "features": 1204,
        "aim": "",
        "curve": [(30 * n, 10 * n, 50 * n, 100 * n, n, 60 * n) for n in range(9)],
        "lanes": (FAILING, SOUND),
        "workers": 2,
        "tasks": (CurrentTask("test 12346", 98.0), CurrentTask("triage: died in relax-export-c", 60.0)),
        "resources": Resources(122_000_000, 1_900_000_000, 5, 17_100_000_000, 51_000_000_000),
    }
    return Snapshot(**{**values, **other})
