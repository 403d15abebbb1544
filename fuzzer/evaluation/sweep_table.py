"""The table of a sweep: by operator and lane, how many samples have each status, and what differs from an earlier
table or between releases of TVM."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from fuzzer.evaluation.allow_list import AllowList
from fuzzer.evaluation.sample_source import source_of
from fuzzer.evaluation.samples import Sample
from fuzzer.evaluation.status import Status, Verdict
from fuzzer.report.html_pages import environment
from fuzzer.toolchains.toolchain import HOST_NAME
from generators.graph import Invalid
from generators.plain_file import MOST_TEXT, read_plain
from oracles.lane import LaneSpec

NOT_RIGHT = (Status.WRONG, Status.FAILED)

Verdicts = Mapping[tuple[str, str], Verdict]
"""By key and column."""


class SampleResult(msgspec.Struct):
    """One line of sweep.jsonl: by column, the status with its reason, and the kind of the finding if there is one."""

    key: str
    lanes: dict[str, Verdict]
    found: dict[str, str] = {}


class OperatorRow(msgspec.Struct):
    """The row of one operator: by column, the number of samples with each status, and the most frequent reason."""

    operator: str
    samples: int
    lanes: dict[str, dict[Status, int]]
    reasons: dict[str, str]
    no_case: dict[str, int]


KINDS = NEWLY_RIGHT, NEWLY_WRONG, OTHERWISE = "newly right", "newly wrong", "otherwise changed"
"""The kinds of changes. What was right before and is not now is newly wrong, whatever it is now."""


class Change(msgspec.Struct):
    """A sample whose status in a column differs from that in another table, or in another release of TVM."""

    key: str
    lane: str
    before: Status
    after: Status
    reason: str
    kind: str


class Table(msgspec.Struct):
    """`samples` is the number of cases, `done` of those that have run, and `without` of samples without a case.

    lanes       the columns
    versions    of what the samples went through
    results     of each sample
    changes     what differs from an earlier table, and between releases of TVM
    right_with_finding         where the samples have results of their own: those with which a lane agrees, and on which
                               the oracles have a finding
    not_right_without_finding  those with which a lane does not agree, and on which they have none
    allow_list  what TVM's own tests run of the samples, and could run
    not_run     the samples without a case, by reason
    """

    dialect: str
    rows: list[OperatorRow]
    lanes: list[str]
    totals: dict[str, dict[Status, int]]
    samples: int
    done: int
    without: int
    versions: dict[str, str]
    results: list[SampleResult]
    changes: list[Change]
    right_with_finding: list[str]
    not_right_without_finding: list[str]
    allow_list: AllowList | None = None
    not_run: dict[str, list[str]] = {}


def column(lane: LaneSpec) -> str:
    """The name of a lane, with its toolchain where that is not the host."""
    return _column(lane.name, lane.toolchain)


def _column(lane: str, toolchain: str) -> str:
    return lane if toolchain == HOST_NAME else f"{lane}@{toolchain}"


def read_table(path: Path) -> Table:
    """The table of a sweep.json, or of the folder of a sweep. Raise `Invalid` where it is none."""
    path = path / "sweep.json" if path.is_dir() else path
    try:
        return msgspec.json.decode(read_plain(path, MOST_TEXT), type=Table)
    except OSError as error:
        raise Invalid(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{path} is no table of a sweep: {error}") from None


def table_of(
    dialect: str,
    samples: Sequence[Sample],
    lines: Iterable[SampleResult],
    versions: Mapping[str, str] = {},
    against: Table | None = None,
    toolchains: Sequence[str] = (HOST_NAME,),
) -> Table:
    """`toolchains` are those in which the lanes ran: the first is compared with each other one."""
    results = sorted(lines, key=lambda line: line.key)
    by_operator: dict[str, list[SampleResult]] = defaultdict(list)
    for line in results:
        by_operator[operator_of(dialect, line.key)].append(line)
    without: dict[str, Counter[str]] = defaultdict(Counter)
    for sample in samples:
        without[operator_of(dialect, sample.key)].update([sample.why] if sample.why else [])
    lanes = sorted({lane for line in results for lane in line.lanes})
    rows = [_row(name, by_operator[name], lanes, without[name]) for name in sorted(without)]
    totals: dict[str, Counter[Status]] = {lane: Counter() for lane in lanes}
    for row in rows:
        for lane, counts in row.lanes.items():
            totals[lane].update(counts)
    cases = sum(not sample.why for sample in samples)
    source = source_of(dialect)
    own, lists = source.own_results, source.allow_list
    return Table(
        dialect,
        rows,
        lanes,
        {lane: dict(t) for lane, t in totals.items()},
        cases,
        len(results),
        len(samples) - cases,
        dict(versions),
        results,
        [*_since(against, results), *_between_releases(results, toolchains)],
        [key for key, status, kind in _opinions(results) if own and status is Status.SUPPORTED and kind],
        [key for key, status, kind in _opinions(results) if own and status in NOT_RIGHT and not kind],
        lists(_statuses(samples, results)) if lists else None,
        _not_run(samples),
    )


def operator_of(dialect: str, key: str) -> str:
    return key.rsplit("/", source_of(dialect).which)[0]


def _row(name: str, lines: Sequence[SampleResult], lanes: Sequence[str], without: Mapping[str, int]) -> OperatorRow:
    counts: dict[str, dict[Status, int]] = {}
    reasons: dict[str, str] = {}
    for lane in lanes:
        results = [line.lanes[lane] for line in lines if lane in line.lanes]
        counts[lane] = dict(Counter(status for status, _ in results))
        line = Counter(reason for status, reason in results if status is not Status.SUPPORTED and reason)
        if line:
            reasons[lane] = line.most_common(1)[0][0]
    return OperatorRow(name, len(lines), counts, reasons, dict(without))


def _not_run(samples: Sequence[Sample]) -> dict[str, list[str]]:
    """The samples without a case by their reasons, that of the most samples first."""
    found: dict[str, list[str]] = defaultdict(list)
    for sample in samples:
        if sample.why:
            found[sample.why].append(sample.key)
    return dict(sorted(found.items(), key=lambda each: -len(each[1])))


def _statuses(samples: Sequence[Sample], results: Sequence[SampleResult]) -> dict[str, Status | None]:
    """The status of each sample: that of all lanes where they agree, another than `SUPPORTED` where they do not."""
    found: dict[str, Status | None] = {sample.key: None for sample in samples}
    for line in results:
        statuses = [status for status, _ in line.lanes.values()]
        found[line.key] = next(
            (each for each in statuses if each is not Status.SUPPORTED), statuses[0] if statuses else None
        )
    return found


def _opinions(results: Sequence[SampleResult]) -> Iterator[tuple[str, Status, str]]:
    """For each sample and column a text, the status, and the kind of the finding."""
    for line in results:
        for lane, (status, _) in line.lanes.items():
            kind = line.found.get(lane, "")
            yield f"{line.key} in {lane}{f': {kind}' if kind else ''}", status, kind


# --- differences


def _since(before: Table | None, results: Sequence[SampleResult]) -> list[Change]:
    """What differs from an earlier table, in the columns of both. Where they have none in common, but the same lanes in
    one toolchain each, these are compared. Raise `Invalid` where the tables have no lane in common."""
    if before is None:
        return []
    old, new = _verdicts(before.results), _verdicts(results)
    if not _lanes(old) & _lanes(new) and max(map(len, map(_toolchains, (old, new)))) == 1:
        old, new = _without_toolchain(old), _without_toolchain(new)
    if new and not _lanes(old) & _lanes(new):
        raise Invalid(f"the earlier table has none of these lanes: it has {', '.join(before.lanes) or 'no lane'}")
    return [
        _change(key, lane, old[key, lane], verdict)
        for (key, lane), verdict in new.items()
        if _differs(old.get((key, lane)), verdict)
    ]


def _between_releases(results: Sequence[SampleResult], toolchains: Sequence[str]) -> list[Change]:
    """What differs between the first toolchain and each other one, where a lane ran in both."""
    verdicts = _verdicts(results)
    first, *others = toolchains
    return [
        _change(key, there, verdicts[key, here], verdict)
        for toolchain in others
        for (key, there), verdict in verdicts.items()
        if _toolchain(there) == toolchain
        and _differs(verdicts.get((key, here := _column(there.partition("@")[0], first))), verdict)
    ]


def _toolchain(lane: str) -> str:
    return lane.partition("@")[2] or HOST_NAME


def _verdicts(results: Iterable[SampleResult]) -> Verdicts:
    return {(line.key, lane): verdict for line in results for lane, verdict in line.lanes.items()}


def _lanes(verdicts: Verdicts) -> set[str]:
    return {lane for _, lane in verdicts}


def _toolchains(verdicts: Verdicts) -> set[str]:
    return set(map(_toolchain, _lanes(verdicts)))


def _without_toolchain(verdicts: Verdicts) -> Verdicts:
    return {(key, lane.partition("@")[0]): verdict for (key, lane), verdict in verdicts.items()}


def _differs(before: Verdict | None, after: Verdict) -> bool:
    return before is not None and before[0] is not after[0]


def _change(key: str, lane: str, before: Verdict, after: Verdict) -> Change:
    kind = NEWLY_RIGHT if after[0] is Status.SUPPORTED else NEWLY_WRONG
    if Status.SUPPORTED not in (before[0], after[0]):
        kind = OTHERWISE
    return Change(key, lane, before[0], after[0], after[1] or before[1], kind)


def page(table: Table) -> str:
    """The table as an HTML page without external files. Where samples have results of their own, it lists those that
    are not right."""
    source = source_of(table.dialect)
    not_right: dict[str, list[tuple[str, str, Verdict]]] = defaultdict(list)
    for line in table.results if source.own_results else ():
        wrong = [(lane, verdict) for lane, verdict in line.lanes.items() if verdict[0] is not Status.SUPPORTED]
        for lane, verdict in wrong:
            not_right[operator_of(table.dialect, line.key)].append((line.key.rpartition("/")[2], lane, verdict))
    template = environment().get_template("sweep.html")
    return template.render(table=table, statuses=list(Status), source=source, not_right=not_right)
