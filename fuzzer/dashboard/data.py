"""What the dashboard shows of a campaign, gathered from its folder; the campaign may be running. Bounded, whatever the
campaign holds."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzzer.campaign import lock
from fuzzer.dashboard.drawing import Drawing, drawing
from fuzzer.findings import merge as merging
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.findings.merge import Merge
from fuzzer.findings.record import FindingRecord, read
from fuzzer.report import issue, page, wording
from fuzzer.watching.health import LaneHealth, lanes_health
from fuzzer.watching.on_disk import Origin, counters_of, findings_of, opened
from generators.graph import Invalid
from generators.plain_file import read_plain
from oracles.finding import Mismatch

DETAILED = 400
"""Findings with graph, difference and script, the newest; of more, only what stands in the table."""

CURVE_POINTS = 300
DIFF_LINES, DIFF_COLUMNS, SCRIPT_CHARS, LOG_CHARS = 160, 240, 20_000, 4_000
UNREADABLE = 20
ORIGINS = 10


@dataclass(frozen=True, slots=True)
class Detail:
    """What is shown of the finding that was chosen. `diff` has (class, line) rows, as `fuzzer.report.page` makes them;
    the `_more` say how much of a text was left out, in lines and characters."""

    title: str
    summary: str
    graph: Drawing
    diff: Sequence[tuple[str, str]]
    diff_more: int
    script: str
    script_more: int
    log: str
    log_more: int


@dataclass(frozen=True, slots=True)
class Row:
    """A finding in the table. `found` is in Unix's seconds, 0 where it is not known; `seen` counts the tests that met
    it."""

    slug: str
    signature: str
    kind: str
    component: str
    ops: Sequence[str]
    lanes: Sequence[str]
    flaky: bool
    confirmed: str
    found: float
    seen: int
    place: str
    operator: str
    culprit: str
    evidence: str
    releases: Sequence[tuple[str, str]]
    introduced: str
    fixed: str
    versions: Mapping[str, str]
    duplicates: Sequence[str]
    detail: Detail | None


@dataclass(frozen=True, slots=True)
class Support:
    """Operators by lanes. `cells` are by operator, in the order of `lanes`: how many outcomes there were, and how many
    gave results; (0, 0) where it was never tried."""

    lanes: Sequence[str]
    cells: Mapping[str, Sequence[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Data:
    """`made` is in Unix's seconds; `curve` has rows of (seconds, tests, lane results, features, findings, CPU seconds);
    `unreadable` says of some folders why they are no findings. `crashes` is their folder, as a shell takes it.

    Books and support are of all `campaigns` together, curve and lanes of this one's own tests; `origins` are the
    largest of those that were merged into it."""

    made: float
    campaign: str
    folder: str
    crashes: str
    holder: int | None
    seed: int
    tests: int
    lane_results: int
    triage_lane_results: int
    cpu_seconds: float
    wall_seconds: float
    features: int
    stage_cpu: Mapping[str, float]
    curve: Sequence[Sequence[int]]
    lanes: Sequence[LaneHealth]
    failing: Sequence[str]
    support: Support
    releases: Sequence[str]
    findings: Sequence[Row]
    unreadable: Sequence[str]
    campaigns: int
    origins: Sequence[Origin]
    more_origins: int


def gather(folder: Path) -> Data:
    """Raises `Invalid` where there is no campaign."""
    with opened(folder) as read_only:
        books, lanes = counters_of(read_only), lanes_health(read_only)
        features, curve, operators = read_only.features, read_only.progress(CURVE_POINTS), read_only.operators()
    counters = books.total
    rows, unreadable = _findings(folder, books.seen)
    if not books.merged:  # as of now, as the tiles are: the index has a point every half minute
        findings = sum(1 + len(row.duplicates) for row in rows)
        now = counters.tests, counters.lane_results, features, findings, round(counters.cpu_seconds)
        curve = [*(point for point in curve if point[0] < counters.wall_seconds), (round(counters.wall_seconds), *now)]
    return Data(
        made=time.time(),
        campaign=folder.resolve().name,
        folder=str(folder),
        crashes=shlex.quote(str(folder / "crashes")),
        holder=lock.holder(folder),
        seed=books.own.seed,
        tests=counters.tests,
        lane_results=counters.lane_results,
        triage_lane_results=counters.triage_lane_results,
        cpu_seconds=counters.cpu_seconds,
        wall_seconds=counters.wall_seconds,
        features=features,
        stage_cpu=counters.stage_cpu,
        curve=curve,
        lanes=lanes,
        failing=[lane.lane for lane in lanes if lane.fails],
        support=support(operators),
        releases=list(dict.fromkeys(release for row in rows for release, _ in row.releases)),
        findings=rows,
        unreadable=unreadable,
        campaigns=books.campaigns,
        origins=books.merged[:ORIGINS],
        more_origins=max(0, len(books.merged) - ORIGINS),
    )


def support(counted: Sequence[tuple[str, str, str, int]]) -> Support:
    """Of TVM's lanes, and the importers that read what PyTorch exports; what was skipped is no outcome."""
    totals: Counter[tuple[str, str]] = Counter()
    results: Counter[tuple[str, str]] = Counter()
    for op, lane, how, count in counted:
        if how != "skipped" and not lane.startswith("torch"):
            totals[op, lane] += count
            results[op, lane] += count * (how in ("ran", "built"))
    of_lane: Counter[str] = Counter()
    for (_, lane), count in totals.items():
        of_lane[lane] += count
    lanes = [lane for lane, _ in of_lane.most_common()]
    ops = sorted({op for op, _ in totals})
    return Support(lanes, {op: [(totals[op, lane], results[op, lane]) for lane in lanes] for op in ops})


