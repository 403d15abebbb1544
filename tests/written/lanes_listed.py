"""The tables of docs/lanes.md: what each lane is for, and which programs check the code for a target."""

from __future__ import annotations

from collections.abc import Sequence

from written_text import Written

from fuzzer.campaign.lanes.lane_purposes import purpose_of
from fuzzer.lanes import (
    EVALUATED_LANES,
    HONEST_LANES,
    MODEL_LANES,
    MODEL_SAMPLED_LANES,
    MODULE_LANES,
    MODULE_SAMPLED_LANES,
    ONNX_LANES,
    REFERENCES,
    RELAX_REFERENCES,
    RELAY_LANES,
    SAMPLED_LANES,
    TVM_LANES,
)
from fuzzer.lanes.target_table import SCHEDULED_LANES, TARGET_LANES
from oracles.lane import LaneSpec
from oracles.targets import TARGETS, CodeChecker

PAGE = "docs/lanes.md"
FOR_TARGETS = (*TARGET_LANES, *SCHEDULED_LANES)

TABLES: dict[str, Sequence[LaneSpec]] = {
    "references": REFERENCES,
    "evaluated-lanes": EVALUATED_LANES,
    "plain-lanes": TVM_LANES,
    "sampled-lanes": [lane for lane in SAMPLED_LANES if lane not in FOR_TARGETS],
    "lanes-for-targets": [lane for lane in SAMPLED_LANES if lane in FOR_TARGETS],
    "references-of-onnx": ONNX_LANES,
    "lanes-of-onnx": (*MODEL_LANES, *MODEL_SAMPLED_LANES),
    "references-of-relax": RELAX_REFERENCES,
    "lanes-of-relax": (*MODULE_LANES, *MODULE_SAMPLED_LANES),
    "lanes-of-relay": RELAY_LANES,
    "lanes-right-by-definition": HONEST_LANES,
}


def table(lanes: Sequence[LaneSpec]) -> str:
    rows = [f"| `{lane.name}` | {purpose_of(lane)} |" for lane in lanes]
    return "\n".join(["| lane | what it is for |", "|---|---|", *rows])


def checkers(_: str) -> str:
    rows = ["| target | checked by | from |", "|---|---|---|"]
    for target in TARGETS:
        if target.written:
            programs = "; ".join(map(_program, target.written.checkers))
            origins = "; ".join(map(_origin, target.written.checkers))
            rows.append(f"| {target.name} | {programs} | {origins} |")
    return "\n".join(rows)


def _program(checker: CodeChecker) -> str:
    return f"`{checker.program}`" + (f" with the package `{checker.package}`" if checker.package else "")


def _origin(checker: CodeChecker) -> str:
    return f"`{checker.install}`" if " install " in checker.install else checker.install


ROWS = (
    *(Written(name, PAGE, lambda _, lanes=lanes: table(lanes)) for name, lanes in TABLES.items()),
    Written("checkers", PAGE, checkers),
)
