"""The cases of a comparison: kept cases first, then fresh ones, steered towards the changed code."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from fuzzer.campaign.guidance import Guidance
from fuzzer.cases.open_sizes import at_each_size
from fuzzer.difference.reach import Reach
from fuzzer.findings.finding_file import CRASHES
from fuzzer.regression import record
from fuzzer.seeds import corpus
from generators import case_file
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Case, Invalid
from generators.mutate import mutate
from generators.op import Op
from generators.plain_file import LINK
from generators.random_graph import generate
from generators.table import TABLE

NEAR, MUTATED = 50, 25
"""Percentages of the fresh tests: cases made of operators that reach the changed code alone, and mutations of cases
that reached it. The rest is drawn as in every campaign."""

FEW_NODES = 3
"""The most calls of a case made of such operators: the failure of one operator hides those of the others."""

STEERED_OF = 3
"""As soon as some tests have reached the changed code and most have not, all but one test of so many are fresh."""

FRESH_TESTS = 100
"""After so many more tests, it is said that none reaches the changed code."""

_CANDIDATES, _STREAM, _CHOICES, _SIZES, _SINGLE = 8, 700, 699, 698, 697
_ATTEMPTS = 4


@dataclass(slots=True)
class ComparedCases:
    """Gives the case of each test. Thread-safe.

    kept    cases that run unchanged, before all others
    ops     operators; one case with a single call is drawn of each that no kept case has
    corpus  cases of a regression corpus, which run unchanged after these
    traced  whether it is known which tests reach the changed code: then the cases end where none does
    text    names in the changed code. Operators that it names come first
    """

    seed: int
    guidance: Guidance
    reach: Reach
    kept: Sequence[Case]
    ops: Sequence[Op]
    traced: bool = False
    text: str = ""
    corpus: Sequence[Case] = ()
    _known: dict[int, Case] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _lacking: Sequence[Op] = field(init=False)
    _opening: Iterator[Case] = field(init=False)

    def __post_init__(self) -> None:
        have = {op for case in self.kept for op in case.graph.ops}
        lacking = [op for op in self.ops if op.name not in have]
        self._lacking = sorted(lacking, key=lambda op: not _names(self.text, op))
        self._opening = self._first_cases()

    def __call__(self, index: int) -> Case | None:
        if self.is_hopeless:
            return None
        steered = self.reach.is_selective and index % STEERED_OF != 0
        with self._lock:
            if not steered and index not in self._known and (case := next(self._opening, None)):
                self._known[index] = case
        found = self._known.get(index) or self._fresh(index)
        return NumpySource(self.seed, index, _SIZES).choice(at_each_size(found))

    @property
    def is_hopeless(self) -> bool:
        """Whether the first cases and some fresh ones have not reached the changed code."""
        reach = self.reach
        unchanged = not (reach.reaching or reach.differing)
        return self.traced and unchanged and reach.tests >= self.opening + FRESH_TESTS

    @property
    def opening(self) -> int:
        """How many tests run before the fresh ones, at most."""
        return len(self.kept) + len(self._lacking)

    def _first_cases(self) -> Iterator[Case]:
        yield from self.kept
        for number, op in enumerate(self._lacking):
            with suppress(Invalid):  # an operator that needs another one before it
                source = NumpySource(self.seed, number, _SINGLE)
                yield generate(source, _limits(1), [op], f"the operator {op.name}", symbolic=False)
        named = {op.name for op in self.ops if _names(self.text, op)}
        yield from sorted(self.corpus, key=lambda case: named.isdisjoint(case.graph.ops))

    def _fresh(self, index: int) -> Case:
        source = NumpySource(self.seed, index, _CHOICES)
        kind = source.integer(1, 100)
        names = self.reach.operators(source)
        if kind <= NEAR and names:
            draw = self._near([TABLE[name] for name in names if name in TABLE], index)
            if draw:
                return draw
        elif kind <= NEAR + MUTATED and (case := self.reach.case(source)):
            return mutate(source, case, self.guidance.settings.limits, donor=self.reach.case(source))
        return self.guidance.case(index)

    def _near(self, ops: Sequence[Op], index: int) -> Case | None:
        """The newest of some cases made of these operators; None where none can be made."""
        candidates: list[Case] = []
        for number in range(_CANDIDATES):
            source = NumpySource(self.seed, index, _STREAM + number)
            with suppress(Invalid):
                candidates.append(generate(source, _limits(FEW_NODES), ops, f"seed {self.seed} test {index}"))
        return max(candidates, key=self.guidance.worth, default=None)


def _names(text: str, op: Op) -> bool:
    """Whether a text has the name of an operator as a word of an identifier, also without its underscores."""
    name = op.name.replace("_", "_?")
    return re.search(rf"(?<![a-z0-9]){name}(?![a-z0-9])", text, re.IGNORECASE) is not None


def _limits(nodes: int) -> Limits:
    return replace(Limits(), max_nodes=nodes)


def kept_in(folders: Sequence[Path]) -> list[Case]:
    """The cases of these folders: a corpus, a regression corpus, a campaign with its corpus and its findings, or one
    case. Raise `Invalid` where a folder has none, or one that cannot be read."""
    return [case for folder in folders for case in _cases_of(folder)]


def _cases_of(folder: Path) -> list[Case]:
    if record.is_corpus(folder):
        return list(record.read(folder).cases.values())
    within = [folder / name for name in (corpus.FOLDER, CRASHES)]
    if link := next((each for each in within if each.is_symlink()), None):  # the campaign may come from elsewhere
        raise Invalid(f"{link}: {LINK}")
    found = [folder] if (folder / case_file.JSON_NAME).exists() else []
    found += [path.parent for place in (folder, *within) for path in sorted(place.glob(f"*/{case_file.JSON_NAME}"))]
    if not found:
        raise Invalid(f"{folder}: no case, no corpus and no campaign")
    return [case_file.read(path) for path in found]
