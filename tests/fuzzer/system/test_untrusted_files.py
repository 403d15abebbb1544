"""Whatever a child makes, and whatever it replaces: nothing outside is touched, nothing waits, the next start works."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import shapes
from shapes import SHAPES

from fuzzer.campaign.run.phase import Phase, PhaseProgress
from fuzzer.campaign.store import state
from fuzzer.campaign.store.layout import ASIDE, SCRATCH
from fuzzer.campaign.store.store import Store
from fuzzer.system import untrusted_files
from fuzzer.watching.causes import CauseCounts
from fuzzer.watching.glance import Glance
from fuzzer.watching.resources import Resources
from fuzzer.watching.snapshot import Snapshot
from fuzzer.watching.stats_files import PLOT, STATS, PlotData, write_stats

LIBC = ctypes.CDLL(None, use_errno=True)
ALL_EVENTS, NON_BLOCKING = 0xFFF, 0x800  # sys/inotify.h
STAYS = "mounted_folder"
"""The only shape that nobody can delete."""

PLACES = {
    f"{SCRATCH}/host/tmpa/made": "in a child's folder",
    f"{SCRATCH}/host/tmpa": "a child's folder",
    f"{SCRATCH}/host": "an executor's",
    SCRATCH: "all",
}


class Outside:
    """A folder of the user's, and what the kernel says is done with it (inotify(7))."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / "mine"
        (folder / "host" / "tmpa").mkdir(parents=True)
        self.file.write_text("mine")
        self._events = LIBC.inotify_init1(NON_BLOCKING)

    def watch(self) -> None:
        for path in (self.folder, self.folder / "host"):
            assert LIBC.inotify_add_watch(self._events, os.fsencode(path), ALL_EVENTS) > 0

    def assert_untouched(self) -> None:
        with pytest.raises(BlockingIOError):
            os.read(self._events, 4096)
        os.close(self._events)
        assert self.file.read_text() == "mine"
        assert (self.folder / "host" / "tmpa").is_dir()


@pytest.fixture
def outside(tmp_path: Path) -> Outside:
    (tmp_path / "outside").mkdir()
    return Outside(tmp_path / "outside")


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "campaign"
    folder.mkdir()
    yield folder
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        if (where := line.split()[4]).startswith(str(folder)):
            assert LIBC.umount(os.fsencode(where)) == 0
    assert untrusted_files.remove(untrusted_files.real(folder)), "pytest cannot delete deep or immutable folders"


def snapshot(tests: int) -> Snapshot:
    """A campaign that has run `tests` tests."""
    values = {field.name: 0 for field in dataclasses.fields(Snapshot)}
    empty = {"findings": {}, "lanes": (), "tasks": (), "resources": Resources(0, 0, 0, 0, 0), "tests": tests}
    causes = {"causes": Glance(CauseCounts()), "phase": PhaseProgress(Phase.FUZZING)}
    return Snapshot(**{**values, **empty, **causes})  # type: ignore[arg-type]


def make(name: str, path: Path, outside: Outside) -> None:
    """Let another process make a shape."""
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-S", shapes.__file__, name, str(path), str(outside.folder)]
    if subprocess.run(command).returncode == shapes.UNABLE:
        pytest.skip("this user or file system cannot make it")
    assert os.path.lexists(path)


def shapes_in_places() -> Iterator[Any]:
    """Each shape in each place. The gate has each of them in one place."""
    for number, name in enumerate(SHAPES):
        for turn, (place, what) in enumerate(PLACES.items()):
            if name != "many_files" or turn == 0:  # it takes seconds, and is the same in each place
                in_gate = name == "many_files" or (number + turn) % len(PLACES) == 0
                yield pytest.param(name, place, id=f"{name}-{what}", marks=() if in_gate else pytest.mark.long)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "place"), [*shapes_in_places()])
def test_the_next_start_works(
    campaign: Path, outside: Outside, name: str, place: str, capfd: pytest.CaptureFixture[str]
) -> None:
    make(name, campaign / place, outside)
    outside.watch()
    for again in range(2):
        with Store(campaign, 1) as store:
            folder, log = untrusted_files.new_folder_and_log(untrusted_files.real(store.scratch) / "host")
            with log:
                assert os.listdir(folder) == []
                assert sorted(os.listdir(folder.parent)) == [folder.name]
            assert untrusted_files.remove(untrusted_files.real(store.scratch))
        printed = capfd.readouterr().err
        assert bool(printed) is (name == STAYS and not again), printed
        assert (campaign / ASIDE).exists() is (name == STAYS)
    outside.assert_untouched()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SHAPES.keys() - {"many_files"}))
