"""What each lane is for, in words. docs/lanes.md and `fuzz lanes --json` have them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from oracles.lane import LaneSpec

LIKE_EXPORT = ("relax-onnx-model-", "relax-module-")
"""The lanes of cases of ONNX and of Relax. What has no line of its own does what the lane of torch.export's program
does that ends with the same name."""

PURPOSES: Mapping[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
"""By the name of the lane."""


def purpose_of(lane: LaneSpec) -> str:
    """What a lane of `fuzzer.lanes` is for. Raise `KeyError` where nobody has written it down."""
    if lane.name in PURPOSES:
        return PURPOSES[lane.name]
    for beginning in LIKE_EXPORT:
        same = lane.name.replace(beginning, "relax-export-", 1)
        if lane.name.startswith(beginning) and same in PURPOSES:
            return PURPOSES[same]
    raise KeyError(f"write down what the lane {lane.name} is for in fuzzer/campaign/lanes/lane_purposes.toml")
