"""What a terminal shows, to the character; the clock stands still."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from snapshots import FAILING, SOUND, snapshot

from fuzzer.watching.health import LaneHealth
from fuzzer.watching.panel import Panel, _facts, line


def shown(width: int, height: int = 24, **other: Any) -> list[str]:
    console = Console(record=True, width=width, height=height, file=io.StringIO())
    console.print(Panel(snapshot(**other), monotonic=100.0))
    return [text.rstrip() for text in console.export_text().splitlines()]


def test_eighty_columns() -> None:
    assert shown(80) == [
        "difftvm  seed 99  process 4321  /campaigns/night",
        "time          1 h 02 min of 2 h 00 min; 6 h 56 min in all; supervisor 3.1% CPU",
        "tests         12,345, 0.50/s (0.50/s in this run), 2 invalid, next 12346",
        "lane results  67,890 in tests, 5,120 in triage, 4.2/s",
        "findings      10: 9 tvm, 1 exporter",
        "              3 new in this run, 4 in 24 h, 1 flaky; known ones met 812 times",
        "triage        12 sightings waiting, 1 parked; share 35%, 33% used",
        "last          3 min 20 s ago: wrong-value-squeeze-linear-3f2a0c1b2d3e",
        "  findings    ▁▂▂▃▄▅▅▆▇█ 10",
        "  features    ▁▂▂▃▃▄▄▅▆█ 1,204",
        "time goes to  compile 50%, export 20%, import 12%, run 10%, load 4%",
        "memory        122 MB here, 1.9 GB in 5 children; free 17.1 GB, disk 51.0 GB",
        "workers       test 12346 for 2 s; triage: died in relax-export-c for 40 s",
        "",
        "lanes, newest outcomes   results  before",
        "!! relax-export-c        4 of 40  95%     36 raised",
        "   relax-export-llvm    38 of 40  90%     2 unsupported",
    ]


def test_the_documents_show_this_screen() -> None:
    assert "\n".join(shown(80)) in (Path(__file__).parents[3] / "docs" / "watching.md").read_text()


def test_a_run_with_an_aim_has_a_line_for_it() -> None:
    lines = shown(80, height=40, aim="3 pieces; 4 operators with a row; none without a row")
    assert lines[3] == "aim           3 pieces; 4 operators with a row; none without a row"
    assert [*lines[:3], *lines[4:]] == shown(80)


def test_a_campaign_that_has_just_begun() -> None:
    nothing: dict[str, Any] = {"findings": {}, "last": "", "last_found": None, "curve": [], "lanes": ()}
    nothing |= {"new": 0, "today": 0, "flaky": 0, "known": 0, "limit": None, "tasks": (), "stage_cpu": {}}
    nothing |= {"waiting": 0, "parked": 0, "triage_used": 0.0}
    nothing["features"] = 0
    assert shown(80, **nothing) == [
        "difftvm  seed 99  process 4321  /campaigns/night",
        "time          1 h 02 min; 6 h 56 min in all; supervisor 3.1% CPU",
        "tests         12,345, 0.50/s (0.50/s in this run), 2 invalid, next 12346",
        "lane results  67,890 in tests, 5,120 in triage, 4.2/s",
        "findings      0: none yet",
        "              0 new in this run, 0 in 24 h, 0 flaky; known ones met 0 times",
        "triage        0 sightings waiting; share 35%, 0% used",
        "time goes to  nothing yet",
        "memory        122 MB here, 1.9 GB in 5 children; free 17.1 GB, disk 51.0 GB",
        "workers       2 of 2 idle",
    ]


def test_as_many_lanes_as_there_is_room_for_those_that_fail_first() -> None:
    many = (FAILING, *(LaneHealth(f"lane-{n}", {"ran": 1}, {}) for n in range(40)))
    for height in (24, 40):
        lines = shown(80, height, lanes=many)
        assert len(lines) <= height - 1
        assert lines[-1].strip() == f"and {41 - sum('lane-' in text or '!!' in text for text in lines)} more"
        assert sum("!!" in text for text in lines) == 1


def test_beside_each_other_where_it_is_wide() -> None:
    lines = shown(170)
    assert len(lines) < len(shown(80))
    assert all(len(text) <= 170 for text in lines)


def test_what_is_narrow_loses_no_number() -> None:
    text = "".join("".join(shown(50, 60)).split())
    for number in ("12,345", "67,890", "10:9tvm,1exporter", "4of40", "122MBhere"):
        assert number in text


def test_names_are_no_markup() -> None:
    assert any("[bold]x[/bold]" in text for text in shown(80, last="[bold]x[/bold]"))


def test_a_line_for_logs() -> None:
    assert line(snapshot(lanes=(SOUND,))) == (
        "1 h 02 min  1850 tests  0.50/s  9250 lane results  3 new findings, 10 in all  12 waiting  supervisor 122 MB"
    )
    assert line(snapshot()).endswith("  LANES FAIL: relax-export-c")


def test_a_line_counts_by_ones() -> None:
    parts = line(snapshot(lanes=(), run_tests=1, run_lane_results=1, new=1)).split("  ")
    assert (parts[1], parts[3], parts[4]) == ("1 test", "1 lane result", "1 new finding, 10 in all")


def test_tests_that_difftvm_could_not_do_are_shown_where_there_are_any() -> None:
    assert shown(80, errors=3)[3] == "              3 tests could not be done by difftvm itself"


@pytest.mark.parametrize(
    ("seconds", "other", "expected"),
    [
        (44.0, {}, "44 s of 45 s"),
        (45.0, {}, "45 s are over; triage goes on for up to 1 min 00 s"),
        (83.0, {}, "45 s are over; triage goes on for up to 22 s"),
        (83.0, {"drain": math.inf}, "45 s are over; triage goes on"),
        (105.5, {}, "45 s are over; finishing what is under way for 1 min 00 s"),
        (45.5, {"drain": 0.0}, "45 s are over; finishing what is under way"),
        (83.0, {"waiting": 0}, "45 s are over; finishing what is under way for 38 s"),
    ],
)
def test_a_run_beyond_its_limit_says_what_it_still_does(seconds: float, other: dict[str, Any], expected: str) -> None:
    (time,) = (text for name, text in _facts(snapshot(seconds=seconds, limit=45.0, **other), 100.0) if name == "time")
    assert time.plain.startswith(f"{expected}; 6 h 56 min in all; ")


def test_few_outcomes_of_a_lane_are_listed_and_not_counted_as_0_of_1() -> None:
    few = LaneHealth("relax-fx", {"unsupported": 1}, {})
    some = LaneHealth("relax-onnx", {"ran": 2, "raised": 1}, {})
    lines = shown(80, lanes=(SOUND, some, few))
    assert lines[-3:] == [
        "   relax-export-llvm    38 of 40  90%     2 unsupported",
        "   relax-onnx                             2 ran, 1 raised",
        "   relax-fx                               1 unsupported",
    ]
