"""The time of day may jump by a year while a campaign runs: what it shows and enforces stays sound."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fuzzer.campaign.store.disk_space import MEASURE_SECONDS, DiskSpace, Size
from fuzzer.campaign.store.pause_switch import PauseSwitch
from fuzzer.campaign.store.rows import index_row
from fuzzer.campaign.store.store import Store
from fuzzer.commands.status import _lines
from fuzzer.dashboard.data import gather
from fuzzer.lanes import TORCH
from fuzzer.system.process_clock import Clock
from fuzzer.triage.investigate import Investigated, Sighting
from fuzzer.watching.causes import causes_in
from fuzzer.watching.status import status_of
from oracles.outcome import Ran, Result

YEAR = 365 * 86_400.0
VERSIONS = {"torch": "2.13.0", "tvm": "0.27.0"}


@pytest.mark.parametrize("jump", [YEAR, -YEAR])
def test_status_and_findings_after_a_jump(
    tmp_path: Path, make: Callable[..., tuple[Investigated, Sighting]], monkeypatch: pytest.MonkeyPatch, jump: float
) -> None:
    with Store(tmp_path, 1) as store:
        before = store.save(make("no layout")[0], VERSIONS)
        store.finish_test(index_row(0, 1.0, {TORCH: Ran(())}), Result({TORCH: Ran(())}), 1, invalid=False)
        store.save_state()
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() + jump)
        after = store.save(make("no kernel", "abs")[0], VERSIONS)
        store.finish_test(index_row(1, 1.0, {TORCH: Ran(())}), Result({TORCH: Ran(())}), 2, invalid=False)
    assert before is not None
    assert after is not None
    with Store(tmp_path, None) as store:
        assert (store.state.next_test, len(store.findings)) == (2, 2)
    causes = causes_in(tmp_path)
    status = status_of(tmp_path, causes)
    assert (status.own_tests, sum(status.findings.values()), status.unreadable) == (2, 2, [])
    assert status.today == 1, "the one that was found on this day, as the clock has it now"
    assert status.latest == (after if jump > 0 else before).slug
    (latest,) = (line for line in _lines(status, causes) if line.startswith("latest finding"))
    assert re.match(r"latest finding, \d+ s ago: ", latest), "neither a year nor less than nothing"
    assert {row.slug for row in gather(tmp_path).findings} == {before.slug, after.slug}


@pytest.mark.parametrize("jump", [YEAR, -YEAR])
def test_bounds_do_not_depend_on_the_time_of_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: float) -> None:
    measured: list[Path] = []

    def size_of(folder: Path) -> Size:
        measured.append(folder)
        return Size(0)

    clock, disk = Clock(), DiskSpace(tmp_path, PauseSwitch(), lambda text: None, limit=1 << 40, reserve=0)
    monkeypatch.setattr("fuzzer.campaign.store.disk_space.size_of", size_of)
    assert disk.look()
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump)
    assert clock.seconds() < MEASURE_SECONDS
    assert not clock.was_stopped
    assert disk.look()
    assert measured == [tmp_path], "it is measured once a minute"
