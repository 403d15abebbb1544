"""The evidence of a finding as a report shows it: a table, the compiler's output, and a note."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from fuzzer.findings.record import FindingRecord
from fuzzer.findings.severity import KINDS
from fuzzer.report.plain_text import size
from fuzzer.report.what_is_wrong import OWN
from fuzzer.signature import is_difftvm_frame, readable
from generators.dialect import dialect_named, words_for
from oracles.finding import PYTORCH, Excess, Kind, Mismatch, Quantity, SideEffect, runs_exported_program
from oracles.lane import Engine, LaneSpec, is_reference
from oracles.memory_access import MemoryAccess
from oracles.outcome import Died, Facts, Frame, IllFormed, Mutant, Raised, Stage, TimedOut

FRAMES = 8
"""The number of innermost frames of a traceback that a report shows."""


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    """`rows` are pairs of a name and a value, `printed` is a compiler's output, `note` is a sentence with code between
    backticks."""

    rows: tuple[tuple[str, str], ...] = ()
    printed: str = ""
    note: str = ""


def shown_evidence(record: FindingRecord) -> ShownEvidence:
    match record.doc.evidence.evidence:
        case Raised(stage=stage, type=name, message=message, frames=frames, facts=facts):
            printed = readable(message) if name.startswith(OWN) else f"{name}: {readable(message)}"
            return ShownEvidence((), f"{_traceback(frames)}{printed}", _checked(stage, facts))
        case Died(stage=stage, log=log, facts=facts):
            return ShownEvidence((), _of_others(log), _checked(stage, facts))
        case TimedOut(stage=stage, seconds=seconds, facts=facts):
            return ShownEvidence((("no result within", f"{seconds:.0f} s"),), "", _checked(stage, facts))
        case Mismatch() as mismatch:
            return ShownEvidence(_element(record, mismatch))
        case IllFormed(after=after, type=name, message=message, follows=follows):
            then = f" After that, {KINDS[Kind(follows)][1]}." if follows else ""
            reported = f"`relax.analysis.well_formed` reports this after `{after}`.{then}"
            return ShownEvidence((), f"{name}: {readable(message)}", reported)
        case Mutant(change=change, fate=fate, message=message):
            rows = (("changed", change), ("well_formed", "accepts it"), ("what becomes of it", str(fate)))
            return ShownEvidence(rows, readable(message))
        case SideEffect(modified=modified, aliases=aliases):
            shared = ", ".join(f"output {output} with {name}" for output, name in aliases)
            return ShownEvidence(_nonempty((("inputs changed", ", ".join(modified)), ("memory shared", shared))))
        case MemoryAccess() as access:
            return ShownEvidence((("access", access.does), ("dtype", access.dtype)))
        case Excess(quantity=quantity, measured=measured, allowed=allowed, against=against):
            show = _seconds if quantity is Quantity.TIME else size
            return ShownEvidence(((str(quantity), show(measured)), (f"ample beside {against}", show(allowed))))
        case _:
            assert_never(record.doc.evidence.evidence)


def _nonempty(rows: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The rows that have a value."""
    return tuple((key, value) for key, value in rows if value)


def _seconds(number: float) -> str:
    return f"{number:.1f} s"


def _traceback(frames: Sequence[Frame]) -> str:
    """The innermost frames of other packages than difftvm. Paths begin at the installed package."""
    theirs = [frame for frame in frames if not is_difftvm_frame(frame)][-FRAMES:]
    return "".join(
        f"  {frame.file.rpartition('site-packages/')[2]}:{frame.line} {frame.function}\n" for frame in theirs
    )


_ENGINES = {Engine.TVM: "TVM", Engine.ONNXRUNTIME: "onnxruntime"}


def _element(record: FindingRecord, mismatch: Mismatch) -> tuple[tuple[str, str], ...]:
    """The worst element: its values, their difference, and the allowed difference."""
    worst, engine, kind = mismatch.worst, _name(record.doc.lane), record.doc.kind
    reference = _reference_name(mismatch, record)
    expected, actual = ("first run", "second run") if kind is Kind.SECOND_RUN_DIFFERS else (reference, engine)
    if worst is None:
        return _nonempty(((expected, mismatch.expected), (actual, mismatch.actual)))
    right = worst.expected if worst.truth is None else worst.truth
    ill = f"; {mismatch.ill_conditioned} are left out: rounding decides them" if mismatch.ill_conditioned else ""
    ill += f"; of {mismatch.wide}, the tolerance is as wide as the number" if mismatch.wide else ""
    allowed = f"{worst.tolerance:.3g}" if worst.tolerance else "none"
    rows = (
        ("worst element", f"output {mismatch.output}, {list(worst.index)}"),
        (expected, repr(worst.expected)),
        ("the same in float64", "" if worst.truth is None else repr(worst.truth)),
        (actual, repr(worst.actual)),
        ("difference", f"{abs(worst.actual - right):.3g}"),
        ("tolerance", allowed),
        ("wrong elements", f"{mismatch.wrong} of {mismatch.elements}{ill}"),
    )
    return _nonempty(rows)


def _name(lane: LaneSpec) -> str:
    """The name of who computed the lane's result."""
    if not is_reference(lane):
        return _ENGINES.get(lane.engine, "the lane")
    reference = dialect_named(lane.dialect).words.reference
    return f"{reference}, of what was exported" if runs_exported_program(lane) else reference


def _reference_name(mismatch: Mismatch, record: FindingRecord) -> str:
    """The name of what the lane is compared with."""
    if mismatch.against == PYTORCH:
        return words_for(record.case.graph).reference
    return f"TVM without {mismatch.by}" if mismatch.by else mismatch.against


_OWN_LINE = re.compile(r'  File "(fuzzer/.*|<frozen runpy>)", line \d+ in .*\n?|\n?Extension modules: .*')


def _of_others(log: str) -> str:
    """What a process printed as it died, without the frames of difftvm and the list of modules that Python adds."""
    return _OWN_LINE.sub("", log).strip()


def _checked(stage: Stage, facts: Facts) -> str:
    """A note that TVM's checker accepted the module that failed later; "" if it did not, or was not run."""
    if not facts.checked or facts.ill_formed or stage is Stage.IMPORT:
        return ""
    return f"`relax.analysis.well_formed` accepts the module (last after `{facts.checked[-1]}`)."
