"""The driver of campaigns on a Ray cluster. It assigns shares to nodes, merges what they find, and sends each finding
to the other nodes.

All state is in directories: the driver's campaign, and the campaign of each node. After any process has died, the same
command continues.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzzer.campaign.plan.settings import RunLimits
from fuzzer.campaign.run.merge import bring
from fuzzer.campaign.store.disk_space import DiskSpace
from fuzzer.campaign.store.layout import WAITING
from fuzzer.campaign.store.pause_switch import PauseSwitch
from fuzzer.campaign.store.store import Store
from fuzzer.cluster import assignment
from fuzzer.cluster.assignment import Assignment, Round, Shape, current_round, fitting, shapes_of
from fuzzer.cluster.collection import KnownFinding, Update, corpus_of
from fuzzer.cluster.progress import Progress
from fuzzer.cluster.remote import NodeActor
from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.system import untrusted_files
from fuzzer.system.files import remove_folder
from fuzzer.system.free_space import RESERVE, free_bytes
from fuzzer.system.storage_errors import is_full
from fuzzer.watching.formatting import number_of
from generators.graph import Invalid
from generators.plain_file import read_plain

POLL_SECONDS = 10.0
"""How often a node is asked for an update; less often where the driver is busy."""

IDLE_SECONDS = 0.2
"""Between two rounds of the loop in which no node has a request."""

SILENT_SECONDS = 60.0
"""A node without an answer for so long waits for a machine, or has died."""

LAST_SECONDS = 90.0
"""How long to wait at the end for each next node: it first finishes its running tests."""

TRIES = 3
"""After this many failures without a new test in between, a share is given up."""


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """What the user requested of this run.

    node_folder  where nodes keep their campaigns, on their own disks
    limits       when the run ends, counted over all nodes
    nodes        the number of shares; None means one for each node of the cluster
    arguments    options of `fuzz run` that every node gets (`Assignment`)
    reserve      bytes that must stay free on the driver's disk
    """

    address: str
    node_folder: Path
    limits: RunLimits
    nodes: int | None = None
    arguments: tuple[str, ...] = ()
    program: tuple[str, ...] = ()
    poll_seconds: float = POLL_SECONDS
    reserve: int = RESERVE


@dataclass(slots=True)
class Node:
    """The node that runs a share.

    started        when the cluster was asked for it
    heard          when its last answer came
    due            when to ask it for the next update
    sent           signatures of the findings that it has or was sent
    acknowledged   whether the driver has stored its last update
    waiting        the names of the sightings that wait for triage there, and in the driver's campaign too
    wait_printed   whether the message was printed that it waits for a machine
    """

    actor: Any
    started: float
    heard: float | None = None
    due: float = 0.0
    sent: set[str] = field(default_factory=set)
    acknowledged: bool = False
    waiting: frozenset[str] = frozenset()
    wait_printed: bool = False


@dataclass(slots=True)
class Driver:
    """Runs one command. `stop` may be called by a signal handler. `tell` gets each line for the user.

    new        findings of this run
    given_up   shares that failed too often
    """

    options: ClusterOptions
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
    _disk_space: DiskSpace = field(init=False)
    _nodes: dict[int, Node] = field(default_factory=dict)
    _requests: dict[Any, int] = field(default_factory=dict)
    _failures: dict[int, tuple[int, int]] = field(default_factory=dict)
    _complained: set[int] = field(default_factory=set)

    def stop(self) -> None:
        self.stopping = True

    def run(self) -> None:
        """Run until the round is done, the requested end is reached, or `stop` was called."""
        nodes = self._cluster_nodes()
        count = len(shapes_of(nodes, None))
        self._round = current_round(self.store.folder, self.options.nodes, count, self.options.limits.tests)
        self._shapes = shapes_of(nodes, self._round.shares)
        self._corpus = self.ray.put(corpus_of(self.store.folder).packed())
        self._disk_space = DiskSpace(
            self.store.folder, PauseSwitch(), self.tell, reserve=self.options.reserve, free=self.free
        )
        self._save()
        self.tell(f"shares: {self._round.shares}; nodes in the cluster: {len(nodes)}; first test: {self._round.first}")
        for part in self._open_parts():
            self._start(part)
        progress = Progress(self.store, time.monotonic())
        while not self.stopping and not self._is_finished(progress.began) and any(True for _ in self._open_parts()):
            self._receive()
            self._request_updates()
            self._restart_waiting_nodes()
            self._print_progress(progress)
        self._shut_down()

    def _is_finished(self, began: float) -> bool:
        seconds, until = self.options.limits.seconds, self.options.limits.new_findings
        late = seconds is not None and time.monotonic() - began >= seconds
        return late or (until is not None and len(self.new) >= until)

    def _open_parts(self) -> Iterator[int]:
        for part in range(self._round.shares):
            if not self._round.is_done(part) and part not in self.given_up:
                yield part

    def _print_progress(self, progress: Progress) -> None:
        now = time.monotonic()
        heard = sum(node.heard is not None and now - node.heard < SILENT_SECONDS for node in self._nodes.values())
        if line := progress.line(now, len(self.new), heard, len(self._nodes)):
            self.tell(line)

    # --- nodes

    def _cluster_nodes(self) -> list[dict[str, float]]:
        """The resources of each node that is alive."""
        return [node["Resources"] for node in self.ray.nodes() if node["Alive"]]

    def _start(self, part: int) -> None:
        cpus, gpus = self._shapes[part]
        first, of = self._round.next_tests[part], self._round.shares
        campaign, seed = self.store.state.campaign, self.store.state.seed
        share = Assignment(part, of, seed, first, self._round.end, cpus, self.options.arguments, self.options.program)
        # the name of the campaign, because other campaigns may use the same folder
        folder = self.options.node_folder / f"{campaign[:12]}-node-{part + 1}-of-{of}-from-{self._round.first}"
        remote = self.ray.remote(num_cpus=cpus, num_gpus=gpus)(NodeActor)
        actor = remote.remote(share, str(folder), self._corpus)
        self._nodes[part] = Node(actor, time.monotonic())

    def _restart(self, part: int, why: str) -> None:
        """Start another node for a share whose node failed, or give the share up after too many failures."""
        self.tell(f"node {part + 1}: {why}")
        next_test = self._round.next_tests[part]
        failed_at, times = self._failures.get(part, (-1, 0))
        times = times + 1 if failed_at == next_test else 1
        self._failures[part] = next_test, times
        self._kill(part)
        if times >= TRIES:
            self.given_up.add(part)
            self.tell(f"node {part + 1} is given up: it failed {TRIES} times without one more test")
        else:
            self._shapes[part] = fitting(self._shapes[part], self._cluster_nodes())
            self._start(part)

    def _kill(self, part: int) -> None:
        self.ray.kill(self._nodes.pop(part).actor)

    def _restart_waiting_nodes(self) -> None:
        """Print a message about each share that waits for a machine. Start it with fewer CPUs and GPUs where no machine
        is large enough any more: Ray reports the death of a machine before it removes the machine from its list."""
        late = time.monotonic() - SILENT_SECONDS
        for request, part in list(self._requests.items()):
            node, shape = self._nodes[part], self._shapes[part]
            if node.heard is not None or node.wait_printed or node.started > late:
                continue
            node.wait_printed = True
            self.tell(
                f"node {part + 1} waits for a machine with {number_of(shape[0], 'CPU')} and "
                f"{number_of(shape[1], 'GPU')}, or is slow to start"
            )
            self._shapes[part] = fitting(shape, self._cluster_nodes())
            if self._shapes[part] != shape:
                del self._requests[request]
                self._kill(part)
                self._start(part)

    # --- updates

    def _request_updates(self) -> None:
        """Ask each node whose time has come for an update, while the disk has space for the updates."""
        now, waiting = time.monotonic(), set(self._requests.values())
        due = [part for part, node in self._nodes.items() if part not in waiting and now >= node.due]
        if due and self._disk_space.look():
            for part in due:
                self._request(part, list(self._unsent_findings(self._nodes[part])))

    def _request(self, part: int, findings: list[KnownFinding]) -> None:
        node = self._nodes[part]
        self._requests[node.actor.collect.remote(findings, node.acknowledged)] = part
        node.acknowledged = False

    def _unsent_findings(self, node: Node) -> Iterator[KnownFinding]:
        for doc in self.store.findings.values():
            if doc.signature not in node.sent:
                with suppress(OSError):  # the user may have moved it away; then no node gets it
                    yield KnownFinding(doc.slug, read_plain(self.store.crashes / doc.slug / finding_file.NAME))
        node.sent |= set(self.store.findings)

    def _receive(self) -> None:
        """Store the updates that have come, and replace nodes that ended."""
        if not self._requests:
            time.sleep(IDLE_SECONDS)
            return
        ready, _ = self.ray.wait(list(self._requests), timeout=0.5)
        for request in ready:
            part = self._requests.pop(request)
            try:
                update = self._answer(part, request)
            except self.ray.exceptions.RayError as error:
                self._restart(
                    part, f"lost ({_in_a_line(error)}); its updates are kept, another node continues its share"
                )
                continue
            if self._round.is_done(part):
                self._kill(part)
            elif update is not None and update.exit_code is not None:
                self._restart(part, f"its process ended with {update.exit_code}: {_last_line(update.log)}")

    def _answer(self, part: int, request: Any) -> Update | None:
        """Store the update that answers a request, and schedule the next request, later where the driver is busy.

        Return None where the update cannot be read, or where the disk is full: the node sends it again. What cannot be
        read stays in the node's own directory."""
        packed = self.ray.get(request)  # outside of the try: exceptions of the node are the caller's
        node, update, began = self._nodes[part], None, time.monotonic()
        try:
            update = Update.unpacked(packed)
            self._store_update(part, update)
            node.acknowledged = True
        except (Invalid, OSError) as error:
            if isinstance(error, OSError) and is_full(error):
                self._disk_space.failed(error)
                update = None
            else:
                self._complain(part, error)
        now = time.monotonic()
        node.heard, node.due = now, now + max(self.options.poll_seconds, 2 * (now - began) * len(self._nodes))
        return update

    def _complain(self, part: int, error: Exception) -> None:
        """Print that something was not stored, once for each node."""
        if part not in self._complained:
            self._complained.add(part)
            self.tell(f"node {part + 1}: not stored here, it stays in the node's own directory: {error}")

    def _store_update(self, part: int, update: Update) -> None:
        """Raise `Invalid` or OSError where a part cannot be stored; findings before that part are stored."""
        known = set(self.store.findings)
        try:
            if update.files:
                self._merge(part, update)
        finally:
            fresh = self.store.findings.keys() - known
            self._nodes[part].sent |= fresh
            for signature in fresh:
                self.new.append(self.store.findings[signature])
                self.tell(f"node {part + 1} found {self.store.findings[signature].slug}")
        ended, end = update.exit_code is not None, self._round.end
        # a share whose tests are all done counts as done when its process has ended without an error
        if update.next_test and (end is None or update.next_test < end or (ended and update.exit_code == 0)):
            self._round.advance(part, update.next_test)
            self._save()

    def _merge(self, part: int, update: Update) -> None:
        small = untrusted_files.new_folder(untrusted_files.real(self.store.scratch))
        try:
            update.write(small)
            self._remove_damaged_findings(part, small)
            bring(small, self.store)
            self._remove_investigated(part, frozenset(update.waiting))
        finally:
            untrusted_files.remove(small)

    def _remove_investigated(self, part: int, waiting: frozenset[str]) -> None:
        """Remove sightings that wait on the node no longer: it has saved its findings of them, or counted them."""
        before, self._nodes[part].waiting = self._nodes[part].waiting, waiting
        elsewhere = {name for node in self._nodes.values() for name in node.waiting}
        for name in before - elsewhere:
            with suppress(FileNotFoundError):
                remove_folder(self.store.folder / WAITING / name)

    def _remove_damaged_findings(self, part: int, small: Path) -> None:
        """Remove findings that cannot be read from an update: one of them would stop all findings after it."""
        for path in list(small.glob(f"crashes/*/{finding_file.NAME}")):
            try:
                finding_file.read(path.parent)
            except Invalid as error:
                self._complain(part, error)
                untrusted_files.remove(path.parent)

    def _save(self) -> None:
        assignment.write(self.store.folder, self._round)

    # --- the end

    def _shut_down(self) -> None:
        """Let all nodes end cleanly, and store their outstanding and last updates."""
        for part, node in list(self._nodes.items()):
            if node.heard is None:  # it waits for a machine, or has just begun
                self._kill(part)
            else:
                node.actor.stop.remote()
        self._requests = {request: part for request, part in self._requests.items() if part in self._nodes}
        self._receive_all()
        for part in self._nodes:
            self._request(part, [])
        self._receive_all()
        for part in list(self._nodes):
            self._kill(part)

    def _receive_all(self) -> None:
        """Store the answers to all requests; kill nodes that do not answer."""
        while self._requests:
            ready, _ = self.ray.wait(list(self._requests), timeout=LAST_SECONDS)
            for request in ready:
                part = self._requests.pop(request)
                try:
                    self._answer(part, request)
                except self.ray.exceptions.RayError as error:
                    self.tell(f"node {part + 1}: lost at the end ({_in_a_line(error)}); its directory has the rest")
                    self._kill(part)
            if not ready:
                silent = ", ".join(f"node {part + 1}" for part in sorted(self._requests.values()))
                self.tell(f"no answer from {silent}; the last tests are in the directory there")
                for part in self._requests.values():
                    self._kill(part)
                self._requests.clear()


def _in_a_line(error: Exception) -> str:
    return f"{type(error).__name__}: {_last_line(str(error))}"


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1].strip()
