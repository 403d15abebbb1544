"""What the dashboard shows of a campaign, gathered from its folder; the campaign may be running. The size
of the data is bounded."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from fuzzer.campaign import lock
from fuzzer.dashboard.drawing import Drawing, drawing
from fuzzer.findings import merge as merging
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.findings.merge import Merge
from fuzzer.findings.record import FindingRecord, read
from fuzzer.report import issue, page, wording
from fuzzer.watching.health import LaneHealth, lanes_health
from fuzzer.watching.on_disk import Origin, counters_of, findings_of, opened, waiting_in
from generators.graph import Invalid
from generators.plain_file import read_plain
from oracles.finding import Mismatch

DETAILED = 400
"""The number of newest findings that are shown with graph, difference and script. Others are in the table only."""

CURVE_POINTS = 300
DIFF_LINES, DIFF_COLUMNS, SCRIPT_CHARS, LOG_CHARS = 160, 240, 20_000, 4_000
UNREADABLE = 20
ORIGINS = 10


@dataclass(frozen=True, slots=True)
class FindingDetail:
    """The details of a chosen finding. `diff` has (class, line) rows of `fuzzer.report.page`. `diff_more` is the number
    of lines that are left out, `script_more` and `log_more` are numbers of characters."""

    title: str
    summary: str
    graph: Drawing
    diff: Sequence[tuple[str, str]]
    diff_more: int
    script: str
    script_more: int
    log: str
    log_more: int


class FindingRow(msgspec.Struct, frozen=True, rename={"tests": "seen"}):
    """A finding in the table. `found` is in seconds since 1970, 0 if it is not known; `tests` is the number of tests
    that found it. The page and `fuzz dashboard --json` have it as `seen`."""

    slug: str
    signature: str
    kind: str
    component: str
    ops: Sequence[str]
    lanes: Sequence[str]
    flaky: bool
    confirmed: str
    found: float
    tests: int
    place: str
    operator: str
    culprit: str
    evidence: str
    releases: Sequence[tuple[str, str]]
    introduced: str
    fixed: str
    versions: Mapping[str, str]
    duplicates: Sequence[str]
    detail: FindingDetail | None


@dataclass(frozen=True, slots=True)
class Support:
    """Outcomes by operator and lane. `cells` has for each operator, in the order of `lanes`, the number of outcomes and
    the number of results among them; (0, 0) if it was never tried."""

    lanes: Sequence[str]
    cells: Mapping[str, Sequence[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class DashboardData:
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
    waiting: int
    parked: int
    triage_used: float
    cpu_seconds: float
    wall_seconds: float
    features: int
    stage_cpu: Mapping[str, float]
    curve: Sequence[Sequence[int]]
    lanes: Sequence[LaneHealth]
    failing: Sequence[str]
    support: Support
    releases: Sequence[str]
    findings: Sequence[FindingRow]
    unreadable: Sequence[str]
    campaigns: int
    origins: Sequence[Origin]
    more_origins: int


def gather(folder: Path) -> DashboardData:
    """Read a campaign. Raise `Invalid` if there is none."""
    with opened(folder) as read_only:
        statistics, lanes = counters_of(read_only), lanes_health(read_only)
        features, curve, operators = read_only.features, read_only.progress(CURVE_POINTS), read_only.operators()
    counters = statistics.total
    rows, unreadable = _findings(folder, statistics.found)
    waiting, parked = waiting_in(folder)
    if not statistics.merged:  # as of now, as the tiles are: the index has a point every half minute
        findings = sum(1 + len(row.duplicates) for row in rows)
        now = counters.tests, counters.lane_results, features, findings, round(counters.cpu_seconds)
        curve = [*(point for point in curve if point[0] < counters.wall_seconds), (round(counters.wall_seconds), *now)]
    return DashboardData(
        made=time.time(),
        campaign=folder.resolve().name,
        folder=str(folder),
        crashes=shlex.quote(str(folder / "crashes")),
        holder=lock.holder(folder),
        seed=statistics.own.seed,
        tests=counters.tests,
        lane_results=counters.lane_results,
        triage_lane_results=counters.triage_lane_results,
        waiting=waiting,
        parked=parked,
        triage_used=counters.triage_used,
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
        campaigns=statistics.campaigns,
        origins=statistics.merged[:ORIGINS],
        more_origins=max(0, len(statistics.merged) - ORIGINS),
    )


def support(counted: Sequence[tuple[str, str, str, int]]) -> Support:
    """Count outcomes of lanes other than PyTorch's. Skipped lanes are not counted."""
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


def _findings(folder: Path, tests_by_signature: Mapping[str, int]) -> tuple[list[FindingRow], list[str]]:
    """The findings, newest first, and messages for those that cannot be read."""
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
        rows.append(_row(doc, tests_by_signature.get(doc.signature, 0), under[doc.slug], detail))
    return rows, unreadable[:UNREADABLE]


def _row(doc: FindingDoc, tests: int, under: Sequence[Merge], detail: FindingDetail | None) -> FindingRow:
    blame, releases = doc.blame, doc.releases
    return FindingRow(
        doc.slug,
        doc.signature,
        doc.kind,
        doc.component,
        list(dict.fromkeys(doc.ops)),
        doc.lanes,
        doc.flaky,
        doc.confirmed,
        doc.found,
        tests,
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


def _detail(path: Path) -> FindingDetail:
    record = read(path).shown
    diff = list(page.difference(record))
    script, log = _text(path / "repro.py"), _raw_text(record)
    return FindingDetail(
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
    """The text of log.txt. The two values of a mismatch are on lines of their own."""
    match record.doc.evidence.evidence:
        case Mismatch(output=output, expected=expected, actual=actual, against=against):
            return f"output {output}, compared with {against}\nexpected  {expected}\nactual    {actual}\n"
        case _:
            return issue.log(record)


def _text(path: Path) -> str:
    """The contents of a file of the finding; "" if it is missing."""
    try:
        return read_plain(path).decode(errors="replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Invalid(f"{error.filename}: {error.strerror}") from None
