"""The findings of a campaign as rows of the dashboard: each finding with its details, and the families in which they
are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from fuzzer.dashboard.drawing import Drawing, drawing
from fuzzer.filing.ledger import LedgerEntry
from fuzzer.findings import condition
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.record import FindingRecord, read
from fuzzer.report import issue, page, regression_test, scope_section, sentences
from fuzzer.report.evidence import shown_evidence
from fuzzer.report.plain_text import capital
from fuzzer.signature import readable
from fuzzer.triage.scope.statement import Answer, Variation
from fuzzer.triage.scope.words import sentence
from fuzzer.watching.causes import Age, Causes
from fuzzer.watching.ranking import Ranked, apart
from fuzzer.watching.titles import Titles
from generators.graph import Invalid
from generators.plain_file import MOST_TEXT, read_plain
from oracles.finding import Mismatch
from oracles.outcome import Raised

T = TypeVar("T")

DETAILED = 400
"""The number of findings, the first of all families first, that are shown with graph, difference and script. Others are
in the lists only."""

DIFF_LINES, DIFF_COLUMNS, SCRIPT_CHARS, LOG_CHARS, MESSAGE_CHARS = 160, 240, 20_000, 4_000, 1_000


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The beginning of a file. `more` is the number of characters that are left out."""

    text: str = ""
    more: int = 0


@dataclass(frozen=True, slots=True)
class ScopeTables:
    """What fails and what passes near a case, as text.

    rows      (what was changed, values that fail, that pass, that fail in another way)
    siblings  (operator, answer)
    routes    (route, answer)
    """

    rows: Sequence[tuple[str, ...]] = ()
    siblings: Sequence[tuple[str, str]] = ()
    routes: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class FindingDetail:
    """The details of a finding.

    needs      the statement of its scope; "" where none was looked for
    to_look    whether a scope is still to be looked for
    values     (name, value) rows of what was seen: what is right, and what TVM gives
    printed    what TVM says
    note       what is known of the module that failed
    diff       (class, line) rows of `fuzzer.report.page`; `diff_more` is the number of lines that are left out
    """

    summary: str
    needs: str
    to_look: bool
    values: Sequence[tuple[str, str]]
    printed: Excerpt
    note: str
    scope: ScopeTables
    graph: Drawing
    diff: Sequence[tuple[str, str]]
    diff_more: int
    script: Excerpt
    test: Excerpt
    log: Excerpt


@dataclass(frozen=True, slots=True)
class FiledIssue:
    """The issue in which a finding was filed. `state` is that of the tracker's last answer."""

    url: str
    state: str


class FindingRow(msgspec.Struct, frozen=True, rename={"tests": "seen"}):
    """A finding. `found`, and `last` when a test was last counted for it, are in seconds since 1970, 0 if it is not
    known; `tests` is the number of tests that found it.
    The page and `fuzz dashboard --json` have it as `seen`. `title` is that of its report.

    level, reasons  its severity
    apart           why `fuzz triage` counts and does not list it; "" if it does
    """

    slug: str
    title: str
    signature: str
    kind: str
    component: str
    ops: Sequence[str]
    lanes: Sequence[str]
    flaky: bool
    confirmed: str
    found: float
    last: float
    tests: int
    place: str
    operator: str
    culprit: str
    evidence: str
    releases: Sequence[tuple[str, str]]
    introduced: str
    fixed: str
    introduced_by: str
    versions: Mapping[str, str]
    machines: Sequence[str]
    duplicates: Sequence[str]
    level: str
    reasons: Sequence[str]
    apart: str
    issue: FiledIssue | None
    detail: FindingDetail | None


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """Findings of perhaps one cause. `slugs` has the most severe one first, `age` is the group in which lists show the
    cause, `scope` is of all members together."""

    slugs: Sequence[str]
    age: str
    scope: ScopeTables


@dataclass(frozen=True, slots=True)
class FindingContext:
    """What stands beside the folders of findings: by signature the number of tests and the filed issue; and their
    titles."""

    tests: Mapping[str, int]
    filed: Mapping[str, LedgerEntry]
    titles: Titles


def rows(causes: Causes, context: FindingContext) -> tuple[list[FamilyRow], list[FindingRow], list[str]]:
    """Return the families by their age and in their order, their findings in the same order, and messages about what
    cannot be read."""
    order = [family for age in Age for family in causes.families if causes.age(family) is age]
    detailed = set(_first([[each.doc.slug for each in family.members] for family in order], DETAILED))
    families, findings, unreadable = [], [], []
    for family in order:
        for each in family.members:
            detail = None
            if each.doc.slug in detailed:
                try:
                    detail = _detail(causes.folders[each.doc.slug])
                except Invalid as error:
                    unreadable.append(str(error))
            findings.append(_row(each, causes, context, detail))
        slugs = [each.doc.slug for each in family.members]
        families.append(FamilyRow(slugs, causes.age(family), _scope([each.doc for each in family.members])))
    return families, findings, unreadable


