"""The form of texts and numbers in finding.json. They may come from elsewhere, and go into names of folders, searches,
scripts, reports and pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.isolate.reports import SanitizerReport, ScriptRun
from fuzzer.signature import Signature
from fuzzer.signature.blame import Blame, Introduction, Origin, Releases
from fuzzer.system.machine_facts import MachineFacts
from fuzzer.triage.scope.statement import Condition, Ignored, Property, Relation, Scope, Variation
from fuzzer.triage.suspect import Suspect
from generators.graph import DType, Invalid
from generators.text_forms import LINE, LONG_TEXT, SHORT_TEXT, TEXT, Forms, TextForm, faults, form
from oracles import evidence_forms
from oracles.evidence_forms import EXCEPTION, NAME, faults_of_evidence
from oracles.lane_check import invalid_reason

SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,199}")
"""The name of a finding's folder. It must not be a path, because findings from elsewhere are copied into a folder of
this name. It contains names of operators, such as mT, or torch.erf in a sweep."""

SIGNATURE = re.compile(r"(flaky-)?[0-9a-f]{12}")

FORMS: Forms = {
    (FindingDoc, "slug"): TextForm(SLUG, "is not a name for the folder of a finding"),
    (FindingDoc, "signature"): TextForm(SIGNATURE, "is no signature"),
    (FindingDoc, "lanes"): NAME,
    (FindingDoc, "ops"): NAME,
    (FindingDoc, "confirmed"): form(r"[0-9]{1,3} of [0-9]{1,3}", "is not such as '3 of 3'"),
    (FindingDoc, "found_in"): NAME,
    (FindingDoc, "case_sha256"): form(r"[0-9a-f]{64}", "is no digest"),
    (FindingDoc, "versions"): TextForm(LINE.pattern, LINE.what, keys=NAME),
    (Signature, "error"): EXCEPTION,
    (Signature, "skeleton"): TEXT,
    (Signature, "frame"): TEXT,
    (Signature, "ops"): NAME,
    (Signature, "where"): LINE,
    (Signature, "against"): LINE,
    (Signature, "by"): LINE,
    (Signature, "graph"): TEXT,
    (Signature, "blamed"): SHORT_TEXT,
    **evidence_forms.FORMS,
    (Blame, "operator"): SHORT_TEXT,
    (Blame, "culprit"): SHORT_TEXT,
    (Blame, "evidence"): TEXT,
    (Blame, "before"): LONG_TEXT,
    (Blame, "after"): LONG_TEXT,
    **{
        (Origin, name): SHORT_TEXT
        for name in ("lines", "calls", "converter", "operator", "made", "right", "attributes", "place")
    },
    (Suspect, "operators"): NAME,
    (Suspect, "call"): LINE,
    (Suspect, "called"): LINE,
    (Suspect, "part"): LINE,
    (Releases, "verdicts"): NAME,
    (MachineFacts, "os"): LINE,
    (MachineFacts, "processor"): LINE,
    (MachineFacts, "features"): form(r"[a-z][a-z0-9.-]{0,31}", "is no feature of a processor"),
    (MachineFacts, "devices"): LINE,
    (SanitizerReport, "what"): TEXT,
    (SanitizerReport, "kernel"): TEXT,
    (SanitizerReport, "lines"): TEXT,
    (ScriptRun, "why"): TEXT,
    (Property, "subject"): LINE,
    (Property, "what"): LINE,
    (Condition, "values"): SHORT_TEXT,
    (Variation, "what"): SHORT_TEXT,
    (Variation, "value"): SHORT_TEXT,
    (Scope, "siblings"): NAME,
    (Scope, "routes"): LINE,
    (Ignored, "attribute"): NAME,
    (Ignored, "value"): SHORT_TEXT,
    (Ignored, "as_if"): SHORT_TEXT,
    **{
        (Introduction, name): form(r".*", "has more than 300 characters", 300)
        for name in ("builds", "subject", "passes")
    },
}
"""The form of each text in finding.json."""


def why_not_valid(doc: FindingDoc) -> str | None:
    """The first thing in the document that has not its form, in one sentence; None where there is none."""
    return next(_faults(doc), None) or invalid_reason(doc.lane)


def _faults(doc: FindingDoc) -> Iterator[str]:
    yield from faults(doc, FORMS)
    try:
        evidence = doc.evidence.evidence
    except Invalid as error:
        yield str(error)
        return
    yield from faults_of_evidence(evidence)
    yield from _faults_of_scope(doc)
    yield from _faults_of_ignored(doc)


def _faults_of_ignored(doc: FindingDoc) -> Iterator[str]:
    for each in doc.scope.ignored:
        if each.call not in range(len(doc.ops)):
            yield f"scope: there is no call {each.call}"


_DTYPES = frozenset(dtype.value for dtype in DType)


def _faults_of_scope(doc: FindingDoc) -> Iterator[str]:
    for each in doc.scope.statement.conditions if doc.scope.statement else ():
        if not each.values and each.relation is not Relation.ABSENT:
            yield "scope: a condition has no values"
        if each.property.call not in range(len(doc.ops)):
            yield f"scope: there is no call {each.property.call}"
        if each.property.what == "dtype" and not _DTYPES.issuperset(map(str, each.values)):
            yield "scope: a condition names an unknown dtype"
