"""What each lane is for, in words. docs/lanes.md and `fuzz lanes --json` have them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from generators.dialect_names import DEFAULT, NAMES
from oracles.importers import plain_importer
from oracles.lane import LaneSpec

LIKE_EXPORT = tuple(f"relax-{plain_importer(dialect)}-" for dialect in NAMES if dialect != DEFAULT)
"""How the names of the lanes of other dialects than PyTorch begin. What has no line of its own does what the lane of
torch.export's program does that ends with the same name."""

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