def _first(families: Sequence[Sequence[str]], most: int) -> list[str]:
    """The first findings of all families, then the others."""
    leads = [family[0] for family in families]
    return [*leads, *(slug for family in families for slug in family[1:])][:most]


def _row(each: Ranked, causes: Causes, context: FindingContext, detail: FindingDetail | None) -> FindingRow:
    doc, entry = each.doc, context.filed.get(each.doc.signature)
    blame, releases = doc.blame, doc.releases
    return FindingRow(
        doc.slug,
        capital(context.titles.of(causes.folders[doc.slug], doc)),
        doc.signature,
        doc.kind,
        doc.component,
        list(dict.fromkeys(doc.ops)),
        doc.lanes,
        doc.flaky,
        doc.confirmed,
        doc.found,
        causes.last.get(doc.slug, 0.0),
        context.tests.get(doc.signature, 0),
        blame.place or "",
        blame.operator,
        blame.culprit,
        blame.evidence,
        releases.verdicts,
        releases.introduced,
        releases.fixed,
        doc.introduced.shown,
        doc.versions,
        list(map(str, doc.machines)),
        [one.slug for one in causes.duplicates[doc.slug]],
        each.severity.level,
        each.severity.reasons,
        apart(doc),
        FiledIssue(entry.url, entry.state) if entry else None,
        detail,
    )


def _detail(path: Path) -> FindingDetail:
    record = read(path).shown
    diff, what = list(page.difference(record)), shown_evidence(record)
    return FindingDetail(
        sentences.summary(record),
        sentence(record.doc.scope, record.case.graph),
        condition.missing(record.doc),
        what.rows,
        _excerpt(_message(record) or what.printed, MESSAGE_CHARS),
        what.note,
        _scope([record.doc]),
        drawing(record.case, record.doc.blame.operator),
        [(name, line[:DIFF_COLUMNS]) for name, line in diff[:DIFF_LINES]],
        max(0, len(diff) - DIFF_LINES),
        _excerpt(_text(path / "repro.py"), SCRIPT_CHARS),
        _excerpt(_text(path / regression_test.NAME), SCRIPT_CHARS),
        _excerpt(_raw_text(record), LOG_CHARS),
    )


_COUNTS_FIRST = (Answer.FAILS, Answer.OTHER, Answer.PASSES, Answer.REFUSED, Answer.INVALID)
"""Which of the answers of two findings counts for both."""


def _scope(docs: Sequence[FindingDoc]) -> ScopeTables:
    """The scopes of findings together: what fails for one of them fails for all."""
    variations: dict[tuple[str, str], Answer] = {}
    siblings: dict[str, Answer] = {}
    routes: dict[str, Answer] = {}
    for doc in docs:
        for each in doc.scope.variations:
            _add(variations, (each.what, each.value), each.answer)
        for name, answer in doc.scope.siblings:
            _add(siblings, name, answer)
        for name, answer in doc.scope.routes:
            _add(routes, name, answer)
    found = scope_section.rows(Variation(*changed, answer) for changed, answer in variations.items())
    return ScopeTables(found, list(siblings.items()), list(routes.items()))


def _add(answers: dict[T, Answer], of: T, answer: Answer) -> None:
    answers[of] = min(answers.get(of, answer), answer, key=_COUNTS_FIRST.index)


def _message(record: FindingRecord) -> str:
    """The exception without its frames, which the raw text has; "" where there is none."""
    evidence = record.doc.evidence.evidence
    return f"{evidence.type}: {readable(evidence.message)}" if isinstance(evidence, Raised) else ""


def _raw_text(record: FindingRecord) -> str:
    """The text of log.txt. The two values of a mismatch are on lines of their own."""
    match record.doc.evidence.evidence:
        case Mismatch(output=output, expected=expected, actual=actual, against=against):
            return f"output {output}, compared with {against}\nexpected  {expected}\nactual    {actual}\n"
        case _:
            return issue.log(record)


def _text(path: Path) -> str:
    """The contents of a file of the finding; "" if it is missing."""
    try:
        return read_plain(path, MOST_TEXT).decode(errors="replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Invalid(f"{error.filename}: {error.strerror}") from None


def _excerpt(text: str, most: int) -> Excerpt:
    return Excerpt(text[:most], max(0, len(text) - most))