def test_a_lane_replaces_the_files_of_the_statistics(campaign: Path, outside: Outside, name: str) -> None:
    for path in (STATS, PLOT, state.NAME, *([f".tmp-{STATS}-{os.getpid()}"] if name != STAYS else [])):
        make(name, campaign / path, outside)
    outside.watch()
    for tests in (1, 2):
        write_stats(campaign, snapshot(tests=tests))
        PlotData(campaign).add(snapshot(tests=tests), last=True)
        state.write(campaign, state.begun(1))
    outside.assert_untouched()
    assert "execs_done           : 2\n" in (campaign / STATS).read_text()
    assert len((campaign / PLOT).read_text().splitlines()) == 3
    assert state.read(campaign) is not None


@pytest.mark.parametrize("place", ["scratch", "scratch/host"])
@pytest.mark.parametrize("made", ["nothing", "empty_file", "pipe", "dangling_link", "link_to_a_folder"])
def test_a_folder_of_children_replaces_what_they_put_in_its_place(
    tmp_path: Path, outside: Outside, place: str, made: str
) -> None:
    folder = tmp_path / "scratch" / "host"
    if made != "nothing":
        make(made, tmp_path / place, outside)
    outside.watch()
    untrusted_files.make_folder(folder)
    (folder / "log").touch()
    untrusted_files.make_folder(folder)
    assert os.listdir(folder) == ["log"], "a folder stays"
    outside.assert_untouched()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name == "many_files" else name for name in SHAPES]
)
def test_what_a_lane_made_is_listed(campaign: Path, outside: Outside, name: str) -> None:
    make(name, campaign / "made", outside)
    (campaign / "z").mkdir()
    (campaign / "z" / "last").touch()
    outside.watch()
    listed = {(*way, name) for way, name, _ in untrusted_files.everything_in(campaign, 600.0)}
    assert {("made",), ("z",), ("z", "last")} <= listed
    assert not any(part in ("mine", "tmpa") for way in listed for part in way), "nothing outside is listed"
    outside.assert_untouched()


@pytest.mark.slow
def test_all_of_deep_folders_is_listed(campaign: Path, outside: Outside) -> None:
    make("nested_folders", campaign / "a", outside)
    make("path_beyond_the_limit", campaign / "b", outside)
    listed = [(len(way), name) for way, name, _ in untrusted_files.everything_in(campaign, 600.0)]
    assert sorted(name for depth, name in listed if depth == 41) == ["d", "link", "pipe"]
    assert max(depth for depth, name in listed if name == "d") == 1200
    assert len(listed) == 2 + 1200 + 40 + 2


def test_folders_that_move_while_they_are_listed(tmp_path: Path) -> None:
    """The walk goes on in the next folder that is still there."""
    for path in ("top/a/b/c", "top/a/x", "top/z", "other"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "other" / "mine").touch()
    listed = []
    for way, name, _ in untrusted_files.everything_in(tmp_path / "top", 600.0):
        listed.append("/".join((*way, name)))
        if name == "c":
            (tmp_path / "top" / "a" / "b").rename(tmp_path / "other" / "b")
    assert set(listed) == {"a", "z", "a/b", "a/x", "a/b/c"}


def test_a_listing_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        (tmp_path / str(number)).mkdir()
    assert len(list(untrusted_files.everything_in(tmp_path, 600.0))) == 4
    with pytest.raises(untrusted_files.NotListed, match="it has more than 0 files and folders"):
        list(untrusted_files.everything_in(tmp_path, -1.0))
    monkeypatch.setattr(untrusted_files, "MOST_LISTED", 3)
    with pytest.raises(untrusted_files.NotListed, match="it has more than 3 files and folders"):
        list(untrusted_files.everything_in(tmp_path, 600.0))


@pytest.mark.slow
def test_a_listing_takes_few_descriptors(campaign: Path, outside: Outside) -> None:
    make("nested_folders", campaign / "a", outside)
    before = len(os.listdir("/proc/self/fd"))
    most = max(len(os.listdir("/proc/self/fd")) for _ in untrusted_files.everything_in(campaign, 600.0))
    assert most <= before + 4
    assert len(os.listdir("/proc/self/fd")) == before
