"""The form of texts and numbers in lanes, outcomes and evidence. They come from processes of lanes, which may have
overwritten their memory, and from files of others."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator

from generators.text_forms import LINE, LONG_TEXT, SHORT_TEXT, TEXT, Forms, TextForm, form
from oracles.finding import Evidence, Excess, Kind, Mismatch, SideEffect
from oracles.lane import LaneSpec
from oracles.lane_check import OPTION, PASS, STEP, VARIANT
from oracles.memory_access import MemoryAccess
from oracles.outcome import Cause, Died, Facts, Frame, IllFormed, Mutant, Raised, WrongOperand
from oracles.target_kinds import TEXT as TARGET
from oracles.targets import MOST_TEXT as MOST_TARGET
from oracles.trace import MistypedOperator, OperatorCheck, PassRun, Trace

MOST_DISTANCE = 1 << 26
"""The most elements between a tensor and an access: as many as a tensor may have (`generators.check`)."""

NAME = form(r"[\w.@/+ -]{1,100}", "is no name")
EXCEPTION = form(r"[\w.<>\[\]]{0,300}", "is no type of an exception")
_STEP = TextForm(STEP, "is neither the import nor a pass")
_VALUE = form(r"[\w.]{0,100}", "is no value of a graph")
_KIND = form("|".join(["", *Kind]), "is no kind of failure")
_DTYPE = form(r"bool|bfloat16|float(16|32|64)|u?int(8|16|32|64)", "is no dtype")
_TENSOR = form(
    r"(input|output|constant|allocated) \w{1,20}|a constant|an intermediate tensor", "is no tensor of a model"
)

FORMS: Forms = {
    (LaneSpec, "name"): NAME,
    (LaneSpec, "variant"): TextForm(VARIANT, "is no variant of a lane", 100),
    (LaneSpec, "toolchain"): NAME,
    (LaneSpec, "passes"): LINE,  # `invalid_reason` looks in the tables
    (LaneSpec, "disabled"): TextForm(PASS, "is no pass of TVM", 200),
    (LaneSpec, "options"): TextForm(OPTION, "is no option of TVM", 200),
    (LaneSpec, "target"): TextForm(TARGET, "is no target", MOST_TARGET),
    (Raised, "type"): EXCEPTION,
    (Raised, "message"): TEXT,
    (Frame, "file"): TEXT,
    (Frame, "function"): TEXT,
    (Frame, "owner"): TEXT,
    (Died, "log"): LONG_TEXT,
    (Mismatch, "expected"): SHORT_TEXT,
    (Mismatch, "actual"): SHORT_TEXT,
    (Mismatch, "against"): LINE,
    (Mismatch, "by"): LINE,
    (Mismatch, "also"): LINE,
    (IllFormed, "after"): _STEP,
    (IllFormed, "type"): EXCEPTION,
    (IllFormed, "message"): TEXT,
    (IllFormed, "follows"): _KIND,
    (Mutant, "change"): SHORT_TEXT,
    (Mutant, "message"): TEXT,
    (Mutant, "edits"): LONG_TEXT,  # `faults_of_evidence` reads it
    (SideEffect, "modified"): _VALUE,
    (SideEffect, "aliases"): _VALUE,
    (Excess, "against"): LINE,
    (MemoryAccess, "tensor"): _TENSOR,
    (MemoryAccess, "dtype"): _DTYPE,
    (Facts, "checked"): _STEP,
    (Facts, "modified"): _VALUE,
    (Facts, "aliases"): _VALUE,
    (Facts, "behaviour"): SHORT_TEXT,
    (Facts, "undefined"): NAME,
    (Facts, "reached"): SHORT_TEXT,
    (Facts, "overflow"): _VALUE,
    (Facts, "pointed"): _VALUE,
    (WrongOperand, "value"): _VALUE,
    **{
        (Trace, name): LONG_TEXT
        for name in (
            *("under_way", "converters", "legalizations", "left", "types", "before", "after", "outside"),
            *("contradiction", "other_types", "lines", "calls", "places"),
        )
    },
    (PassRun, "name"): SHORT_TEXT,
    **{(MistypedOperator, name): SHORT_TEXT for name in ("by", "made", "right", "value")},
    **{(OperatorCheck, name): SHORT_TEXT for name in ("operator", "by")},
}
"""The form of each text of these types."""

_SIGNALS = frozenset(map(int, signal.Signals))


def faults_of_evidence(evidence: Evidence) -> Iterator[str]:
    """What a form of texts does not say."""
    match evidence:
        case Died(cause=Cause.SIGNAL, code=code) if code not in _SIGNALS:
            yield f"evidence: there is no signal {code}"
        case MemoryAccess(distance=distance) if distance not in range(MOST_DISTANCE + 1):
            yield f"evidence: an access {distance} elements away"
        case Mismatch() if min(evidence.output, evidence.elements, evidence.wrong) < 0:
            yield "evidence: the position of an output, or a number of elements, is negative"
        case SideEffect(aliases=aliases) if any(output < 0 for output, _ in aliases):
            yield "evidence: the position of an output is negative"
        case Mutant(edits=edits) if edits and not _are_edits(edits):
            yield "evidence: the edits of the module are no list of numbers and nodes"


def _are_edits(text: str) -> bool:
    try:
        edits = json.loads(text)
    except (ValueError, RecursionError):
        return False
    pairs = edits if isinstance(edits, list) else [None]
    return all(isinstance(each, list) and len(each) == 2 and type(each[0]) is int for each in pairs)
