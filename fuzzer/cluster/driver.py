"""Campaigns on a Ray cluster: the driver deals shares, brings together what nodes find, and tells them of it.

All that matters lies in directories: the driver's campaign, and each node's. Whatever dies, the same command goes on.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzzer.campaign.disk_space import RESERVE, Room, free_bytes, is_full
from fuzzer.campaign.gate import Gate
from fuzzer.campaign.merge import bring
from fuzzer.campaign.store import Store
from fuzzer.cluster import assignment
from fuzzer.cluster.assignment import Deal, Round, Shape, fitting, shapes_of, the_round
from fuzzer.cluster.collection import Harvest, Lesson, corpus_of
from fuzzer.cluster.progress import Progress
from fuzzer.cluster.remote import Remote
from fuzzer.findings import finding_file
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.watching.formatting import number_of
from generators.graph import Invalid
from generators.plain_file import read_plain

BEAT_SECONDS = 10.0
"""How often a node is asked what is new; seldomer where the driver has too much to do."""

IDLE_SECONDS = 0.2
"""Between two looks where nobody is asked anything."""

MINUTE = 60.0
"""Of whom nothing is heard for so long waits for a machine, or has gone."""

LAST_SECONDS = 90.0
"""How long to wait for one more node to end: what is under way there ends first."""

TRIES = 3
"""A node that ends by itself so often without one more test done is given up."""


@dataclass(frozen=True, slots=True)
class Order:
    """`seconds`, `tests` and `until_new` are of this run, over all nodes; `nodes`: shares, None for one for each node
    that is there; `node_folder`: where nodes keep their campaigns, on their own disks; `reserve`: bytes that must stay
    free where the driver's is."""

    address: str
    node_folder: Path
    seconds: float | None = None
    tests: int | None = None
    until_new: int | None = None
    nodes: int | None = None
    arguments: tuple[str, ...] = ()
    program: tuple[str, ...] = ()
    beat_seconds: float = BEAT_SECONDS
    reserve: int = RESERVE


@dataclass(slots=True)
class Node:
    """Who has a share now.

    started    when the cluster was asked for it
    heard      when something was heard of it last
    due        when to ask it again
    taught     signatures that it knows
    took       whether the driver has what it brought last
    waits      whether that was told
    """

    actor: Any
    started: float
    heard: float | None = None
    due: float = 0.0
    taught: set[str] = field(default_factory=set)
    took: bool = False
    waits: bool = False


