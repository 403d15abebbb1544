"""Check a lane that was read from a file: every name in it must be in the table that it belongs to."""

from __future__ import annotations

import re

from generators.graph import Invalid
from oracles.lane import LaneSpec, is_relay
from oracles.targets import target_named
from oracles.transforms import RELAY_TRANSFORMS, TRANSFORMS, own_transform

VARIANT = re.compile(r"[a-z0-9][a-z0-9-]*")
OPTION = re.compile(r"[a-z_]+(\.[A-Za-z_0-9]+)+")
PASS = re.compile(r"[A-Za-z_][A-Za-z_0-9.]*")
STEP = re.compile(r"[\w.:<>@/+=, -]{1,200}", re.ASCII)
"""What the checker of well-formedness ran after: "import", or the name of a pass in TVM, which its author chose."""


def invalid_reason(lane: LaneSpec) -> str | None:
    """Return why the lane cannot run, in one sentence; None where it can."""
    relay = is_relay(lane)
    known = {row.name for row in (RELAY_TRANSFORMS if relay else TRANSFORMS)}
    if unknown := [name for name in lane.passes if name not in known and (relay or own_transform(name) is None)]:
        return f"no pass is called {unknown[0]!r}"
    if why := _why_no_target(lane.target):
        return why
    if not VARIANT.fullmatch(lane.variant):
        return f"no lane is of the variant {lane.variant!r}"
    if unknown := [name for name in lane.options if not OPTION.fullmatch(name)]:
        return f"no option of TVM is called {unknown[0]!r}"
    if unknown := [name for name in lane.disabled if not PASS.fullmatch(name)]:
        return f"no pass of TVM is called {unknown[0]!r}"
    if not 0 <= lane.opt_level <= 4:
        return f"there is no optimisation level {lane.opt_level}"
    if lane.tracing is not None:
        return "a lane in a finding has no tracing"
    if lane.until is not None:
        return "a lane in a finding runs to its end"
    return None


def _why_no_target(text: str) -> str | None:
    try:
        target_named(text)
    except Invalid as error:
        return str(error)
    return None
