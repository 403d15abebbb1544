"""`issue.md`: the finding in the form of TVM's bug report. A draft for a person to read; nothing is sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from fuzzer.report import second_look
from fuzzer.report.finding_file import FindingDoc
from fuzzer.report.repro import headline
from fuzzer.triage.investigate import Confirmed
from fuzzer.triage.signature import is_ours, readable
from oracles.finding import PYTORCH, Component, Excess, Mismatch, SideEffect
from oracles.lane import speaks_relay
from oracles.outcome import Died, Facts, Frame, IllFormed, Mutant, Raised, Stage, TimedOut


def text(found: Confirmed, doc: FindingDoc, repro: str) -> str:
    versions = "\n".join(f"- {name} {version}" for name, version in doc.versions.items())
    ops = ", ".join(doc.ops)
    return f"""# [Bug] {_title(found, doc)}

### Expected behavior

The model runs in eager PyTorch, and every other way of running it gives the same result.

### Actual behavior

{headline(found.finding)}

{_details(found)}{second_look.text(found.reports)}
### Environment

{versions}

### Steps to reproduce

Save as `repro.py` and run it; it exits with 1 while the bug is there.

```python
{repro.rstrip()}
```

### Triage

- component: {doc.component}
- kind: {doc.kind}, in the {found.finding.stage} step
- operators of the reduced model: {ops}
- lanes that show it: {", ".join(doc.lanes)}
- confirmed in {doc.confirmed} fresh processes{" (flaky)" if doc.flaky else ""}
- signature: {doc.signature}
"""


def _title(found: Confirmed, doc: FindingDoc) -> str:
    language = "[Relay]" if speaks_relay(doc.lane) else "[Relax]"
    tag = {Component.TVM: language, Component.EXPORTER: "[ONNX export]"}.get(doc.component, f"[{doc.component}]")
    return f"{tag} {doc.kind.replace('-', ' ')}: {', '.join(doc.ops)}"


def _traceback(frames: Sequence[Frame]) -> str:
    """Without our own lines, which say nothing to those who read the report, and without where things are installed."""
    theirs = [frame for frame in frames if not is_ours(frame)][-8:]
    return "".join(
        f"  {frame.file.rpartition('site-packages/')[2]}:{frame.line} {frame.function}\n" for frame in theirs
    )


def _details(found: Confirmed) -> str:
    match found.finding.evidence:
        case Raised(stage=stage, type=name, message=message, frames=frames, facts=facts):
            return f"```\n{_traceback(frames)}{name}: {readable(message)[:2000]}\n```\n{_checked(stage, facts)}"
        case Died(stage=stage, log=log, facts=facts):
            return f"```\n{log.strip()[-2000:]}\n```\n{_checked(stage, facts)}"
        case TimedOut(stage=stage, facts=facts):
            return _checked(stage, facts)
        case Mismatch() as mismatch:
            return _element(mismatch, found.finding.lane.name) + _without(mismatch)
        case IllFormed(after=after, type=name, message=message):
            return f"The checker, after {after}:\n\n```\n{name}: {readable(message)[:2000]}\n```\n"
        case Mutant(change=change, fate=fate, message=message):
            told = f"\n```\n{readable(message)[:2000]}\n```\n" if message else ""
            return _rows({"changed": change, "the checker": "lets it pass", "what becomes of it": fate}) + told
        case SideEffect(modified=modified, aliases=aliases):
            shared = ", ".join(f"output {output} with {name}" for output, name in aliases)
            return _rows({"inputs changed": ", ".join(modified), "memory shared": shared})
        case Excess(quantity=quantity, measured=measured, allowed=allowed, against=against):
            times = f"{measured / allowed:.1f} times as much" if allowed else ""
            return _rows({quantity: f"{measured:,.6g}", f"ample beside {against}": f"{allowed:,.6g}", "": times})
        case _:
            assert_never(found.finding.evidence)


def _element(mismatch: Mismatch, lane: str) -> str:
    """The worst element: who says what, how far off that is, and how much is allowed."""
    worst = mismatch.worst
    if worst is None:
        return ""
    expects = mismatch.against if worst.truth is None and mismatch.against != PYTORCH else PYTORCH
    right = worst.expected if worst.truth is None else worst.truth
    ill = f"; {mismatch.ill_conditioned} ill-conditioned ones are not compared" if mismatch.ill_conditioned else ""
    allowed = f"{worst.tolerance:.3g} (measured; envelope {worst.envelope:.3g})" if worst.tolerance else "none"
    return _rows(
        {
            "element": f"output {mismatch.output}, {list(worst.index)}",
            expects: f"{worst.expected!r}",
            "truth, in float64": "" if worst.truth is None else f"{worst.truth!r}",
            lane: f"**{worst.actual!r}**",
            "difference": f"{abs(worst.actual - right):.3g}",
            "allowed": allowed,
            "wrong elements": f"{mismatch.wrong} of {mismatch.elements}{ill}",
        }
    )


def _without(mismatch: Mismatch) -> str:
    """What tells a lane from the sibling that gives the right result."""
    return f"\nIt is right in {mismatch.against}, without: {mismatch.by}.\n" if mismatch.by else ""


def _checked(stage: Stage, facts: Facts) -> str:
    """TVM's checker had nothing to say against a module that then fails."""
    if not facts.checked or facts.ill_formed or stage is Stage.IMPORT:
        return ""
    return f"\nWell formed, says TVM's checker (last after {facts.checked[-1]}), yet the {stage} step fails.\n"


def _rows(rows: dict[str, str]) -> str:
    """A table of two columns, less the rows that say nothing."""
    return "| | |\n|---|---|\n" + "".join(f"| {key} | {value} |\n" for key, value in rows.items() if value)


def log(found: Confirmed) -> str:
    """The raw text behind the finding, for `log.txt`."""
    return _raw(found) + second_look.log(found.reports)


def _raw(found: Confirmed) -> str:
    match found.finding.evidence:
        case Raised(stage=stage, type=name, message=message, frames=frames):
            lines = [f"{frame.file}:{frame.line} {frame.function}" for frame in frames]
            return "\n".join([f"raised in {stage}", *lines, f"{name}: {message}"]) + "\n"
        case Died(stage=stage, cause=cause, code=code, log=raw):
            return f"died in {stage}: {cause} {code}\n\n{raw}\n"
        case other:
            return f"{other}\n"
