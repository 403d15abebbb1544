"""A driver without a cluster: Ray and the clock are simulated (`fake_ray.py`); the campaigns of nodes are real."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import simulated_node
from fake_ray import Clock, Ray

from fuzzer.campaign.plan.settings import RunLimits
from fuzzer.campaign.plan.test_numbers import Share
from fuzzer.campaign.run import merge
from fuzzer.campaign.store.layout import WAITING
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.triage.waiting import Queue
from fuzzer.cluster import assignment
from fuzzer.cluster import driver as driver_module
from fuzzer.cluster.assignment import Assignment
from fuzzer.cluster.collection import Collector, KnownFinding, Update
from fuzzer.cluster.driver import ClusterOptions, Driver
from fuzzer.findings import finding_file
from fuzzer.lanes import TVM_LANES
from fuzzer.triage.investigate import Investigated, Sighting
from generators.graph import Invalid

pytestmark = pytest.mark.slow

TESTS = 7
"""A node runs `TESTS` tests at once, which show all bugs."""

ALL_BUGS = sum(bug is not None for bug in simulated_node.BUGS)


class Node:
    """A node without a process: it runs its tests at once, and has ended where these are its whole share."""

    def __init__(self, share: Assignment, folder: str, seed_cases: bytes) -> None:
        self.share, self.folder, self.received = share, Path(folder), list[str]()
        end = share.first + TESTS * share.of if share.end is None else share.end
        simulated_node.run(self.folder, Share(share.part, share.of, share.first, end), share.seed)
        self.collector = Collector(self.folder)

    def collect(self, findings: list[KnownFinding], acknowledged: bool) -> bytes:
        if acknowledged:
            self.collector.acknowledge()
        self.received += [finding.slug for finding in findings]
        for finding in findings:
            self.collector.skip(finding)
        files, next_test = self.collector.collect()
        ended = None if self.share.end is None else 0
        return Update(files, next_test, ended, waiting=self.collector.waiting).packed()

    def stop(self) -> None:
        return None


@dataclass
class Scene:
    """A driver in `folder`, its clock, and the lines that it printed."""

    folder: Path
    clock: Clock
    lines: list[str] = field(default_factory=list)
    free: float = float("inf")

    def ray(self, *machines: int, node: Any = Node, delay: float = 0.0) -> Ray:
        return Ray(self.clock, machines, node, delay)

    def run(
        self,
        ray: Ray,
        campaign: str = "driver",
        seed: int = 1,
        *,
        seconds: float | None = 30.0,
        tests: int | None = None,
        **order: Any,
    ) -> Driver:
        with Store(self.folder / campaign, seed) as store:
            store.scratch.mkdir()
            store.save_state()
            options = ClusterOptions("fake", self.folder / "nodes", RunLimits(seconds, tests), **order)
            self.driver = Driver(options, store, ray, self.lines.append, free=lambda folder: int(min(self.free, 1e15)))
            self.driver.run()
            return self.driver

    def printed(self, words: str) -> int:
        return sum(words in line for line in self.lines)


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


# --- one run


def test_it_ends_when_all_is_done(scene: Scene) -> None:
    driver = scene.run(scene.ray(2, 2), tests=14)
    assert (len(driver.new), driver.given_up) == (ALL_BUGS, set())
    stored = assignment.read(scene.folder / "driver")
    assert stored is not None
    assert stored.done
    assert not any(actor.alive for actor in driver.ray.actors)


def test_the_driver_sleeps_while_no_request_is_open(scene: Scene) -> None:
    scene.run(scene.ray(1), seconds=120.0)
    assert scene.clock.looks < 10_000


def test_one_line_every_ten_seconds(scene: Scene) -> None:
    scene.run(scene.ray(2, 2), seconds=35.0)
    lines = [line for line in scene.lines if "lane results" in line]
    assert len(lines) == 3
    counted = f"14 tests  {14 / 30:.2f}/s  {14 * len(TVM_LANES)} lane results  {ALL_BUGS} new findings"
    assert lines[-1] == f"30 s  {counted}  2 of 2 nodes answered"


def test_a_node_that_did_not_answer_for_a_minute_is_not_counted(scene: Scene) -> None:
    ray = scene.ray(2)
    scene.clock.at[1005.0] = lambda: setattr(ray, "delay", 500.0)
    scene.run(ray, seconds=85.0)
    lines = [line for line in scene.lines if "lane results" in line]
    assert ["0 of 1 nodes" in line for line in lines] == [False] * 5 + [True] * 3
    assert scene.printed("no answer from node 1;") == 1


# --- nothing is lost on the way


def test_an_update_on_its_way_is_stored_at_a_stop(scene: Scene) -> None:
    class Asked(Node):
        """It sends nothing at first, then everything while the driver stops, and then dies."""

        updates = 0

        def collect(self, findings: list[KnownFinding], acknowledged: bool) -> bytes:
            self.updates += 1
            if self.updates == 3:
                raise RuntimeError("it died")
            if self.updates == 1:
                return Update({}, 0).packed()
            scene.driver.stop()
            return super().collect(findings, acknowledged)

    scene.run(scene.ray(1, node=Asked, delay=1.0), seconds=None)
    assert signatures(scene.folder / "driver") == signatures(only_node(scene.folder))
    assert scene.printed("lost at the end (RayError: RuntimeError: it died") == 1


def test_an_update_that_was_not_stored_is_sent_again(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    full = [OSError(errno.ENOSPC, "No space left on device") for _ in range(3)]

    def bring(source: Path, store: Store) -> object:
        if full:
            raise full.pop()
        return merge.bring(source, store)

    monkeypatch.setattr(driver_module, "bring", bring)
    driver = scene.run(scene.ray(1), tests=TESTS)
    assert not full
    assert (len(driver.new), driver.given_up) == (ALL_BUGS, set())
    assert scene.printed("No space left on device") == 3


def test_a_finding_that_was_stored_is_not_sent_again(scene: Scene) -> None:
    brought = []

    class Counts(Node):
        def collect(self, findings: list[KnownFinding], acknowledged: bool) -> bytes:
            packed = super().collect(findings, acknowledged)
            brought.append(sum(name.endswith(finding_file.NAME) for name in Update.unpacked(packed).files))
            return packed

    scene.run(scene.ray(1, node=Counts))
    assert (brought[0], sum(brought), len(brought)) == (ALL_BUGS, ALL_BUGS, 4)


def test_sightings_wait_in_the_drivers_campaign_until_the_node_has_investigated_them(
    scene: Scene, make: Callable[..., tuple[Investigated, Sighting]]
) -> None:
    found, sighting = make()
    waiting: list[int] = []

    class Investigating(Node):
        """Its sighting waits for three updates."""

        def collect(self, findings: list[KnownFinding], acknowledged: bool) -> bytes:
            if not waiting:
                Queue(self.folder).add(found.case, sighting, {"tvm": "0.27.0"})
            waiting.append(len(Queue(scene.folder / "driver")))
            if len(waiting) == 4:
                shutil.rmtree(self.folder / WAITING)
            return super().collect(findings, acknowledged)

    scene.run(scene.ray(1, node=Investigating), seconds=65.0)
    assert waiting[:6] == [0, 1, 1, 1, 0, 0]


def test_no_node_sends_updates_while_the_disk_is_full(scene: Scene) -> None:
    ray = scene.ray(1)
    scene.free = 5.0
    scene.clock.at[1050.0] = lambda: setattr(scene, "free", 1e12)
    requests = []

    class RecordingNode(Node):
        def collect(self, findings: list[KnownFinding], acknowledged: bool) -> bytes:
            requests.append(scene.clock.now)
            return super().collect(findings, acknowledged)

    ray.make = RecordingNode
    driver = scene.run(ray, tests=TESTS, seconds=None, reserve=10)
    assert min(requests) >= 1050.0
    assert scene.printed("waiting for free space") == 1
    assert len(driver.new) == ALL_BUGS


# --- what cannot be read


def test_a_damaged_finding_does_not_hold_back_others(scene: Scene) -> None:
    class Damaged(Node):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            first = sorted(self.folder.glob(f"crashes/*/{finding_file.NAME}"))[0]
            first.write_text('{"format": 99}')

    driver = scene.run(scene.ray(1, node=Damaged), seconds=60.0)
    assert len(driver.new) == ALL_BUGS - 1
    assert scene.printed("not stored here, it stays in the node's own directory") == 1


def test_a_node_of_another_version_is_reported_once(scene: Scene) -> None:
    class Stranger(Node):
        def collect(self, findings: list[KnownFinding], acknowledged: bool) -> bytes:
            return b"what is that" if self.share.part else super().collect(findings, acknowledged)

    driver = scene.run(scene.ray(1, 1, node=Stranger), seconds=60.0)
    assert scene.printed("node 2: not stored here") == 1
    assert driver.new, "the other goes on"


def test_a_share_whose_update_can_never_be_stored_is_given_up(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def bring(source: Path, store: Store) -> object:
        raise Invalid("schema 99 is newer than this version")

    monkeypatch.setattr(driver_module, "bring", bring)
    assert scene.run(scene.ray(1), tests=TESTS, seconds=None).given_up == {0}
    assert scene.printed("schema 99") == 1


def test_a_finding_that_was_moved_away_is_not_sent_to_nodes(scene: Scene) -> None:
    scene.run(scene.ray(1), tests=TESTS)
    crashes = scene.folder / "driver" / "crashes"
    gone, *others = sorted(path.name for path in crashes.iterdir())
    ray = scene.ray(1)
    scene.clock.at[scene.clock.now] = lambda: shutil.rmtree(crashes / gone)
    scene.run(ray)
    assert sorted(ray.actors[0].node.received) == others


# --- several campaigns


def test_campaigns_with_one_node_folder_stay_apart(scene: Scene) -> None:
    one, other = (scene.run(scene.ray(1), name, seed, tests=TESTS) for name, seed in (("a", 1), ("b", 2)))
    assert (len(one.new), len(other.new), other.given_up) == (ALL_BUGS, ALL_BUGS, set())
    names = {path.name for path in (scene.folder / "nodes").iterdir()}
    campaigns = {driver.store.state.campaign[:12] for driver in (one, other)}
    assert names == {f"{campaign}-node-1-of-1-from-0" for campaign in campaigns}


# --- machines


def test_a_share_whose_machine_is_lost_runs_on_a_smaller_one(scene: Scene) -> None:
    ray = scene.ray(8)

    class Lost(Node):
        def collect(self, findings: list[KnownFinding], acknowledged: bool) -> bytes:
            if self.share.workers == 8:
                ray.machines[:] = [2]
                raise RuntimeError("the machine is gone")
            return super().collect(findings, acknowledged)

    ray.make = Lost
    driver = scene.run(ray, tests=TESTS, seconds=None)
    assert [actor.node.share.workers for actor in ray.actors] == [8, 2]
    assert (len(driver.new), driver.given_up) == (ALL_BUGS, set())
    assert scene.printed("RuntimeError: the machine is gone") == 1


def test_a_share_that_waits_is_reported_and_started_again(scene: Scene) -> None:
    """Ray still lists the dead machine for a while."""
    ray = scene.ray(8)
    start = ray.make
    ray.make = lambda *arguments: start(*arguments) if ray.machines == [2] else None
    scene.clock.at[1030.0] = lambda: ray.machines.__setitem__(0, 2)
    driver = scene.run(ray, tests=TESTS, seconds=None)
    assert scene.clock.now > 1060
    assert scene.printed("node 1 waits for a machine with 8 CPUs and 0 GPUs") == 1
    assert len(driver.new) == ALL_BUGS


def test_a_node_that_waits_for_a_machine_is_reported_once(scene: Scene) -> None:
    driver = scene.run(scene.ray(8, node=lambda *arguments: None), seconds=600.0)
    assert scene.printed("waits for a machine") == 1
    assert len(driver.ray.actors) == 1
    assert os.listdir(scene.folder / "driver" / "crashes") == []
