"""What a terminal shows, to the character; the clock stands still."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from snapshots import FAILING, SEEN, SOUND, snapshot

from fuzzer.campaign.lanes.activity import CurrentTask
from fuzzer.campaign.plan.settings import RunLimits
from fuzzer.campaign.run.phase import Phase, PhaseProgress
from fuzzer.findings.severity import Level
from fuzzer.watching.causes import CauseCounts
from fuzzer.watching.glance import ConfirmedLine, Glance, ProvisionalLine
from fuzzer.watching.health import LaneHealth
from fuzzer.watching.panel import line, panel

NOTHING_SEEN = Glance(CauseCounts())
IN_TRIAGE = CurrentTask("reducing `square` (died)", 60.0, True)


def shown(width: int = 80, height: int = 24, stats: bool = False, **other: Any) -> list[str]:
    return [text.plain.rstrip() for text in panel(snapshot(**other), 100.0, width, height, stats=stats)]


def test_eighty_columns() -> None:
    assert shown() == [
        "difftvm  TVM 0.27.0.post1  /campaigns/night  seed 99",
        "fuzzing    ██████████░░░░░░░░░░ 1 h 02 min, up to 57 min 55 s left",
        "           then triage for up to 1 min 00 s",
        "!! relax-export-c: 4 results in its newest 40 runs, 95% before; 36 raised",
        "new        1 critical, 1 high",
        "  high     `torch.where` gives float32 instead of int64 (converter `_where`)",
        "  critical `torch.squeeze` + `F.linear` gives wrong values",
        "not confirmed yet: 7 causes, seen in 12 sightings",
        "  Perhaps `acos` or `cos` fails: Unresolved call Op(tirx.acos)  (seen 6 times)",
        "  A model of 4 operators gives wrong values",
        "found in earlier runs: 1 high, 1 low",
        "18 known causes ship with difftvm, 5 of them met",
        "not TVM's (exporter): 1 finding, 3 sightings",
        "now        2 s testing case 12346",
        "           40 s reducing `square` (died)",
        "tests      1,850 in this run; 0.50/s; 2 refused by PyTorch (normal)",
        "keys       ctrl-C ends the run and loses nothing; ctrl-Z pauses it, fg goes on",
    ]


def test_a_title_that_is_wider_than_the_terminal_goes_on_in_the_next_line() -> None:
    long = "Perhaps `F.softmin`, `v0[-2::2]` or one of 3 others fails: code generation has no `tirx.fabs`"
    found = (*(ConfirmedLine(Level.HIGH, f"`{n}` {'wrong ' * 12}", True) for n in "ab"),)
    causes = Glance(CauseCounts(provisional=1, sightings=1), 2, found, (ProvisionalLine(1, long, "x"),))
    assert shown(causes=causes, lanes=())[3:10] == [
        "new        2 high",
        "  high     `a` wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong",
        "           wrong",
        "  high     `b` wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong",
        "           wrong",
        "not confirmed yet: 1 cause, seen in 1 sighting",
        "  Perhaps `F.softmin`, `v0[-2::2]` or one of 3 others fails: code generation has",
    ]
    assert "           wrong" not in shown(height=13, causes=causes, lanes=())[6:], "no room for the second one"


def test_with_numbers_for_those_who_develop_difftvm() -> None:
    assert shown(height=25, stats=True)[17:] == [
        "campaign   12,345 tests in all its runs; process 4321",
        "triage     33% of the CPU of lanes so far; it gets 35% while sightings wait",
        "CPU        compile 50%, export 20%, import 12%, run 10%; supervisor 3.1%",
        "memory     122 MB here, 1.9 GB in 5 children; free 17.1 GB, disk 51.0 GB",
        "2 of 2 lanes give results; 1 far fewer than before",
        "findings   ▁▂▂▃▄▅▅▆▇█ over time",
    ]


def test_a_run_with_an_aim_has_a_line_for_it() -> None:
    lines = shown(height=40, aim="3 pieces; 4 operators with a row; none without a row")
    assert lines[3] == "aim        3 pieces; 4 operators with a row; none without a row"
    assert [*lines[:3], *lines[4:]] == shown(height=40)


def test_a_campaign_that_has_just_begun() -> None:
    nothing: dict[str, Any] = {"findings": {}, "last": "", "last_found": None, "curve": [], "lanes": (), "invalid": 0}
    nothing |= {"new": frozenset(), "today": 0, "flaky": 0, "known": 0, "tasks": (), "stage_cpu": {}, "features": 0}
    nothing |= {
        "limits": RunLimits(),
        "phase": PhaseProgress(Phase.FUZZING),
        "causes": NOTHING_SEEN,
        "triage_used": 0.0,
    }
    assert shown(**nothing) == [
        "difftvm  TVM 0.27.0.post1  /campaigns/night  seed 99",
        "fuzzing    1 h 02 min, no limit",
        "new        nothing is confirmed yet",
        "now        2 of 2 workers idle",
        "tests      1,850 in this run; 0.50/s",
        "keys       ctrl-C ends the run and loses nothing; ctrl-Z pauses it, fg goes on",
    ]


@pytest.mark.parametrize("stats", [False, True])
@pytest.mark.parametrize(("width", "height"), [(80, 24), (50, 24), (80, 12), (170, 50), (20, 5)])
def test_no_line_is_wider_and_there_is_room_for_the_cursor(width: int, height: int, stats: bool) -> None:
    many = Glance(SEEN.counts, 3, SEEN.confirmed * 5, SEEN.provisional * 10)
    lanes = (FAILING, *(LaneHealth(f"lane-{n}", {"raised": 1}, {}) for n in range(40)))
    lines = shown(width, height, stats=stats, causes=many, lanes=lanes)
    assert len(lines) <= height - 1
    assert max(map(len, lines)) <= width


def test_causes_have_the_room_that_is_left_and_both_lists_a_part_of_it() -> None:
    many = Glance(SEEN.counts, 3, SEEN.confirmed * 5, SEEN.provisional * 10)
    lines = shown(causes=many)
    assert sum(line.startswith(("  critical", "  high", "  low")) for line in lines) == 5
    assert sum(line.startswith(("  Perhaps", "  A model")) for line in lines) == 5
    assert len(lines) == 23


def test_a_tall_terminal_shows_the_lanes_with_the_fewest_results() -> None:
    unsupported = LaneHealth("relax-fx-llvm", {"unsupported": 40}, {})
    whole = LaneHealth("torch", {"ran": 40}, {})
    raising = LaneHealth("relax-onnx-llvm", {"raised": 19}, {})
    lines = shown(height=40, stats=True, lanes=(FAILING, unsupported, whole, SOUND, raising))
    assert lines[-8:] == [
        "3 of 5 lanes give results; 1 far fewer than before; 1 had only unsupported",
        "    cases, which is normal",
        "findings   ▁▂▂▃▄▅▅▆▇█ over time",
        "!! relax-export-c             results in 4 of 40: 36 raised",
        "   relax-onnx-llvm            TVM raised an error for 19 of 19 models",
        "                              (such failures are looked for)",
        "   relax-export-llvm          results in 38 of 40: 2 unsupported",
        "   relax-fx-llvm              results in 0 of 40: 40 unsupported (normal)",
    ]


def test_names_are_no_markup() -> None:
    assert "  /[bold]x[/bold]" in shown(folder=Path("/[bold]x[/bold]"))[0]


def test_tests_that_difftvm_could_not_do_are_shown_where_there_are_any() -> None:
    assert shown(errors=3)[3] == "           3 tests could not be done by difftvm itself"


def test_it_says_why_no_test_ends_while_triage_has_all_workers() -> None:
    lines = shown(tasks=(IN_TRIAGE, IN_TRIAGE), tests_per_second=0.0, invalid=0)
    assert "tests      1,850 in this run; they go on after triage" in lines
    log = line(snapshot(tasks=(IN_TRIAGE, IN_TRIAGE), tests_per_second=0.0, lanes=()))
    assert "  1,850 tests  all workers do triage  " in log
    assert "all workers" not in line(snapshot(tasks=(IN_TRIAGE,)))


@pytest.mark.parametrize(
    ("limits", "phase", "expected"),
    [
        (RunLimits(45), PhaseProgress(Phase.FUZZING, 1.0, 0.98), "44 s, up to 1 s left"),
        (RunLimits(tests=8), PhaseProgress(Phase.FUZZING, None, 0.1), "44 s, 1850 of 8 tests"),
        (RunLimits(45, None, 5), PhaseProgress(Phase.FUZZING, 1.0, 0.98), "44 s, 3 of 5 new findings, up to 1 s left"),
        (RunLimits(45), PhaseProgress(Phase.TRIAGE, 22.0, 0.6, 12), "up to 22 s left; 12 sightings to investigate"),
        (RunLimits(tests=0), PhaseProgress(Phase.TRIAGE, None, 0.6, 12), "12 sightings to investigate"),
        (RunLimits(45), PhaseProgress(Phase.FINISHING), "44 s; what runs is finished, and nothing more begins"),
        (RunLimits(45), PhaseProgress(Phase.PAUSED), "44 s; nothing runs"),
    ],
)
def test_each_phase_says_how_far_it_is(limits: RunLimits, phase: PhaseProgress, expected: str) -> None:
    text = shown(seconds=44.0, limits=limits, phase=phase)[1]
    assert text.startswith(f"{phase.phase:11}")
    assert text.endswith(f" {expected}")


def test_what_comes_next() -> None:
    triage = PhaseProgress(Phase.TRIAGE, None, 0.1)
    assert shown(phase=triage)[2].strip() == "the tests of this run are over"
    following = ("then triage", "the tests of this run are over")
    assert not shown(drain=0.0)[2].strip().startswith(following)
    assert not shown(phase=triage, limits=RunLimits(tests=0), drain=math.inf)[2].strip().startswith(following)


def test_the_keys_that_end_and_pause_a_run() -> None:
    assert shown()[-1] == "keys       ctrl-C ends the run and loses nothing; ctrl-Z pauses it, fg goes on"
    assert shown(phase=PhaseProgress(Phase.FINISHING))[-1] == "keys       ctrl-C twice ends the run at once"


def test_only_a_worker_that_is_idle_while_tests_go_on_is_marked() -> None:
    def style(phase: Phase) -> str:
        (text,) = (
            each for each in panel(snapshot(tasks=(), phase=PhaseProgress(phase)), 0.0, 80, 24) if "idle" in each.plain
        )
        return str(text.spans[-1].style)

    assert (style(Phase.FUZZING), style(Phase.FINISHING)) == ("bold red", "bold")


def test_a_line_for_logs() -> None:
    assert line(snapshot(lanes=(SOUND,))) == (
        "fuzzing 1 h 02 min, up to 57 min 55 s left  1,850 tests  0.50/s  3 new findings  "
        "7 causes not confirmed  supervisor 122 MB"
    )
    assert line(snapshot()).endswith("  LANES FAIL: relax-export-c")


def test_a_line_counts_by_ones() -> None:
    parts = line(snapshot(lanes=(), run_tests=1, new=frozenset({"a"}))).split("  ")
    assert (parts[1], parts[3]) == ("1 test", "1 new finding")
