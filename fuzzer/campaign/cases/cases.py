"""Where the cases of a campaign come from.

First, each case of the corpus is run once, unchanged. After that, cases are drawn at random, or are mutations of the
corpus. In a campaign around a model, they are made of the model (`around_cases`).
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fuzzer.campaign.cases.around_cases import draw_around, kind_of
from fuzzer.campaign.cases.dialects import dialect_of
from fuzzer.campaign.cases.mixes import mixes_of
from fuzzer.campaign.plan.settings import Settings
from fuzzer.campaign.plan.streams import Stream, choices
from fuzzer.campaign.plan.test_numbers import Share
from fuzzer.cases.open_sizes import at_each_size
from fuzzer.seeds import corpus
from fuzzer.system.files import open_plain, opened_folder
from fuzzer.system.terminal import say
from generators.choice import ChoiceSource
from generators.dialect import dialect_named
from generators.drawn_graph import DrawnGraph
from generators.graph import Case, Invalid
from generators.limits import Limits, of_large_tensors
from generators.mutate import mutate
from generators.op import Op
from generators.plain_file import MOST_TEXT, read_plain

FROM_CORPUS = 25
"""The percentage of tests that mutate a case of the corpus, where the corpus has any."""

LARGE_EVERY = 64
"""One test in this many draws large tensors. Its lanes take several times as long as those of other tests."""

RUN = ".run"
"""A file in the folder of the corpus. It has a line `NUMBER NAME` for each test that ran a case of the corpus
unchanged."""

Cases = Callable[[int], Case | None]
"""Returns the case of a test, by the test's number; None where there are no more cases."""


class UnchangedCases:
    """Assigns each case of the corpus to one test, which runs it unchanged. Thread-safe.

    A test that is repeated gets the same case. An assignment that could not be written to the file is forgotten: a
    later run assigns the case again.
    """

    def __init__(self, folder: Path, cases: Mapping[str, Case], share: Share) -> None:
        self._folder, self._cases = folder, cases
        self._assigned = dict(_assigned(folder / RUN))
        mine = (name for place, name in enumerate(cases) if place % share.of == share.part)
        run = frozenset(self._assigned.values())
        self._left = iter([name for name in mine if name not in run])
        self._lock = threading.Lock()

    def case(self, test: int) -> Case | None:
        """The case of a test; None where every case is assigned, or belongs to another share."""
        with self._lock:
            if test not in self._assigned and (name := next(self._left, None)):
                self._assigned[test] = name
                with suppress(OSError), opened_folder(self._folder) as opened, open_plain(opened / RUN, "a") as file:
                    file.write(f"{test} {name}\n")
            return self._cases.get(self._assigned.get(test, ""))


def _assigned(path: Path) -> Iterator[tuple[int, str]]:
    """(test, case) of each line. A line may be cut off by a kill or a full disk: then it does not match here, or names
    a case that does not exist."""
    text = read_plain(path, MOST_TEXT).decode(errors="replace") if path.exists() else ""
    for found in re.finditer(r"^([0-9]{1,18}) (.+)$", text, re.MULTILINE):
        yield int(found[1]), found[2]


@dataclass(frozen=True, slots=True)
class CaseSource:
    """Makes the case of each test. The seed, the dialect, the corpus, and which cases of the corpus were run decide it,
    and nothing else. Where the user named operators, only these are drawn, and the corpus is left out; so are cases of
    a dialect that is not drawn. Around a model, its pieces are the corpus."""

    settings: Settings
    seed: int
    corpus: Sequence[Case]
    unchanged: UnchangedCases

    @property
    def equal_shares(self) -> Mapping[str, float]:
        """Equal shares of the dialects that are drawn."""
        dialects = self.settings.dialects
        return {each: 1 / len(dialects) for each in dialects}

    def given(self, index: int) -> Case | None:
        """A case of the corpus, unchanged; None where all of them were run. These come before cases that are drawn."""
        case = self.unchanged.case(index)
        return choices(self.seed, index, Stream.CASE).choice(at_each_size(case)) if case else None

    def random(self, index: int) -> Case:
        """The case of a test in a campaign without guidance. There are infinitely many."""
        if given := self.given(index):
            return given
        dialect = dialect_of(self.seed, index, self.equal_shares)
        return self.draw(choices(self.seed, index, Stream.CASE), index, dialect=dialect).case()

    def is_usual(self, index: int, dialect: str) -> bool:
        """Whether what is drawn for a test may also serve another one: nothing large, for a pass or around a model."""
        is_for_pass = self._draws_all_of(dialect) and mixes_of(dialect).is_for_pass(self.seed, index)
        return not (self.settings.around or is_for_pass or _is_large(self.seed, index))

    def _draws_all_of(self, dialect: str) -> bool:
        return self.settings.around is None and self.settings.draws_all_of(dialect)

    def mix(self, source: ChoiceSource, dialect: str) -> Sequence[Op]:
        return mixes_of(dialect).mix(source) if self._draws_all_of(dialect) else self.settings.ops[dialect]

    def draw(self, source: ChoiceSource, index: int, dialect: str, ops: Sequence[Op] | None = None) -> DrawnGraph:
        """Draw the graph of a new case from `ops`, or, where None, from a mix of operators that is drawn as well. Some
        tests draw for a pass (`pass_tests`)."""
        origin, limits = f"seed {self.seed} test {index}", self.settings.limits
        if around := self.settings.around:
            made = draw_around(source, around, kind_of(self.seed, index), self.settings.limits, origin, dialect)
            return DrawnGraph.of(source.choice(at_each_size(made)))
        mixes, draws_all = mixes_of(dialect), self._draws_all_of(dialect)
        if draws_all and (for_pass := mixes.for_pass(source, self.seed, index, limits, origin)):
            return for_pass
        if (seeds := self._seeds(dialect)) and source.chance(FROM_CORPUS):
            return DrawnGraph.of(mutate(source, source.choice(seeds), limits, donor=source.choice(seeds)))
        ops = self.mix(source, dialect) if ops is None else ops
        draw = mixes.draw if draws_all else dialect_named(dialect).draw
        drawn = self._sized(index, lambda bounds: draw(source, bounds, ops, origin))
        return drawn.then(lambda case: source.choice(at_each_size(case)))

    def _sized(self, index: int, draw: Callable[[Limits], DrawnGraph]) -> DrawnGraph:
        """Draw a graph of large tensors in one test of `LARGE_EVERY`, if an operator fits such a graph."""
        if _is_large(self.seed, index):
            with suppress(Invalid):
                return draw(of_large_tensors(self.settings.limits))
        return draw(self.settings.limits)

    def _seeds(self, dialect: str) -> list[Case]:
        return [case for case in self.corpus if case.graph.dialect == dialect]


@functools.lru_cache(64)
def _is_large(seed: int, index: int) -> bool:
    """Whether the case of a test has large tensors. All its candidates ask."""
    return choices(seed, index, Stream.LARGE).integer(1, LARGE_EVERY) == 1


def case_source(settings: Settings, seed: int) -> CaseSource:
    if settings.around:
        cases = settings.around.pieces
    else:
        found = corpus.readable(settings.campaign, say) if settings.draws_all_operators else {}
        cases = {name: case for name, case in found.items() if case.graph.dialect in settings.dialects}
    unchanged = UnchangedCases(settings.campaign / corpus.FOLDER, cases, settings.share)
    return CaseSource(settings, seed, list(cases.values()), unchanged)


def random_cases(settings: Settings, seed: int) -> Cases:
    return case_source(settings, seed).random