@dataclass(slots=True)
class Driver:
    """`stop` may be called by a signal handler."""

    order: Order
    store: Store
    ray: Any
    tell: Callable[[str], None]
    free: Callable[[Path], int] = free_bytes
    new: list[FindingDoc] = field(default_factory=list)
    stopping: bool = False
    given_up: set[int] = field(default_factory=set)
    _round: Round = field(init=False)
    _shapes: list[Shape] = field(init=False)
    _corpus: Any = field(init=False)
    _room: Room = field(init=False)
    _nodes: dict[int, Node] = field(default_factory=dict)
    _asked: dict[Any, int] = field(default_factory=dict)
    _failed: dict[int, tuple[int, int]] = field(default_factory=dict)
    _complained: set[int] = field(default_factory=set)

    def stop(self) -> None:
        self.stopping = True

    def run(self) -> None:
        there = self._there()
        found = len(shapes_of(there, None))
        self._round = the_round(self.store.folder, self.order.nodes, found, self.order.tests)
        self._shapes = shapes_of(there, self._round.shares)
        self._corpus = self.ray.put(corpus_of(self.store.folder).packed())
        self._room = Room(self.store.folder, Gate(), self.tell, reserve=self.order.reserve, free=self.free)
        self._save()
        self.tell(f"shares: {self._round.shares}; nodes that are there: {len(there)}; from test {self._round.first}")
        for part in self._open_parts():
            self._start(part)
        progress = Progress(self.store, time.monotonic())
        while not self.stopping and not self._enough(progress.began) and any(True for _ in self._open_parts()):
            self._listen()
            self._ask_all()
            self._look_after_those_who_wait()
            self._show(progress)
        self._end()

    def _enough(self, began: float) -> bool:
        seconds, until = self.order.seconds, self.order.until_new
        late = seconds is not None and time.monotonic() - began >= seconds
        return late or (until is not None and len(self.new) >= until)

    def _open_parts(self) -> Iterator[int]:
        for part in range(self._round.shares):
            if not self._round.is_done(part) and part not in self.given_up:
                yield part

    def _show(self, progress: Progress) -> None:
        now = time.monotonic()
        heard = sum(node.heard is not None and now - node.heard < MINUTE for node in self._nodes.values())
        if line := progress.line(now, len(self.new), heard, len(self._nodes)):
            self.tell(line)

    # --- nodes

    def _there(self) -> list[dict[str, float]]:
        return [node["Resources"] for node in self.ray.nodes() if node["Alive"]]

    def _start(self, part: int) -> None:
        cpus, gpus = self._shapes[part]
        first, of = self._round.next_tests[part], self._round.shares
        mine = self.store.state
        dealt = Deal(part, of, mine.seed, first, self._round.end, cpus, self.order.arguments, self.order.program)
        # other campaigns may use the same folder
        folder = self.order.node_folder / f"{mine.campaign[:12]}-node-{part + 1}-of-{of}-from-{self._round.first}"
        remote = self.ray.remote(num_cpus=cpus, num_gpus=gpus)(Remote)
        actor = remote.remote(dealt, str(folder), self._corpus)
        self._nodes[part] = Node(actor, time.monotonic())

    def _lose(self, part: int, why: str) -> None:
        """Deal its share again, from where it was; give it up where nothing comes of that."""
        self.tell(f"node {part + 1}: {why}")
        at, times = self._failed.get(part, (-1, 0))
        times = times + 1 if at == self._round.next_tests[part] else 1
        self._failed[part] = self._round.next_tests[part], times
        self._dismiss(part)
        if times >= TRIES:
            self.given_up.add(part)
            self.tell(f"node {part + 1} is given up: {TRIES} times without one more test")
        else:
            self._shapes[part] = fitting(self._shapes[part], self._there())
            self._start(part)

    def _dismiss(self, part: int) -> None:
        self.ray.kill(self._nodes.pop(part).actor)

    def _look_after_those_who_wait(self) -> None:
        """A share that waits for a machine is asked for anew, where none can hold it any more: Ray tells of a machine's
        end before it takes it from its list."""
        late = time.monotonic() - MINUTE
        for answer, part in list(self._asked.items()):
            node, shape = self._nodes[part], self._shapes[part]
            if node.heard is not None or node.waits or node.started > late:
                continue
            node.waits = True
            self.tell(
                f"node {part + 1} waits for a machine with {number_of(shape[0], 'CPU')} and "
                f"{number_of(shape[1], 'GPU')}, or is slow to start"
            )
            self._shapes[part] = fitting(shape, self._there())
            if self._shapes[part] != shape:
                del self._asked[answer]
                self._dismiss(part)
                self._start(part)

    # --- what they bring

    def _ask_all(self) -> None:
        """All that are due, while there is room for what they bring."""
        now, waited_for = time.monotonic(), set(self._asked.values())
        due = [part for part, node in self._nodes.items() if part not in waited_for and now >= node.due]
        if due and self._room.look():
            for part in due:
                self._ask(part, list(self._lessons(self._nodes[part])))

    def _ask(self, part: int, lessons: list[Lesson]) -> None:
        node = self._nodes[part]
        self._asked[node.actor.harvest.remote(lessons, node.took)] = part
        node.took = False

    def _lessons(self, node: Node) -> Iterator[Lesson]:
        for doc in self.store.findings.values():
            if doc.signature not in node.taught:
                with suppress(OSError):  # somebody moved it away: then nobody learns of it
                    yield Lesson(doc.slug, read_plain(self.store.crashes / doc.slug / finding_file.NAME))
        node.taught |= set(self.store.findings)

    def _listen(self) -> None:
        """Take what has come, and see to those who ended."""
        if not self._asked:
            time.sleep(IDLE_SECONDS)
            return
        ready, _ = self.ray.wait(list(self._asked), timeout=0.5)
        for answer in ready:
            part = self._asked.pop(answer)
            try:
                harvest = self._heard(part, answer)
            except self.ray.exceptions.RayError as error:
                self._lose(part, f"lost ({_in_a_line(error)}); what it sent is kept, its share goes on elsewhere")
                continue
            if self._round.is_done(part):
                self._dismiss(part)
            elif harvest is not None and harvest.exit_code is not None:
                self._lose(part, f"ended by itself ({harvest.exit_code}): {_last_line(harvest.log)}")

    def _heard(self, part: int, answer: Any) -> Harvest | None:
        """What a node brought; it is asked again in a while, later where the driver is busy. None where there was no
        room for it: the node brings it again. What cannot be read stays in the node's own directory."""
        packed = self.ray.get(answer)  # what a node raises is not caught below
        node, harvest, began = self._nodes[part], None, time.monotonic()
        try:
            harvest = Harvest.unpacked(packed)
            self._take(part, harvest)
            node.took = True
        except (Invalid, OSError) as error:
            if isinstance(error, OSError) and is_full(error):
                self._room.ran_out(str(error))
                harvest = None
            else:
                self._complain(part, error)
        now = time.monotonic()
        node.heard, node.due = now, now + max(self.order.beat_seconds, 2 * (now - began) * len(self._nodes))
        return harvest

    def _complain(self, part: int, error: Exception) -> None:
        """Once of each node."""
        if part not in self._complained:
            self._complained.add(part)
            self.tell(f"node {part + 1}: not taken, it keeps it in its own directory: {error}")

    def _take(self, part: int, harvest: Harvest) -> None:
        """Raises `Invalid` and OSError; the findings that came before that are taken."""
        known = set(self.store.findings)
        try:
            if harvest.files:
                self._bring(part, harvest)
        finally:
            fresh = self.store.findings.keys() - known
            self._nodes[part].taught |= fresh
            for signature in fresh:
                self.new.append(self.store.findings[signature])
                self.tell(f"node {part + 1} found {self.store.findings[signature].slug}")
        ended, end = harvest.exit_code is not None, self._round.end
        # a share may be done while its process still ends: it is done when that has ended well
        if harvest.next_test and (end is None or harvest.next_test < end or (ended and harvest.exit_code == 0)):
            self._round.note(part, harvest.next_test)
            self._save()

    def _bring(self, part: int, harvest: Harvest) -> None:
        small = Path(tempfile.mkdtemp(prefix=f"node-{part + 1}-", dir=self.store.scratch))
        try:
            harvest.write(small)
            self._leave_out_what_is_damaged(part, small)
            bring(small, self.store)
        finally:
            shutil.rmtree(small, ignore_errors=True)

    def _leave_out_what_is_damaged(self, part: int, small: Path) -> None:
        """Else one finding would keep from the driver all that come behind it."""
        for path in list(small.glob(f"crashes/*/{finding_file.NAME}")):
            try:
                finding_file.read(path.parent)
            except Invalid as error:
                self._complain(part, error)
                shutil.rmtree(path.parent)

    def _save(self) -> None:
        assignment.write(self.store.folder, self._round)

    # --- the end

    def _end(self) -> None:
        """Let all nodes end cleanly; take what is on its way, and what they did last."""
        for part, node in list(self._nodes.items()):
            if node.heard is None:  # it waits for a machine, or has just begun
                self._dismiss(part)
            else:
                node.actor.stop.remote()
        self._asked = {answer: part for answer, part in self._asked.items() if part in self._nodes}
        self._take_what_was_asked()
        for part in self._nodes:
            self._ask(part, [])
        self._take_what_was_asked()
        for part in list(self._nodes):
            self._dismiss(part)

    def _take_what_was_asked(self) -> None:
        while self._asked:
            ready, _ = self.ray.wait(list(self._asked), timeout=LAST_SECONDS)
            for answer in ready:
                part = self._asked.pop(answer)
                try:
                    self._heard(part, answer)
                except self.ray.exceptions.RayError as error:
                    self.tell(f"node {part + 1}: lost at the end ({_in_a_line(error)}); its directory has the rest")
                    self._dismiss(part)
            if not ready:
                silent = ", ".join(f"node {part + 1}" for part in sorted(self._asked.values()))
                self.tell(f"no answer from {silent}; what was done last is in the directory there")
                for part in self._asked.values():
                    self._dismiss(part)
                self._asked.clear()


def _in_a_line(error: Exception) -> str:
    return f"{type(error).__name__}: {_last_line(str(error))}"


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it said nothing"])[-1].strip()
