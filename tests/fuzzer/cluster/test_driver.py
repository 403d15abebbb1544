"""A driver without a cluster: its Ray is made by hand (`fake_ray.py`), and time too; nodes' campaigns are real."""

from __future__ import annotations

import errno
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import simulated_node
from fake_ray import Clock, Ray

from fuzzer.campaign import merge
from fuzzer.campaign.store import Store
from fuzzer.campaign.test_numbers import Share
from fuzzer.cluster import assignment
from fuzzer.cluster import driver as driver_module
from fuzzer.cluster.assignment import Deal
from fuzzer.cluster.collection import Granary, Harvest, Lesson
from fuzzer.cluster.driver import Driver, Order
from fuzzer.findings import finding_file
from fuzzer.lanes import TVM_LANES
from generators.graph import Invalid

pytestmark = pytest.mark.slow

TESTS = 7
"""Of a node in its first instant: as many as show all bugs."""

ALL_BUGS = sum(bug is not None for bug in simulated_node.BUGS)


class Node:
    """What Ray's actor is, without a process: it does its tests at once, and ends if that is all of its share."""

    def __init__(self, dealt: Deal, folder: str, given: bytes) -> None:
        self.dealt, self.folder, self.learnt = dealt, Path(folder), list[str]()
        end = dealt.first + TESTS * dealt.of if dealt.end is None else dealt.end
        simulated_node.run(self.folder, Share(dealt.part, dealt.of, dealt.first, end), dealt.seed)
        self.granary = Granary(self.folder)

    def harvest(self, lessons: list[Lesson], taken: bool) -> bytes:
        if taken:
            self.granary.taken()
        self.learnt += [lesson.slug for lesson in lessons]
        for lesson in lessons:
            self.granary.knows(lesson)
        return Harvest(*self.granary.new(), None if self.dealt.end is None else 0).packed()

    def stop(self) -> None:
        return None


@dataclass
class Scene:
    """A driver in `folder`, its clock, and what it told."""

    folder: Path
    clock: Clock
    told: list[str] = field(default_factory=list)
    free: float = float("inf")

    def ray(self, *machines: int, node: Any = Node, delay: float = 0.0) -> Ray:
        return Ray(self.clock, machines, node, delay)

    def run(self, ray: Ray, campaign: str = "driver", seed: int = 1, **order: Any) -> Driver:
        with Store(self.folder / campaign, seed) as store:
            store.scratch.mkdir()
            store.save_state()
            wanted = Order("fake", self.folder / "nodes", **{"seconds": 30.0, **order})
            self.driver = Driver(wanted, store, ray, self.told.append, free=lambda folder: int(min(self.free, 1e15)))
            self.driver.run()
            return self.driver

    def says(self, words: str) -> int:
        return sum(words in line for line in self.told)


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    clock = Clock()
    monkeypatch.setattr(driver_module, "time", clock)
    return Scene(tmp_path, clock)


def signatures(campaign: Path) -> set[str]:
    return {finding_file.read(path.parent).signature for path in campaign.glob(f"crashes/*/{finding_file.NAME}")}


def only_node(folder: Path) -> Path:
    (node,) = (folder / "nodes").iterdir()
    return node


# --- its rounds


def test_it_ends_when_all_is_done(scene: Scene) -> None:
    driver = scene.run(scene.ray(2, 2), tests=14)
    assert (len(driver.new), driver.given_up) == (ALL_BUGS, set())
    dealt = assignment.read(scene.folder / "driver")
    assert dealt is not None
    assert dealt.done
    assert not any(actor.alive for actor in driver.ray.actors)


def test_it_sleeps_while_nobody_is_asked(scene: Scene) -> None:
    scene.run(scene.ray(1), seconds=120.0)
    assert scene.clock.looks < 10_000


def test_one_line_every_ten_seconds(scene: Scene) -> None:
    scene.run(scene.ray(2, 2), seconds=35.0)
    lines = [line for line in scene.told if "lane results" in line]
    assert len(lines) == 3
    counted = (
        f"14 tests  {14 / 30:.2f}/s  {14 * len(TVM_LANES)} lane results  {ALL_BUGS} new findings, {ALL_BUGS} in all"
    )
    assert lines[-1] == f"30 s  {counted}  2 of 2 nodes heard of"


def test_who_was_not_heard_of_for_a_minute_is_not_counted(scene: Scene) -> None:
    ray = scene.ray(2)
    scene.clock.at[1005.0] = lambda: setattr(ray, "delay", 500.0)
    scene.run(ray, seconds=85.0)
    lines = [line for line in scene.told if "lane results" in line]
    assert ["0 of 1 nodes" in line for line in lines] == [False] * 5 + [True] * 3
    assert scene.says("no answer from node 1;") == 1


# --- nothing is lost on the way


def test_what_is_on_its_way_at_a_stop_is_taken(scene: Scene) -> None:
    class Asked(Node):
        """It brings nothing at first, everything when the driver is about to stop, and dies then."""

        harvests = 0

        def harvest(self, lessons: list[Lesson], taken: bool) -> bytes:
            self.harvests += 1
            if self.harvests == 3:
                raise RuntimeError("it died")
            if self.harvests == 1:
                return Harvest({}, 0).packed()
            scene.driver.stop()
            return super().harvest(lessons, taken)

    scene.run(scene.ray(1, node=Asked, delay=1.0), seconds=None)
    assert signatures(scene.folder / "driver") == signatures(only_node(scene.folder))
    assert scene.says("lost at the end (RayError: RuntimeError: it died") == 1


