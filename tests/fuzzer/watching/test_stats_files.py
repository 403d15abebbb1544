"""The files for scripts, to the character; what a kill leaves is mended."""

from __future__ import annotations

import csv
from pathlib import Path

from snapshots import NOW, snapshot

from fuzzer.watching.stats_files import PLOT, STATS, PlotData, write_stats

WRITTEN = """\
start_time           : 1799996275
last_update          : 1800000000
run_time             : 3725
fuzzer_pid           : 4321
execs_done           : 12345
execs_per_sec        : 0.5
saved_crashes        : 10
saved_hangs          : 2
last_crash           : 1799999800
seed                 : 99
next_test            : 12346
invalid              : 2
errors               : 0
wall_seconds         : 25000
cpu_seconds          : 30000
lane_results         : 67890
triage_lane_results  : 5120
lane_results_per_sec : 4.25
findings_tvm         : 9
findings_exporter    : 1
findings_flaky       : 1
findings_new         : 3
findings_24h         : 4
causes_critical      : 9
causes_high          : 12
causes_medium        : 0
causes_low           : 1
causes_provisional   : 7
waiting              : 12
waiting_others       : 3
parked               : 1
phase                : fuzzing
triage_share         : 0.35
triage_used          : 0.333
known                : 812
features             : 1204
workers              : 2
workers_busy         : 2
lanes_failing        : relax-export-c
supervisor_rss_mb    : 122.0
children_pss_mb      : 1900.0
disk_free_mb         : 51000
"""

HEADER = (
    "unix_time,wall_seconds,tests,lane_results,features,findings,known,"
    "tests_per_second,lane_results_per_second,cpu_seconds,supervisor_bytes,children_bytes,waiting,parked,triage_used,"
    "causes,provisional"
)
LINE = "1800000000,25000.0,12345,67890,1204,10,812,0.5,4.25,30000.4,122000000,1900000000,12,1,0.333,22,7"


def test_fuzz_stats(tmp_path: Path) -> None:
    write_stats(tmp_path, snapshot(tests=1))
    write_stats(tmp_path, snapshot())
    assert (tmp_path / STATS).read_text() == WRITTEN
    assert [path.name for path in tmp_path.iterdir()] == [STATS]


def test_plot_data_goes_on_over_runs_every_half_minute(tmp_path: Path) -> None:
    for run in range(2):
        plot = PlotData(tmp_path)
        for seconds in (0, 5, 29.9, 30, 61):
            plot.add(snapshot(now=NOW + 100 * run + seconds))
    lines = (tmp_path / PLOT).read_text().splitlines()
    assert lines[:2] == [HEADER, LINE]
    with (tmp_path / PLOT).open() as file:
        assert [int(row["unix_time"]) - NOW for row in csv.DictReader(file)] == [0, 30, 61, 100, 130, 161]


def test_a_run_ends_with_a_line(tmp_path: Path) -> None:
    plot = PlotData(tmp_path)
    for seconds, last in ((0, False), (5, False), (7, True)):
        plot.add(snapshot(now=NOW + seconds), last=last)
    with (tmp_path / PLOT).open() as file:
        assert [int(row["unix_time"]) - NOW for row in csv.DictReader(file)] == [0, 7]


def test_a_line_that_was_torn_is_cut_off(tmp_path: Path) -> None:
    for torn in ("1800000000,250", HEADER[:20]):
        whole = "" if torn.startswith("unix") else f"{HEADER}\n{LINE}\n"
        (tmp_path / PLOT).write_text(whole + torn)
        PlotData(tmp_path).add(snapshot())
        assert (tmp_path / PLOT).read_text() == (whole or f"{HEADER}\n") + f"{LINE}\n"
