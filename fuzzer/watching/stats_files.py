"""`fuzz_stats` and `plot_data`: files for scripts, in the form that AFL writes them, in the campaign's folder.

`fuzz_stats` has a line `key : value` for each fact and is replaced as a whole; what AFL has a name for has that name.
`plot_data` is a CSV with a header, to which a line is added every half minute and at the end of a run, over all
runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from fuzzer.system.files import write_atomically
from fuzzer.watching.health import failing
from fuzzer.watching.snapshot import Glance

STATS, PLOT = "fuzz_stats", "plot_data"
PLOT_SECONDS = 30.0

Number = int | float

COLUMNS: dict[str, Callable[[Glance], Number]] = {
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
}
"""Of `plot_data`. New ones are added at the end: files go on over versions."""


def stats(glance: Glance) -> dict[str, object]:
    """Times are Unix's, in seconds."""
    return {
        "start_time": int(glance.now - glance.seconds),
        "last_update": int(glance.now),
        "run_time": int(glance.seconds),
        "fuzzer_pid": glance.pid,
        "execs_done": glance.tests,
        "execs_per_sec": round(glance.tests_per_second, 3),
        "saved_crashes": glance.all_findings,
        "saved_hangs": sum(n for (_, kind), n in glance.findings.items() if kind == "timed-out"),
        "last_crash": int(glance.last_found or 0),
        "seed": glance.seed,
        "next_test": glance.next_test,
        "invalid": glance.invalid,
        "errors": glance.errors,
        "wall_seconds": int(glance.wall_seconds),
        "cpu_seconds": int(glance.cpu_seconds),
        "lane_results": glance.lane_results,
        "triage_lane_results": glance.triage_lane_results,
        "lane_results_per_sec": round(glance.lane_results_per_second, 3),
        **{f"findings_{name}": count for name, count in glance.by_component.items()},
        "findings_flaky": glance.flaky,
        "findings_new": glance.new,
        "findings_24h": glance.today,
        "known": glance.known,
        "features": glance.features,
        "workers": glance.workers,
        "workers_busy": len(glance.doing),
        "lanes_failing": " ".join(failing(glance.lanes)),
        "supervisor_rss_mb": round(glance.resources.supervisor / 1e6, 1),
        "children_pss_mb": round(glance.resources.children / 1e6, 1),
        "disk_free_mb": round(glance.resources.disk / 1e6),
    }


def write_stats(folder: Path, glance: Glance) -> None:
    lines = [f"{key:<21}: {value}\n" for key, value in stats(glance).items()]
    write_atomically(folder / STATS, "".join(lines).encode())


class PlotData:
    """Appends. A line is written by one call; one that a loss of power tore is cut off when the file is opened."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / PLOT
        self._last: float | None = None
        if self._path.exists():
            data = self._path.read_bytes()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                os.truncate(self._path, whole)

    def add(self, glance: Glance, last: bool = False) -> None:
        """A line, where the one before is half a minute old, or this is the `last` of a run."""
        if not last and self._last is not None and glance.now - self._last < PLOT_SECONDS:
            return
        self._last = glance.now
        text = ",".join(str(number(glance)) for number in COLUMNS.values()) + "\n"
        with self._path.open("ab", buffering=0) as file:
            header = "" if file.tell() else ",".join(COLUMNS) + "\n"
            file.write((header + text).encode())
