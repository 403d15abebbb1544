"""What lists and drafts say of a finding whose scope nobody has looked for yet."""

from __future__ import annotations

from pathlib import Path

from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.system.terminal import command
from oracles.finding import Component

MISSING = "condition not yet looked for"


def missing(doc: FindingDoc) -> bool:
    """Whether nobody has looked for the condition under which a finding fails. One that does not show each time has
    none that a search could find, and what is not TVM's is not looked at."""
    return not doc.scope.cases and not doc.flaky and doc.component is Component.TVM


def how_to_look(folder: Path | str) -> str:
    """Say that the condition is not known, and the command that looks for it."""
    return f"{MISSING}: `{command('scope', folder)}`"
