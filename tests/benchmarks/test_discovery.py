"""The figures of benchmarks/discovery.py, from directories made by hand."""

from __future__ import annotations

from pathlib import Path

import discovery
import msgspec
from campaign_files import NOTHING, read
from discovery import AGAINST, THIS, CampaignRun, Cost, Point, Shares
from folders_by_hand import add, costing, error, flaky, wrong_value


def run(seed: int, version: str, tests: int, distinct: int, why_unfinished: str = "") -> CampaignRun:
    """It found a tenth of everything in each tenth of its time; one of the failures waits."""
    curve = [_point(100.0 * step, tests * step // 10, distinct * step // 10) for step in range(1, 11)]
    parts, none = Shares(0.25, 0.5, 0.125, 0.125, 0.05), Cost(0, None)
    return CampaignRun(seed, version, curve, curve[-1], Cost(4, 1.5), none, 2.0, parts, "", why_unfinished)


def _point(cpu: float, tests: int, distinct: int) -> Point:
    waiting = min(1, distinct)
    left = {"causes": waiting, "unknown": waiting}
    return Point(cpu, tests, distinct - waiting, waiting, coarse=distinct, parked=0, flaky=0, **left)


def test_a_point_has_what_is_new_in_the_directory(tmp_path: Path) -> None:
    add(tmp_path, "crashes", error("no layout"))
    known = read(tmp_path)
    add(tmp_path, "crashes", wrong_value("relu"), flaky(error("now and then")))
    add(tmp_path, "waiting", error("no memory"))
    (tmp_path / "campaign.json").write_text('{"seed": 1, "tally": {"tests": 7}}')
    assert discovery.point(tmp_path, known, 12.34) == Point(
        12.3, 7, 1, 1, coarse=2, parked=0, flaky=1, causes=1, unknown=1
    )
    assert discovery.point(tmp_path, NOTHING, 20.0).distinct == 3


def test_the_cost_of_investigations_is_split_by_whether_an_exception_was_raised(tmp_path: Path) -> None:
    times = {"a layout": 1.0, "a kernel": 4.0, "a type": 1.5}
    add(tmp_path, "crashes", *(costing(error(message), seconds) for message, seconds in times.items()))
    add(tmp_path, "crashes", costing(wrong_value(), 8.0), flaky(costing(error("now and then"), 99.0)))
    assert discovery.costs(read(tmp_path)) == (Cost(3, 1.5), Cost(1, 8.0))
    assert discovery.costs(NOTHING) == (Cost(0, None), Cost(0, None))


def test_shares_are_counted_or_what_the_others_leave(tmp_path: Path) -> None:
    assert discovery.shares(tmp_path, total=100.0, start=10.0, supervisor=5.0) == Shares(None, None, 0.1, None, 0.05)
    (tmp_path / "campaign.json").write_text('{"tally": {"test_cpu_seconds": 20}}')
    assert discovery.shares(tmp_path, total=100.0, start=10.0, supervisor=5.0) == Shares(0.2, 0.65, 0.1, 0.05, 0.05)
    (tmp_path / "campaign.json").write_text('{"tally": {"test_cpu_seconds": 20, "triage_cpu_seconds": 40}}')
    assert discovery.shares(tmp_path, total=100.0, start=10.0, supervisor=5.0) == Shares(0.2, 0.4, 0.1, 0.3, 0.05)


def test_findings_are_copied_from_a_store_and_its_counters_are_not(tmp_path: Path) -> None:
    store, folder = tmp_path / "store", tmp_path / "new"
    add(store, "crashes", error("no layout"))
    add(store, "waiting", error("no memory"))
    (store / "waiting" / ".tmp-abc").mkdir()
    (store / "campaign.json").write_text("{}")
    folder.mkdir()
    discovery.copy_findings(store, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["crashes", "waiting"]
    assert read(folder) == read(store)
    assert len(list((folder / "waiting").iterdir())) == 1


def test_ratios_are_of_seeds_that_both_versions_finished() -> None:
    runs = [
        *(run(1, THIS, 100, 20), run(1, AGAINST, 10, 10)),
        *(run(2, THIS, 60, 30), run(2, AGAINST, 10, 10)),
        *(run(3, THIS, 90, 90), run(3, AGAINST, 10, 10, "interrupted")),
        run(4, THIS, 90, 90),
    ]
    assert discovery.ratios(runs) == [
        "tests this / against: median 8.00; by seed 10.00, 6.00",
        "findings this / against: median 2.67; by seed 2.11, 3.22",
        "distinct this / against: median 2.50; by seed 2.00, 3.00",
        "coarse this / against: median 2.50; by seed 2.00, 3.00",
        "causes this / against: median 1.00; by seed 1.00, 1.00",
    ]


def test_a_version_that_found_nothing_has_no_ratio() -> None:
    assert discovery.ratios([run(1, THIS, 100, 20), run(1, AGAINST, 10, 0)]) == [
        "tests this / against: median 10.00; by seed 10.00"
    ]


def test_the_report_has_a_row_for_each_campaign_its_curve_and_why_it_is_unfinished() -> None:
    early = run(2, THIS, 60, 30, "interrupted")
    lines = discovery.report([run(1, THIS, 100, 20), run(3, THIS, 50, 10), early], 1000.0)
    cells = [line.split() for line in lines]
    assert cells[1][:12] == ["1", "this", "1000", "100", "19", "1", "20", "20", "0", "0", "1", "1"]
    assert cells[1][12:] == ["1.50", "(4)", "-", "2.00", "25", "%", "50", "%", "12", "%", "12", "%", "5", "%"]
    assert ["figure", "seed", "version", *(str(100 * step) for step in range(1, 11))] in cells
    assert ["tests", "1", "this", *(str(10 * step) for step in range(1, 11))] in cells
    assert ["tests", "median", "this", "7.5", "15", "22.5", "30", "37.5", "45", "52.5", "60", "67.5", "75"] in cells
    assert lines[-1] == "seed 2 this: interrupted"
    assert discovery.report([], 1000.0) == ["no campaign ran"]


def test_a_curve_that_ends_early_is_filled_up() -> None:
    whole = run(1, THIS, 100, 20)
    rows = discovery.curve_rows([msgspec.structs.replace(whole, curve=whole.curve[:3])], 1000.0)
    assert rows[1] == ("tests", "1", "this", "10", "20", "30", *["-"] * 7)
