"""The queue of triage: sightings that wait to be investigated. Thread-safe.

Each sighting is a folder of `waiting/` (`waiting_item.py`). The folder is written before its test counts
as finished, and is deleted after its investigation was saved. A process that is killed at any moment loses no sighting:
the next run finds the folder, or repeats the test. A sighting whose investigation failed too often is moved to
`parked/`. One whose folder the user removes is forgotten.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from fuzzer.campaign.store.layout import ASIDE, FOLDER_FILES, PARKED, WAITING
from fuzzer.campaign.triage import attempts, waiting_item
from fuzzer.campaign.triage.attempts import Event
from fuzzer.campaign.triage.priority import Traits, distance
from fuzzer.campaign.triage.provisional import Key
from fuzzer.campaign.triage.waiting_item import Item, Turn
from fuzzer.findings.this_machine import lacking
from fuzzer.lanes.base.availability import THIS, Machine
from fuzzer.signature import Signature
from fuzzer.system.files import copy_folder, make_folder, open_plain, opened_folder, remove_folder, sync_folder
from fuzzer.system.terminal import campaign_option, command, say
from fuzzer.system.untrusted_files import free_for_file
from fuzzer.triage.investigate import Sighting
from fuzzer.triage.suspect import NO_SUSPECT, Certainty, Suspect
from fuzzer.triage.suspicion import calls_of
from generators.graph import Case
from generators.plain_file import MOST_TEXT, read_plain
from oracles.finding import Component

MOST_ALIKE = 16
"""How many wrong results or deaths with the same coarse signature wait before another one in a case that has all the
operators of each of them is counted only."""

MOST_OF_ONE_KEY = 200
"""How many wrong results or deaths with the same coarse signature wait before every other one is counted only: where a
target is broken, each test shows one."""

IN_TURN: Mapping[Turn, int] = {Turn.SEVERE: 5, Turn.CHEAP: 2}
"""Each fifth sighting that is taken is the most severe one, whatever it costs: deaths and runs without an end do not
wait behind all that is cheap. Each second one of the others is one that costs least: a refusal of an importer, which
takes half a second, does not wait for a thousand tests."""

MET = ".met"
"""The file of `waiting/` with the names of the sightings that other campaigns brought."""

LACKING_SECONDS = 600.0
"""How long a sighting is not taken again after the machine lacked something for it, as space on the disk."""

POLL_SECONDS = 0.5
"""How often a worker that waits for what others do looks whether it may still wait."""

T = TypeVar("T")


def never() -> bool:
    return False


class Queue:
    """The sightings of the campaign in `folder`. `investigated` has the traits of what was investigated earlier.

    A sighting that `machine` cannot show waits for another machine, or until what it lacks is installed. Where `only`
    has names of sightings, no other is taken."""

    def __init__(
        self,
        folder: Path,
        investigated: Iterable[Traits] = (),
        machine: Machine = THIS,
        only: frozenset[str] = frozenset(),
    ) -> None:
        self.folder = folder
        self._machine, self._only = machine, only
        self._investigated = set(investigated)
        self._changed = threading.Condition()
        self._waiting = {item.name: item for item in waiting_item.read_all(folder / WAITING)}
        self._in_work: dict[str, Item] = {}
        self._done: Counter[Key] = Counter()
        """How many sightings of each cause this run has investigated."""
        self._taken = 0
        self._confirmed: set[Key] = set()
        """The causes that findings confirm."""
        self._parked = {item.name: item for item in waiting_item.read_all(folder / PARKED)}
        for item in self._waiting.values():
            self._place(item)

    def __len__(self) -> int:
        """How many sightings wait, with those that are investigated now."""
        return len(self._waiting) + len(self._in_work)

    @property
    def causes(self) -> int:
        """How many provisional causes in TVM the sightings that wait have: those that no finding confirms."""
        with self._changed:
            every = (*self._waiting.values(), *self._in_work.values())
            return len({item.cause for item in every if item.key.component is Component.TVM} - self._confirmed)

    def others_wait(self, item: Item) -> bool:
        """Whether this run may investigate other provisional causes in TVM, too."""
        with self._changed:
            others = (each for each in self._waiting.values() if self._is_wanted(each) and not each.lacking)
            unconfirmed = {each.cause for each in others if each.key.component is Component.TVM} - self._confirmed
            return bool(unconfirmed - {item.cause})

    def confirm(self, causes: Iterable[Key]) -> list[Item]:
        """A finding confirms causes: their sightings come after those of all others. Return those that wait."""
        with self._changed:
            self._confirmed.update(causes)
            return [item for item in self._waiting.values() if item.cause in causes]

    def count(self, item: Item, save: Callable[[int], object]) -> None:
        """Call `save` with the number of tests that showed a sighting that waits. Then delete its folder. Do nothing
        where it does not wait any more."""
        with self._changed:
            if self._waiting.get(item.name) is item and not self.is_gone(item):
                save(item.attempts.tests)
                remove_folder(item.folder)
                del self._waiting[item.name]

    @property
    def left(self) -> int:
        """How many sightings this run may still investigate, with those that are investigated now."""
        with self._changed:
            every = (*self._waiting.values(), *self._in_work.values())
            return sum(self._is_wanted(item) and not item.lacking for item in every)

    @property
    def lacking(self) -> dict[str, int]:
        """By what this machine lacks, how many sightings cannot be investigated here."""
        with self._changed:
            return dict(Counter(item.lacking for item in self._waiting.values() if item.lacking))

    @property
    def parked(self) -> int:
        return len(self._parked)

    def add(self, case: Case, sighting: Sighting, versions: dict[str, str], suspect: Suspect = NO_SUSPECT) -> bool:
        """Write the sighting to the disk. Return False, and only count it, where one like it waits or is parked."""
        with self._changed:
            doc = waiting_item.document(case, sighting, versions, suspect)
            while alike := self._like(doc.slug, waiting_item.key_of(sighting.signature), frozenset(case.graph.ops)):
                if not self.is_gone(alike):
                    alike.attempts.note(alike.folder, Event.SEEN)
                    return False
            if (self.folder / WAITING / doc.slug).exists():
                return False  # it could not be read at the start, and is this sighting
            self._wait(waiting_item.written(self.folder / WAITING / doc.slug, doc, case))
            return True

    def take(self, may_wait: Callable[[], bool] = never, tests_run: Callable[[], bool] = never) -> Item | None:
        """The sighting to investigate now: the first in order, unless one like it is investigated. None where there is
        none. Call `begin` with it, and then `done`, `leave`, `failed` or `put_back`.

        An investigation that goes on may bring others, or keep one like it from being taken, and so may a test where
        `tests_run` returns True. Wait for their ends while `may_wait` returns True."""
        with self._changed:
            while True:
                self._park_those_that_failed()
                self._ask_again()
                free = [item for item in self._waiting.values() if self._is_free(item)]
                if free:
                    item = self._next(free)
                    self._in_work[item.name] = self._waiting.pop(item.name)
                    return item
                if not (self._in_work or tests_run()) or not may_wait():
                    return None
                self._changed.wait(POLL_SECONDS)

    def _next(self, free: Sequence[Item]) -> Item:
        """The plainest sighting of the provisional cause that is worth most. A cause that no finding confirms, and of
        which nothing was investigated, goes first. What other components are to blame for comes when nothing else
        waits."""
        causes: dict[Key, Item] = {}
        for item in free:
            best = causes.get(item.cause)
            if best is None or item.order_in_cause < best.order_in_cause:
                causes[item.cause] = item
        self._taken += 1
        turn = next((each for each, number in IN_TURN.items() if self._taken % number == 0), Turn.USUAL)

        def order(item: Item) -> tuple[bool, bool, int, tuple[int, float, float]]:
            is_of_tvm, is_new = item.key.component is Component.TVM, item.cause not in self._confirmed
            return is_of_tvm, is_new, -self._done[item.cause], item.worth(turn)

        return max(causes.values(), key=order)

    def has_like(self, case: Case, sighting: Sighting) -> bool:
        """Whether a sighting that waits stands for this one too, so that `add` would only count it."""
        key, ops = waiting_item.key_of(sighting.signature), frozenset(case.graph.ops)
        with self._changed:
            return self._like(waiting_item.document(case, sighting, {}).slug, key, ops) is not None

    def _is_free(self, item: Item) -> bool:
        free = self._is_wanted(item) and not item.lacking
        return free and not any(map(item.excludes, self._in_work.values()))

    def _is_wanted(self, item: Item) -> bool:
        return not self._only or item.name in self._only

    def begin(self, item: Item) -> None:
        """Record that an investigation begins."""
        item.begun = True
        item.attempts.note(item.folder, Event.BEGUN)

    def done(self, item: Item, save: Callable[[int], T]) -> T:
        """Call `save` with the number of tests that showed the sighting. Then delete its folder: it is a finding now,
        or was counted as one. No other test is counted meanwhile."""
        with self._changed:
            saved = save(item.attempts.tests)
            with suppress(FileNotFoundError):  # the user has removed it
                remove_folder(item.folder)
            self._in_work.pop(item.name, None)
            self._investigated.add(item.traits)
            self._done[item.cause] += 1
            for other in self._waiting.values():
                other.distance = min(other.distance, distance(other.traits, item.traits))
            self._changed.notify_all()
        return saved

    def failed(self, item: Item, error: str) -> None:
        """Put the sighting back after an error of difftvm itself. `error` is kept beside it."""
        with self._changed:
            self._return(item)
            item.attempts.note(item.folder, Event.FAILED, error)
            self._park_those_that_failed()

    def put_back(self, item: Item, lacking: str = "") -> None:
        """Put the sighting back where its investigation was stopped, or has not begun. This is no attempt. Where the
        machine was `lacking` something, it is not taken for a while."""
        with self._changed:
            if item.begun:
                with suppress(OSError):  # the disk may be full
                    item.attempts.note(item.folder, Event.STOPPED)
            if lacking:
                item.lacking, item.until = lacking, time.monotonic() + LACKING_SECONDS
            self._return(item)

    def leave(self, item: Item, case: Case, sighting: Sighting, versions: dict[str, str]) -> None:
        """Let a sighting wait for the rest of its investigation, as a smaller case that shows it."""
        suspect = item.suspect
        if suspect.certainty is not Certainty.SEEN:
            suspect = replace(calls_of(case), part=suspect.part, shows_as=suspect.shows_as)
        doc = waiting_item.document(case, sighting, versions, suspect)
        with self._changed:
            if self.is_gone(item):
                return
            item.attempts.note(item.folder, Event.LEFT)
            if (folder := self.folder / WAITING / doc.slug).exists():  # another sighting has become this case
                self._return(item)
                return
            smaller = waiting_item.written(folder, doc, case, read_plain(item.folder / attempts.NAME, MOST_TEXT))
            remove_folder(item.folder)
            self._in_work.pop(item.name, None)
            if self._only:
                self._only |= {smaller.name}
            self._wait(smaller)

    def is_gone(self, item: Item) -> bool:
        """Whether the user has removed the folder of the sighting, which is then forgotten."""
        if item.folder.exists():
            return False
        with self._changed:
            for items in (self._waiting, self._in_work, self._parked):
                items.pop(item.name, None)
            self._changed.notify_all()
        say(f"{item.folder}: it was removed and is not investigated")
        return True

    def unpark(self) -> None:
        """Let the parked sightings wait again, as if no investigation had failed."""
        with self._changed:
            for item in list(self._parked.values()):
                if self.is_gone(item):
                    continue
                del self._parked[item.name]
                item.parent = _moved(item.folder, self.folder / WAITING).parent
                item.attempts.note(item.folder, Event.ANEW)
                self._wait(item)

    def adopt(self, source: Path) -> int:
        """Copy the sightings of another campaign, which may run; return how many are new here. What was here once is
        not copied again, even if it has been investigated since."""
        make_folder(self.folder / WAITING, self.folder)
        met = self.folder / WAITING / MET
        before = set(read_plain(met, MOST_TEXT).decode(errors="replace").splitlines()) if met.exists() else set()
        new = 0
        for item in (*waiting_item.read_all(source / WAITING), *waiting_item.read_all(source / PARKED)):
            if item.name in before:
                continue
            with self._changed:
                if not self._like(item.name, item.key, item.ops):
                    here = self.folder / WAITING / item.name
                    try:
                        copy_folder(item.folder, here, FOLDER_FILES)
                    except FileNotFoundError:  # the source has investigated it meanwhile
                        continue
                    item.parent = here.parent
                    item.attempts.note(here, Event.ANEW)
                    self._wait(item)
                    new += 1
                with opened_folder(met.parent) as waiting:
                    free_for_file(met, self.folder / ASIDE)
                    with open_plain(waiting / MET, "a") as names:
                        names.write(f"{item.name}\n")
        return new

    def _wait(self, item: Item) -> None:
        """Let a new sighting wait."""
        self._place(item)
        self._waiting[item.name] = item
        self._changed.notify_all()

    def _place(self, item: Item) -> None:
        item.lacking = lacking(item.lane, item.stage, self._machine)
        item.distance = min((distance(item.traits, each) for each in self._investigated), default=1.0)

    def _ask_again(self) -> None:
        """Let the sightings be taken again that the machine lacked something for some time ago."""
        for item in self._waiting.values():
            if item.until <= time.monotonic():
                item.until = math.inf
                self._place(item)

    def _return(self, item: Item) -> None:
        """Let a sighting wait again that was investigated."""
        item.begun = False
        if self._in_work.get(item.name) is item:  # not where it was removed, and found again
            self._waiting[item.name] = self._in_work.pop(item.name)
        self._changed.notify_all()

    def _like(self, name: str, key: Signature, ops: frozenset[str]) -> Item | None:
        """The item that stands for a sighting too: one with the same message, or with the same case and failure. Where
        `MOST_ALIKE` wrong results wait that need no operator that this case lacks, or `MOST_OF_ONE_KEY` in all, the
        first of them. One that this machine cannot show stands for no other."""
        every = (*self._waiting.values(), *self._in_work.values(), *self._parked.values())
        alike = [item for item in every if item.key == key and (not item.lacks_for_good or item.name == name)]
        if not key.needs_ops or len(alike) >= MOST_OF_ONE_KEY:
            return alike[0] if alike else None
        same = next((item for item in alike if item.name == name), None)
        crowd = [item for item in alike if item.ops <= ops]
        return same or (crowd[0] if len(crowd) >= MOST_ALIKE else None)

    def _park_those_that_failed(self) -> None:
        for item in [item for item in self._waiting.values() if item.attempts.why_used_up]:
            if self.is_gone(item):
                continue
            del self._waiting[item.name]
            item.parent = _moved(item.folder, self.folder / PARKED).parent
            self._parked[item.name] = item
            again = command("triage", "--work", *campaign_option(self.folder))
            say(f"{item.folder}: {item.attempts.why_used_up}; `{again}` tries again")


def _moved(folder: Path, to: Path) -> Path:
    make_folder(to, to.parent)
    with opened_folder(folder.parent) as from_here, opened_folder(to) as there:
        (from_here / folder.name).rename(there / folder.name)
        sync_folder(there)
    return to / folder.name