def _findings(folder: Path, seen: Mapping[str, int]) -> tuple[list[Row], list[str]]:
    """The newest first. A finding that cannot be read costs its own row only."""
    docs, unreadable = findings_of(folder)
    under = merging.duplicates_by_slug([doc for _, doc in docs], merging.read(folder))
    kept = [(path, doc) for path, doc in docs if doc.slug in under]
    kept.sort(key=lambda each: (-each[1].found, each[1].slug))
    rows = []
    for number, (path, doc) in enumerate(kept):
        detail = None
        if number < DETAILED:
            try:
                detail = _detail(path)
            except Invalid as error:
                unreadable.append(str(error))
        rows.append(_row(doc, seen.get(doc.signature, 0), under[doc.slug], detail))
    return rows, unreadable[:UNREADABLE]


def _row(doc: FindingDoc, seen: int, under: Sequence[Merge], detail: Detail | None) -> Row:
    blame, releases = doc.blame, doc.releases
    return Row(
        doc.slug,
        doc.signature,
        doc.kind,
        doc.component,
        list(dict.fromkeys(doc.ops)),
        doc.lanes,
        doc.flaky,
        doc.confirmed,
        doc.found,
        seen,
        blame.place or "",
        blame.operator,
        blame.culprit,
        blame.evidence,
        releases.verdicts,
        releases.introduced,
        releases.fixed,
        doc.versions,
        [each.slug for each in under],
        detail,
    )


def _detail(path: Path) -> Detail:
    record = read(path)
    diff = list(page.difference(record))
    script, log = _text(path / "repro.py"), _raw_text(record)
    return Detail(
        wording.capital(wording.plain_title(record)),
        wording.summary(record),
        drawing(record.case, record.doc.blame.operator),
        [(name, line[:DIFF_COLUMNS]) for name, line in diff[:DIFF_LINES]],
        max(0, len(diff) - DIFF_LINES),
        script[:SCRIPT_CHARS],
        max(0, len(script) - SCRIPT_CHARS),
        log[:LOG_CHARS],
        max(0, len(log) - LOG_CHARS),
    )


def _raw_text(record: FindingRecord) -> str:
    """What log.txt says; two values that differ stand on lines of their own."""
    match record.doc.evidence.evidence:
        case Mismatch(output=output, expected=expected, actual=actual, against=against):
            return f"output {output}, compared with {against}\nexpected  {expected}\nactual    {actual}\n"
        case _:
            return issue.log(record)


def _text(path: Path) -> str:
    """As it was written when the finding was saved; "" where somebody took it away."""
    try:
        return read_plain(path).decode(errors="replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Invalid(f"{error.filename}: {error.strerror}") from None
