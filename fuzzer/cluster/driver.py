"""Campaigns on a Ray cluster: the driver deals shares, brings together what nodes find, and tells them of it.

Ray places the nodes' actors where there are CPUs and GPUs, and again where a machine was lost; it moves bytes, and no
more is asked of it. All that matters lies in directories: the driver's campaign, and each node's. Whatever dies, the
same command goes on. What moves between nodes and driver is bytes that difftvm packed; but who can reach a Ray cluster
can run code on it (its own documentation says so): it belongs on a private network.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzzer.campaign.merge import bring
from fuzzer.campaign.store import Store
from fuzzer.cluster import deal
from fuzzer.cluster.deal import Deal, Round, shapes_of, the_round
from fuzzer.cluster.harvest import Harvest, Lesson, corpus_of
from fuzzer.isolate.executor import EnvironmentMissing
from fuzzer.report import finding_file
from fuzzer.report.finding_file import FindingDoc

LOCAL = "local"
BEAT_SECONDS = 10.0
"""How often a node is asked what is new; seldomer where the driver has too much to do."""

TRIES = 3
"""A node that ends by itself so often without one more test done is given up."""


@dataclass(frozen=True, slots=True)
class Order:
    """`seconds`, `tests` and `until_new` are of this run, over all nodes; `nodes`: shares, None for one for each node
    that is there; `node_folder`: where nodes keep their campaigns, on their own disks."""

    address: str
    node_folder: Path
    seconds: float | None = None
    tests: int | None = None
    until_new: int | None = None
    nodes: int | None = None
    arguments: tuple[str, ...] = ()
    program: tuple[str, ...] = ()
    beat_seconds: float = BEAT_SECONDS


class Remote:
    """What runs in a Ray actor: a `NodeProcess`, whose words cross the network as bytes."""

    def __init__(self, dealt: Deal, folder: str, given: bytes) -> None:
        from fuzzer.cluster.node import NodeProcess

        self._node = NodeProcess(dealt, Path(folder), Harvest.unpacked(given))

    def harvest(self, lessons: list[Lesson]) -> bytes:
        return self._node.harvest(lessons).packed()

    def stop(self) -> None:
        self._node.stop()


def connected(address: str) -> Any:
    """Ray, in whose cluster we are now. Raises `EnvironmentMissing`."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise EnvironmentMissing("--cluster needs Ray: pip install 'difftvm[cluster]'") from None
    _somebody_listens(address)
    where: dict[str, Any] = {"address": address}
    if address == LOCAL:
        where |= {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    try:
        ray.init(**where, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise EnvironmentMissing(f"no Ray cluster at {address}: {error}") from None
    return ray


def _somebody_listens(address: str) -> None:
    """Ray itself tries for minutes. Addresses that are words ("local", "auto") or URLs are its own matter."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "://" not in address:
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except OSError as error:
            raise EnvironmentMissing(f"no Ray cluster at {address}: {error}") from None


@dataclass(slots=True)
class Driver:
    """`stop` may be called by a signal handler."""

    order: Order
    store: Store
    ray: Any
    tell: Callable[[str], None]
    new: list[FindingDoc] = field(default_factory=list)
    stopping: bool = False
    given_up: set[int] = field(default_factory=set)
    busy_seconds: float = 0.0
    _round: Round = field(init=False)
    _shapes: list[tuple[int, int]] = field(init=False)
    _corpus: Any = field(init=False)
    _actors: dict[int, Any] = field(default_factory=dict)
    _asked: dict[Any, int] = field(default_factory=dict)
    _due: dict[int, float] = field(default_factory=dict)
    _taught: dict[int, set[str]] = field(default_factory=dict)
    _failed: dict[int, tuple[int, int]] = field(default_factory=dict)

    def stop(self) -> None:
        self.stopping = True

    def run(self) -> None:
        there = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
        found = len(shapes_of(there, None))
        self._round = the_round(self.store.folder, self.order.nodes, found, self.order.tests)
        self._shapes = shapes_of(there, self._round.shares)
        self._corpus = self.ray.put(corpus_of(self.store.folder).packed())
        self._save()
        self.tell(f"shares: {self._round.shares}; nodes that are there: {len(there)}; from test {self._round.first}")
        for part in self._open_parts():
            self._start(part)
        began = time.monotonic()
        while not self.stopping and not self._enough(began) and any(True for _ in self._open_parts()):
            self._listen()
            self._ask()
        self._end()

    def _enough(self, began: float) -> bool:
        seconds, until = self.order.seconds, self.order.until_new
        late = seconds is not None and time.monotonic() - began >= seconds
        return late or (until is not None and len(self.new) >= until)

    def _open_parts(self) -> Iterator[int]:
        for part in range(self._round.shares):
            if not self._round.is_done(part) and part not in self.given_up:
                yield part

    # --- nodes

    def _start(self, part: int) -> None:
        cpus, gpus = self._shapes[part]
        first, of = self._round.next_tests[part], self._round.shares
        seed = self.store.state.seed
        dealt = Deal(part, of, seed, first, self._round.end, cpus, self.order.arguments, self.order.program)
        folder = self.order.node_folder / f"node-{part + 1}-of-{of}-from-{self._round.first}"
        remote = self.ray.remote(num_cpus=cpus, num_gpus=gpus)(Remote)
        self._actors[part] = remote.remote(dealt, str(folder), self._corpus)
        self._taught[part] = set()
        self._due[part] = 0.0

    def _lose(self, part: int, why: str) -> None:
        """Deal its share again, from where it was; give it up where nothing comes of that."""
        self.tell(f"node {part + 1}: {why}")
        at, times = self._failed.get(part, (-1, 0))
        times = times + 1 if at == self._round.next_tests[part] else 1
        self._failed[part] = self._round.next_tests[part], times
        self.ray.kill(self._actors.pop(part))
        if times >= TRIES:
            self.given_up.add(part)
            self.tell(f"node {part + 1} is given up: {TRIES} times without one more test")
        else:
            self._start(part)

    # --- what they bring

    def _ask(self) -> None:
        now = time.monotonic()
        waited_for = set(self._asked.values())
        for part, actor in self._actors.items():
            if part not in waited_for and now >= self._due[part]:
                lessons = [
                    Lesson(doc.slug, (self.store.crashes / doc.slug / finding_file.NAME).read_bytes())
                    for doc in self.store.findings.values()
                    if doc.signature not in self._taught[part]
                ]
                self._taught[part] |= set(self.store.findings)
                self._asked[actor.harvest.remote(lessons)] = part

    def _listen(self) -> None:
        """Take what has come. Whoever was heard is asked again in a while: later, where the driver is busy."""
        ready, _ = self.ray.wait(list(self._asked), timeout=0.5) if self._asked else ([], None)
        for answer in ready:
            part, began = self._asked.pop(answer), time.monotonic()
            try:
                harvest = Harvest.unpacked(self.ray.get(answer))
            except self.ray.exceptions.RayError as error:
                self._lose(part, f"lost ({type(error).__name__}); what it sent is kept, its share goes on elsewhere")
                continue
            self._take(part, harvest)
            spent = time.monotonic() - began
            self.busy_seconds += spent
            self._due[part] = time.monotonic() + max(self.order.beat_seconds, 2 * spent * len(self._actors))
            if harvest.exit_code is not None and not self._round.is_done(part):
                self._lose(part, f"ended by itself ({harvest.exit_code}): {_last_line(harvest.log)}")
            elif self._round.is_done(part):
                self.ray.kill(self._actors.pop(part))

    def _take(self, part: int, harvest: Harvest) -> None:
        known = set(self.store.findings)
        if harvest.files:
            small = Path(tempfile.mkdtemp(prefix=f"node-{part + 1}-", dir=self.store.scratch))
            try:
                harvest.write(small)
                bring(small, self.store)
            finally:
                shutil.rmtree(small, ignore_errors=True)
        self._taught[part] |= self.store.findings.keys() - known
        for signature in self.store.findings.keys() - known:
            self.new.append(self.store.findings[signature])
            self.tell(f"node {part + 1} found {self.store.findings[signature].slug}")
        ended = harvest.exit_code is not None
        end = self._round.end
        # a share may be done while its process still ends: it is done when that has ended well
        if harvest.next_test and (end is None or harvest.next_test < end or (ended and harvest.exit_code == 0)):
            self._round.note(part, harvest.next_test)
            self._save()

    def _save(self) -> None:
        deal.write(self.store.folder, self._round)

    def _end(self) -> None:
        """Let all nodes end cleanly, and take what they did last."""
        self._asked.clear()
        answers = {}
        for part, actor in self._actors.items():
            if not self._due[part]:  # nothing was heard of it yet: it waits for a machine, or has just begun
                continue
            actor.stop.remote()
            answers[actor.harvest.remote([])] = part
        while answers:
            ready, rest = self.ray.wait(list(answers), timeout=_PATIENCE)
            for answer in ready:
                part = answers.pop(answer)
                try:
                    self._take(part, Harvest.unpacked(self.ray.get(answer)))
                except self.ray.exceptions.RayError as error:
                    self.tell(f"node {part + 1}: lost at the end ({type(error).__name__}); its directory has the rest")
            if rest and not ready:
                self.tell(f"{len(rest)} nodes do not answer; their directories have what they did last")
                break
        for actor in self._actors.values():
            self.ray.kill(actor)


_PATIENCE = 90.0
"""Seconds for one more node to end: what is under way there ends first."""


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it said nothing"])[-1]
