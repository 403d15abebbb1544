"""What `fuzz file` and `--auto-file` print for one finding."""

from __future__ import annotations

import os
from typing import assert_never

from fuzzer.filing.draft import Draft
from fuzzer.filing.filing import DraftOnly, Filed, FilingOutcome, GateResult, HeldBack, NotAccepted
from fuzzer.filing.gates import RUN_GATES, GateVerdict
from fuzzer.findings import condition
from fuzzer.system.terminal import next_line


def lines(draft: Draft, outcome: FilingOutcome) -> list[str]:
    """One line for each gate, one where a draft has no condition, and one for the outcome."""
    gates = [_line(each) for each in outcome.gates]
    lacks = isinstance(outcome, DraftOnly) and condition.missing(draft.record.doc)
    missing = [f"  {condition.how_to_look(os.path.relpath(draft.folder))}"] if lacks else []
    return [*gates, *missing, f"{draft.doc.slug}: {_summary(draft, outcome)}"]


def _line(result: GateResult) -> str:
    verdict = "forced" if result.forced else result.answer.verdict
    return f"  {verdict:9}  {result.gate.name}" + (f": {result.answer.reason}" if result.answer.reason else "")


def _is_left_to_check(result: GateResult) -> bool:
    return result.gate in RUN_GATES and result.answer.verdict is GateVerdict.NOT_ASKED


def _summary(draft: Draft, outcome: FilingOutcome) -> str:
    folder = os.path.relpath(draft.folder)
    match outcome:
        case DraftOnly(gates=gates) if closed := [each for each in gates if each.answer.verdict is GateVerdict.CLOSED]:
            hint = "; --force files it nevertheless" if all(each.answer.forcible for each in closed) else ""
            return f"nothing was sent, and --submit would not file it either{hint}"
        case DraftOnly(gates=gates) if any(map(_is_left_to_check, gates)):
            return f"nothing was sent; read the draft, {next_line('file', folder, '--check')}"
        case DraftOnly():
            return f"nothing was sent; {next_line('file', folder, '--submit', '--repo', 'OWNER/NAME')}"
        case HeldBack(gates=gates):
            hint = "; --force files it nevertheless" if gates[-1].answer.forcible else ""
            return f"not filed{hint}"
        case Filed(url=url, again=again):
            return f"filed{' by an earlier attempt' if again else ''}: {url}"
        case NotAccepted(reason=reason):
            return f"the tracker refused it: {reason}"
        case _:
            assert_never(outcome)
