"""Prints a measured coverage as text, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fuzzer.coverage import reasons
from fuzzer.coverage.measure import Coverage
from fuzzer.coverage.question import Table
from fuzzer.coverage.reasons import ReasonKind
from fuzzer.system.terminal import number_of


@dataclass(frozen=True, slots=True)
class TableReport:
    """One converter table: the number of its keys, the keys that are reached, and the reasons for the others."""

    table: Table
    keys: int
    reached: dict[str, str]
    impossible: dict[str, str]
    left_out: dict[str, str]
    gaps: tuple[str, ...]

    @property
    def percent(self) -> float:
        return _percent(len(self.reached), self.keys)

    @property
    def percent_of_possible(self) -> float:
        return _percent(len(self.reached), self.keys - len(self.impossible))


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 100.0


def rows(coverage: Coverage) -> list[TableReport]:
    made = []
    for table in Table:
        why: dict[ReasonKind | None, dict[str, str]] = {kind: {} for kind in (*ReasonKind, None)}
        for key in coverage.unreached(table):
            reason = reasons.of(table, key)
            why[reason.kind if reason else None][key] = reason.text if reason else ""
        reached = dict(sorted(coverage.reached[table].items()))
        gaps = tuple(why[None])
        made.append(
            TableReport(
                table,
                len(coverage.tables[table]),
                reached,
                why[ReasonKind.IMPOSSIBLE],
                why[ReasonKind.LEFT_OUT],
                gaps,
            )
        )
    return made


def text(coverage: Coverage) -> Iterator[str]:
    for row in rows(coverage):
        possible = row.keys - len(row.impossible)
        yield (
            f"{row.table}: {len(row.reached)} of {row.keys} keys ({row.percent} %), "
            f"of the {possible} that PyTorch programs can give {row.percent_of_possible} %"
        )
        for title, found in ((ReasonKind.LEFT_OUT, row.left_out), (ReasonKind.IMPOSSIBLE, row.impossible)):
            for why, keys in _by_reason(found).items():
                yield f"  {title}: {' '.join(keys)}: {why}"
        if row.gaps:
            yield f"  not reached: {' '.join(row.gaps)}"
    for line in reasons.stale(coverage.tables, coverage.reached):
        yield f"stale reason: {line}"
    failures = coverage.failures.values()
    for failure in failures:
        if failure.died:
            yield f"{failure.way} died of {failure.op}: {failure.message} ({number_of(failure.count, 'time')})"
    refused = number_of(sum(each.count for each in failures if not each.died), "time")
    yield f"{number_of(coverage.trials, 'program')}; exporters refused {refused}"
    for op, why in coverage.unfit.items():
        yield f"not every program of {op} can be made: {why}"


def _by_reason(found: dict[str, str]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for key, why in found.items():
        grouped.setdefault(why, []).append(key)
    return grouped


def document(coverage: Coverage) -> dict[str, object]:
    tables = [
        {
            "table": row.table,
            "keys": row.keys,
            "percent": row.percent,
            "percent_of_possible": row.percent_of_possible,
            "reached": row.reached,
            "impossible": row.impossible,
            "left_out": row.left_out,
            "gaps": row.gaps,
        }
        for row in rows(coverage)
    ]
    return {
        "programs": coverage.trials,
        "tables": tables,
        "stale_reasons": list(reasons.stale(coverage.tables, coverage.reached)),
        "failures": [coverage.failures[key] for key in sorted(coverage.failures)],
        "unfit": coverage.unfit,
    }
