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
    CauseCounts(
        {Level.CRITICAL: 9, Level.HIGH: 12, Level.LOW: 1},
        *(27, 18, 7, 12, 1, 3, (Component.EXPORTER,), 1, 0),
        new={Level.CRITICAL: 1, Level.HIGH: 1},
        known={Level.CRITICAL: 8, Level.HIGH: 10},
        known_met=5,
    ),
    3,
    (
        ConfirmedLine(Level.CRITICAL, "`torch.squeeze` + `F.linear` gives wrong values", True, NOW - 90),
        ConfirmedLine(Level.HIGH, "`torch.where` gives float32 instead of int64 (converter `_where`)", True, NOW - 9),
        ConfirmedLine(Level.HIGH, "Running compiled `torch.cumsum` ends the process (SIGSEGV)", False, NOW - 9000),
        ConfirmedLine(Level.LOW, "Compiling `torch.sort` does not come to an end", False, NOW - 9999),
    ),
    (
        ProvisionalLine(6, "Perhaps `acos` or `cos` fails: Unresolved call Op(tirx.acos)", "internal-error-acos-00-11"),
        ProvisionalLine(1, "A model of 4 operators gives wrong values", "wrong-value-abs-00-11"),
    ),
)
"""Seven provisional causes, of which two are described here."""


def snapshot(**other: Any) -> Snapshot:
    values: dict[str, Any] = {
        "folder": Path("/campaigns/night"),
        "seed": 99,
        "tvm": "0.27.0.post1",
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
        "tasks": (CurrentTask("testing case 12346", 98.0), CurrentTask("reducing `square` (died)", 60.0, True)),
        "resources": Resources(122_000_000, 1_900_000_000, 5, 17_100_000_000, 51_000_000_000),
    }
    return Snapshot(**{**values, **other})