def test_a_harvest_that_was_not_taken_comes_again(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    full = [OSError(errno.ENOSPC, "No space left on device") for _ in range(3)]

    def bring(source: Path, store: Store) -> object:
        if full:
            raise full.pop()
        return merge.bring(source, store)

    monkeypatch.setattr(driver_module, "bring", bring)
    driver = scene.run(scene.ray(1), tests=TESTS)
    assert not full
    assert (len(driver.new), driver.given_up) == (ALL_BUGS, set())
    assert scene.says("No space left on device") == 3


def test_what_was_taken_comes_only_once(scene: Scene) -> None:
    brought = []

    class Counts(Node):
        def harvest(self, lessons: list[Lesson], taken: bool) -> bytes:
            packed = super().harvest(lessons, taken)
            brought.append(sum(name.endswith(finding_file.NAME) for name in Harvest.unpacked(packed).files))
            return packed

    scene.run(scene.ray(1, node=Counts))
    assert (brought[0], sum(brought), len(brought)) == (ALL_BUGS, ALL_BUGS, 4)


def test_nobody_is_asked_while_there_is_no_room(scene: Scene) -> None:
    ray = scene.ray(1)
    scene.free = 5.0
    scene.clock.at[1050.0] = lambda: setattr(scene, "free", 1e12)
    asked = []

    class Asked(Node):
        def harvest(self, lessons: list[Lesson], taken: bool) -> bytes:
            asked.append(scene.clock.now)
            return super().harvest(lessons, taken)

    ray.make = Asked
    driver = scene.run(ray, tests=TESTS, seconds=None, reserve=10)
    assert min(asked) >= 1050.0
    assert scene.says("waiting for room") == 1
    assert len(driver.new) == ALL_BUGS


# --- what cannot be read


def test_a_damaged_finding_keeps_back_no_other(scene: Scene) -> None:
    class Damaged(Node):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            first = sorted(self.folder.glob(f"crashes/*/{finding_file.NAME}"))[0]
            first.write_text('{"format": 99}')

    driver = scene.run(scene.ray(1, node=Damaged), seconds=60.0)
    assert len(driver.new) == ALL_BUGS - 1
    assert scene.says("not taken, it keeps it in its own directory") == 1


def test_a_node_of_another_version_is_told_of_once(scene: Scene) -> None:
    class Stranger(Node):
        def harvest(self, lessons: list[Lesson], taken: bool) -> bytes:
            return b"what is that" if self.dealt.part else super().harvest(lessons, taken)

    driver = scene.run(scene.ray(1, 1, node=Stranger), seconds=60.0)
    assert scene.says("node 2: not taken") == 1
    assert driver.new, "the other goes on"


def test_what_a_node_cannot_bring_in_the_end_is_given_up(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def bring(source: Path, store: Store) -> object:
        raise Invalid("schema 99 is newer than this version")

    monkeypatch.setattr(driver_module, "bring", bring)
    assert scene.run(scene.ray(1), tests=TESTS, seconds=None).given_up == {0}
    assert scene.says("schema 99") == 1


def test_nobody_learns_of_a_finding_that_was_moved_away(scene: Scene) -> None:
    scene.run(scene.ray(1), tests=TESTS)
    crashes = scene.folder / "driver" / "crashes"
    gone, *others = sorted(path.name for path in crashes.iterdir())
    ray = scene.ray(1)
    scene.clock.at[scene.clock.now] = lambda: shutil.rmtree(crashes / gone)
    scene.run(ray)
    assert sorted(ray.actors[0].node.learnt) == others


# --- whose campaign it is


def test_campaigns_that_share_a_folder_for_nodes_do_not_meet(scene: Scene) -> None:
    one, other = (scene.run(scene.ray(1), name, seed, tests=TESTS) for name, seed in (("a", 1), ("b", 2)))
    assert (len(one.new), len(other.new), other.given_up) == (ALL_BUGS, ALL_BUGS, set())
    names = {path.name for path in (scene.folder / "nodes").iterdir()}
    campaigns = {driver.store.state.campaign[:12] for driver in (one, other)}
    assert names == {f"{campaign}-node-1-of-1-from-0" for campaign in campaigns}


# --- machines


def test_a_share_whose_machine_is_lost_takes_a_smaller_one(scene: Scene) -> None:
    ray = scene.ray(8)

    class Lost(Node):
        def harvest(self, lessons: list[Lesson], taken: bool) -> bytes:
            if self.dealt.workers == 8:
                ray.machines[:] = [2]
                raise RuntimeError("the machine is gone")
            return super().harvest(lessons, taken)

    ray.make = Lost
    driver = scene.run(ray, tests=TESTS, seconds=None)
    assert [actor.node.dealt.workers for actor in ray.actors] == [8, 2]
    assert (len(driver.new), driver.given_up) == (ALL_BUGS, set())
    assert scene.says("RuntimeError: the machine is gone") == 1


def test_a_share_that_waits_is_told_of_and_asked_for_anew(scene: Scene) -> None:
    """Ray says of the machine that it is there, until a while later."""
    ray = scene.ray(8)
    start = ray.make
    ray.make = lambda *dealt: start(*dealt) if ray.machines == [2] else None
    scene.clock.at[1030.0] = lambda: ray.machines.__setitem__(0, 2)
    driver = scene.run(ray, tests=TESTS, seconds=None)
    assert scene.clock.now > 1060
    assert scene.says("node 1 waits for a machine with 8 CPUs and 0 GPUs") == 1
    assert len(driver.new) == ALL_BUGS


def test_who_waits_for_a_machine_is_told_of_once(scene: Scene) -> None:
    driver = scene.run(scene.ray(8, node=lambda *dealt: None), seconds=600.0)
    assert scene.says("waits for a machine") == 1
    assert len(driver.ray.actors) == 1
    assert os.listdir(scene.folder / "driver" / "crashes") == []
