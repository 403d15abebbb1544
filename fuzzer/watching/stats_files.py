"""Writes `fuzz_stats` and `plot_data` into the campaign's folder: files for scripts, in AFL's format.

`fuzz_stats` has lines `key : value` and is replaced as a whole. Keys have AFL's names where AFL has one. `plot_data` is
a CSV file with a header. A line is added every half minute and at the end of each run; all runs write to the same file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fuzzer.campaign.store.layout import ASIDE
from fuzzer.findings.severity import Level
from fuzzer.system.files import open_plain, write_atomically
from fuzzer.system.untrusted_files import free_for_file
from fuzzer.watching.health import failing
from fuzzer.watching.snapshot import Snapshot

STATS, PLOT = "fuzz_stats", "plot_data"
PLOT_SECONDS = 30.0
MOST_PLOT = 64 << 20
"""The lines of half a year. A longer file is moved away, and a new one begins."""

Number = int | float

COLUMNS: dict[str, Callable[[Snapshot], Number]] = {
    "unix_time": lambda g: int(g.now),
    "wall_seconds": lambda g: round(g.wall_seconds, 1),
    "tests": lambda g: g.tests,
    "lane_results": lambda g: g.lane_results,
    "features": lambda g: g.features,
    "findings": lambda g: g.all_findings,
    "known": lambda g: g.known,
    "tests_per_second": lambda g: round(g.tests_per_second, 3),
    "lane_results_per_second": lambda g: round(g.lane_results_per_second, 3),
    "cpu_seconds": lambda g: round(g.cpu_seconds, 1),
    "supervisor_bytes": lambda g: g.resources.supervisor,
    "children_bytes": lambda g: g.resources.children,
    "waiting": lambda g: g.waiting,
    "parked": lambda g: g.causes.counts.parked,
    "triage_used": lambda g: round(g.triage_used, 3),
    "causes": lambda g: g.causes.counts.confirmed,
    "provisional": lambda g: g.causes.counts.provisional,
}
"""The columns of `plot_data`. New ones are added at the end, because later versions continue the same file."""


def stats(snapshot: Snapshot) -> dict[str, object]:
    """The contents of `fuzz_stats`. Times are Unix times in seconds."""
    causes = snapshot.causes.counts
    return {
        "start_time": int(snapshot.now - snapshot.seconds),
        "last_update": int(snapshot.now),
        "run_time": int(snapshot.seconds),
        "fuzzer_pid": snapshot.pid,
        "execs_done": snapshot.tests,
        "execs_per_sec": round(snapshot.tests_per_second, 3),
        "saved_crashes": snapshot.all_findings,
        "saved_hangs": sum(n for (_, kind), n in snapshot.findings.items() if kind == "timed-out"),
        "last_crash": int(snapshot.last_found or 0),
        "seed": snapshot.seed,
        "next_test": snapshot.next_test,
        "invalid": snapshot.invalid,
        "errors": snapshot.errors,
        "wall_seconds": int(snapshot.wall_seconds),
        "cpu_seconds": int(snapshot.cpu_seconds),
        "lane_results": snapshot.lane_results,
        "triage_lane_results": snapshot.triage_lane_results,
        "lane_results_per_sec": round(snapshot.lane_results_per_second, 3),
        **{f"findings_{name}": count for name, count in snapshot.by_component.items()},
        "findings_flaky": snapshot.flaky,
        "findings_new": snapshot.run_findings,
        "findings_24h": snapshot.today,
        **{f"causes_{level}": causes.levels.get(level, 0) for level in Level},
        "causes_provisional": causes.provisional,
        "waiting": causes.waiting,
        "waiting_others": causes.other_waiting,
        "parked": causes.parked,
        "phase": snapshot.phase.phase,
        "triage_share": round(snapshot.triage_share, 3),
        "triage_used": round(snapshot.triage_used, 3),
        "known": snapshot.known,
        "features": snapshot.features,
        "workers": snapshot.workers,
        "workers_busy": len(snapshot.tasks),
        "lanes_failing": " ".join(failing(snapshot.lanes)),
        "supervisor_rss_mb": round(snapshot.resources.supervisor / 1e6, 1),
        "children_pss_mb": round(snapshot.resources.children / 1e6, 1),
        "disk_free_mb": round(snapshot.resources.disk / 1e6),
    }


def write_stats(folder: Path, snapshot: Snapshot) -> None:
    lines = [f"{key:<21}: {value}\n" for key, value in stats(snapshot).items()]
    free_for_file(folder / STATS, folder / ASIDE)
    write_atomically(folder / STATS, "".join(lines).encode())


class PlotData:
    """Appends lines, each in one write. A last line that a loss of power cut off is removed when the file is opened."""

    def __init__(self, folder: Path) -> None:
        self._path, self._aside = folder / PLOT, folder / ASIDE
        self._last: float | None = None
        free_for_file(self._path, self._aside, MOST_PLOT)
        if self._path.exists():
            with open_plain(self._path, "rb+") as file:
                data = file.read()
                whole = data.rfind(b"\n") + 1
                if whole < len(data):
                    file.truncate(whole)

    def add(self, snapshot: Snapshot, last: bool = False) -> None:
        """Add a line if the last one is half a minute old, or if it is the `last` line of a run."""
        if not last and self._last is not None and snapshot.now - self._last < PLOT_SECONDS:
            return
        self._last = snapshot.now
        text = ",".join(str(number(snapshot)) for number in COLUMNS.values()) + "\n"
        free_for_file(self._path, self._aside)
        with open_plain(self._path, "ab") as file:
            header = "" if file.tell() else ",".join(COLUMNS) + "\n"
            file.write((header + text).encode())
