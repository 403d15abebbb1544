"""Which case comes next: drawn afresh from operators seldom met, or a neighbour of a case that showed something new.

Features are counted in every campaign. A guided one goes by three rules:
 - operators that few tests have met, and that known bugs do not stop, are drawn more often;
 - a case that showed a new feature is kept, and mutated: the rarer what it showed, the more often; less each time, and
   less where its neighbours only run into what is known;
 - the neighbourhood of a fresh finding is searched first.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.campaign import corpus
from fuzzer.campaign.features import operators_in
from fuzzer.campaign.rows import Kept, Learnt
from fuzzer.open_sizes import at_each_size
from fuzzer.settings import Settings
from fuzzer.support import operators
from generators import case_file
from generators.choice import ChoiceSource, NumpySource
from generators.graph import Case, Invalid
from generators.motifs import MOTIFS
from generators.mutate import mutate
from generators.ops import OPS, Op
from generators.random_graph import generate

MUTATED = 50
"""So many percent of the tests are neighbours of a case that was kept, once drawing afresh shows little that is new: as
long as more than a tenth of what a test shows is new, none is."""

MEMORY = 0.02
"""How much one test moves the share of new features that is expected of the next."""

PALETTE = 32
"""Operators that one case is drawn from."""

FRESH = 8.0
"""How many times as much energy a case has that led to a new finding, before it was picked."""


@dataclass(slots=True)
class Entry:
    """A case that showed something new. It lies in the campaign's `corpus/`, by its digest.

    showed   the features that nobody had shown before
    picked   how often it was mutated; `stuck` so often that only met what is known
    """

    folder: Path
    showed: tuple[str, ...]
    picked: int = 0
    stuck: int = 0
    fresh: bool = False


@dataclass(slots=True)
class Met:
    """Tests with an operator, and those of them that ran into known bugs for which it is the likeliest to blame."""

    tests: int = 0
    stuck: int = 0

    @property
    def weight(self) -> float:
        return (1 - 0.9 * self.stuck / (self.tests + 2)) / math.sqrt(1 + self.tests)


@dataclass(slots=True)
class Guidance:
    """Thread-safe. `counts`: in how many tests each feature was seen."""

    settings: Settings
    seed: int
    counts: dict[str, int] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    met: dict[str, Met] = field(default_factory=dict)
    novelty: float = 1.0
    _parents: dict[int, str] = field(default_factory=dict)
    _given: list[str] = field(default_factory=list)
    _first: dict[str, int] = field(default_factory=dict)
    _touched: set[str] = field(default_factory=set)
    _moved: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def corpus(self) -> Path:
        return self.settings.campaign / corpus.FOLDER

    def case(self, index: int) -> Case:
        """The case of a test. What is kept decides with the seed: a resumed campaign goes on otherwise than it would
        have, which its findings do not mind."""
        source = NumpySource(self.seed, index)
        if given := self._next_given():
            return source.choice(at_each_size(given))
        if (
            source.rarely(round(MUTATED * max(0.0, 1 - 10 * self.novelty)))
            and (parent := self._picked(source)) is not None
        ):
            digest, case = parent
            with self._lock:
                self._parents[index] = digest
            return self._neighbour(source, case)
        return self._afresh(source, index)

    def _next_given(self) -> Case | None:
        """What somebody put into the corpus is run as it is, before all else."""
        with self._lock:
            name = self._given.pop() if self._given else None
        return case_file.read(self.corpus / name) if name else None

    def _afresh(self, source: ChoiceSource, index: int) -> Case:
        everything = self.settings.ops is OPS
        ops, motifs = (operators(source), MOTIFS) if everything else (self.settings.ops, ())
        made = generate(
            source, self.settings.limits, self._palette(source, ops), f"seed {self.seed} test {index}", motifs=motifs
        )
        return source.choice(at_each_size(made))

    def _palette(self, source: ChoiceSource, ops: Sequence[Op]) -> tuple[Op, ...]:
        """Some operators, those that were met seldom likelier than others (Efraimidis and Spirakis: the largest keys
        u ** (1 / weight) are a sample by weight)."""
        if len(ops) <= PALETTE:
            return tuple(ops)
        draws = source.rng().random(len(ops))
        with self._lock:
            weights = [self.met[op.name].weight if op.name in self.met else 1.0 for op in ops]
        keys = sorted(range(len(ops)), key=lambda place: -math.log(draws[place]) / weights[place])
        return tuple(ops[place] for place in sorted(keys[:PALETTE]))

    def _neighbour(self, source: ChoiceSource, case: Case) -> Case:
        donor = self._picked(source)
        ops = operators(source) if self.settings.ops is OPS else self.settings.ops
        for _ in range(source.choice((1, 1, 2, 3))):
            case = mutate(source, case, self.settings.limits, ops, donor[1] if donor else None)
        return case

    def _picked(self, source: ChoiceSource) -> tuple[str, Case] | None:
        with self._lock:
            digests = list(self.entries)
            sums, total = [], 0.0
            for entry in self.entries.values():
                total += self._energy(entry)
                sums.append(total)
        if not digests:
            return None
        at = source.rng().random() * total
        digest = digests[min(next((i for i, upto in enumerate(sums) if at < upto), len(sums) - 1), len(sums) - 1)]
        try:
            return digest, case_file.read(self.entries[digest].folder)
        except Invalid:  # somebody took it away, or changed it: it is no longer ours to pick
            with self._lock:
                del self.entries[digest]
            return None

    def _energy(self, entry: Entry) -> float:
        rarity = sum(1 / self.counts.get(name, 1) for name in entry.showed)
        free = (1 + entry.picked - entry.stuck) / (1 + entry.picked + 2 * entry.stuck)
        fresh = 1 + FRESH / (1 + entry.picked) if entry.fresh else 1.0
        return (0.05 + rarity) * free * fresh / math.sqrt(1 + entry.picked)

    def learn(self, index: int, case: Case, seen: frozenset[str], *, failed: bool, found: bool) -> tuple[str, ...]:
        """What a test showed that nobody had shown; a guided campaign keeps the case if there is any. `failed`: a lane
        of TVM's ran into a bug; `found`: one that was new."""
        with self._lock:
            new = tuple(sorted(name for name in seen if name not in self.counts))
            for name in seen:
                self.counts[name] = self.counts.get(name, 0) + 1
                self._first.setdefault(name, index)
            self._touched |= seen
            stuck = failed and not found
            self.novelty += MEMORY * (len(new) / max(1, len(seen)) - self.novelty)
            mets = [self.met.setdefault(op, Met()) for op in sorted(set(operators_in(seen)))]
            for met in mets:
                met.tests += 1
            if stuck and mets:  # one of them is to blame, most likely the one that was most often there
                max(mets, key=lambda met: (met.stuck + 1) / (met.tests + 1)).stuck += 1
            digest = self._parents.pop(index, "")
            if (parent := self.entries.get(digest)) is not None:
                parent.picked += 1
                parent.stuck += stuck and not new
                self._moved.add(digest)
        if self.settings.guided and (new or found):
            self._keep(case, new, fresh=found)
        return new

    def _keep(self, case: Case, showed: tuple[str, ...], *, fresh: bool) -> None:
        digest = case_file.digest(case)[:16]
        with self._lock:
            if digest not in self.entries:
                corpus.add(self.settings.campaign, digest, case)
                self.entries[digest] = Entry(self.corpus / digest, showed, fresh=fresh)
                self._moved.add(digest)

    def recall(self, learnt: Learnt) -> None:
        """Go on with what earlier runs learnt. Cases that lie in the corpus and that nobody knows, imported ones say,
        are taken in as well."""
        for name, (first, tests) in learnt.features.items():
            self.counts[name], self._first[name] = tests, first
            for op in operators_in(frozenset((name,))):
                self.met.setdefault(op, Met()).tests += tests
        for kept in learnt.corpus:
            folder = self.corpus / kept.digest
            if folder.is_dir():
                self.entries[kept.digest] = Entry(folder, kept.showed, kept.picked, kept.stuck, kept.fresh)
        if not self.settings.guided:
            return
        self._given = [name for name in reversed(corpus.names(self.settings.campaign)) if name not in self.entries]
        for name in self._given:
            self.entries[name] = Entry(self.corpus / name, (f"given {name}",))
            self._moved.add(name)

    def changed(self) -> Learnt:
        """What was learnt since the last time that somebody asked."""
        with self._lock:
            features = {name: (self._first[name], self.counts[name]) for name in self._touched}
            entries = [(name, self.entries[name]) for name in self._moved if name in self.entries]
            self._touched, self._moved = set(), set()
        return Learnt(features, tuple(Kept(name, e.showed, e.picked, e.stuck, e.fresh) for name, e in entries))
