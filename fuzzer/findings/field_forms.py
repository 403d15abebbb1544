"""The form of texts and numbers in finding.json. They may come from elsewhere, and go into names of folders, searches,
reports and pages."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fuzzer.triage.scope.statement import Relation
from generators.graph import DType, Invalid
from oracles.lane_check import invalid_reason
from oracles.outcome import Cause, Died

if TYPE_CHECKING:
    from fuzzer.findings.finding_file import FindingDoc

SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,199}")
"""The name of a finding's folder. It must not be a path, because findings from elsewhere are copied into a folder of
this name. It contains names of operators, such as mT, or torch.erf in a sweep."""

SIGNATURE = re.compile(r"(flaky-)?[0-9a-f]{12}")
_CONFIRMED = re.compile(r"[0-9]{1,3} of [0-9]{1,3}")
_NAME = re.compile(r"[\w.@/+ -]{1,100}", re.ASCII)
_DTYPES = frozenset(dtype.value for dtype in DType)
MOST_NAMES = 10_000
MOST_TEXT = 300
"""The most characters of the name of a build, and of the first line of a commit's message."""


def why_not_valid(doc: FindingDoc) -> str | None:
    """The first thing in the document that has not its form, in one sentence; None where there is none."""
    return next(_faults(doc), None) or invalid_reason(doc.lane)


def _faults(doc: FindingDoc) -> Iterator[str]:
    if not SLUG.fullmatch(doc.slug):
        yield f"{doc.slug[:60]!r} is not a name for the folder of a finding"
    if not SIGNATURE.fullmatch(doc.signature):
        yield f"{doc.signature[:60]!r} is no signature"
    if not _CONFIRMED.fullmatch(doc.confirmed):
        yield f"confirmed: {doc.confirmed[:60]!r} is not such as '3 of 3'"
    for what, names in (("ops", doc.ops), ("found_in", doc.found_in), ("lanes", doc.lanes)):
        if len(names) > MOST_NAMES:
            yield f"{what}: {len(names)} names are more than {MOST_NAMES}"
        yield from (f"{what}: {name[:60]!r} is no name" for name in names if not _NAME.fullmatch(name))
    for name in (doc.lane.name, doc.lane.toolchain):
        if not _NAME.fullmatch(name):
            yield f"lane: {name[:60]!r} is no name"
    try:
        evidence = doc.evidence.evidence
    except Invalid as error:
        yield str(error)
        return
    if isinstance(evidence, Died) and evidence.cause is Cause.SIGNAL and evidence.code not in _SIGNALS:
        yield f"evidence: there is no signal {evidence.code}"
    yield from _faults_of_scope(doc)
    built = doc.introduced
    if len(built.builds) > MOST_NAMES:
        yield f"introduced: {len(built.builds)} builds are more than {MOST_NAMES}"
    if any(len(text) > MOST_TEXT for text in (*built.builds, built.subject, built.passes)):
        yield f"introduced: a text has more than {MOST_TEXT} characters"


_SIGNALS = frozenset(map(int, signal.Signals))


def _faults_of_scope(doc: FindingDoc) -> Iterator[str]:
    for each in doc.scope.statement.conditions if doc.scope.statement else ():
        if not each.values and each.relation is not Relation.ABSENT:
            yield "scope: a condition has no values"
        if each.property.call not in range(len(doc.ops)):
            yield f"scope: there is no call {each.property.call}"
        if each.property.what == "dtype" and not _DTYPES.issuperset(map(str, each.values)):
            yield "scope: a condition names an unknown dtype"
