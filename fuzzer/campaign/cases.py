"""Where a campaign's cases come from: its corpus as it is, then what is drawn, and neighbours of the corpus."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fuzzer.campaign.settings import Settings
from fuzzer.campaign.test_numbers import Share
from fuzzer.campaign.unsupported_operators import operators
from fuzzer.cases.open_sizes import at_each_size
from fuzzer.seeds import corpus
from generators.choice import ChoiceSource, NumpySource
from generators.graph import Case
from generators.motifs import MOTIFS
from generators.mutate import mutate
from generators.ops import OPS, Op
from generators.random_graph import generate

FROM_CORPUS = 25
"""How many tests in a hundred mutate a case of the corpus, where there is one."""

RUN = ".run"
"""In the corpus' folder: the tests in which its cases were run as they are, a line `NUMBER NAME` for each."""

Cases = Callable[[int], Case | None]
"""The case of a test, by its number; None where there are no more."""


class UnchangedCases:
    """Deals each case of a corpus to one test of a campaign, as it is, whenever it was brought. Thread-safe.

    A test that is repeated gets its case again. What cannot be written down is run once more by a later run.
    """

    def __init__(self, folder: Path, cases: Mapping[str, Case], share: Share) -> None:
        self._path, self._cases = folder / RUN, cases
        self._dealt = dict(_dealt(self._path))
        mine = (name for place, name in enumerate(cases) if place % share.of == share.part)
        run = frozenset(self._dealt.values())
        self._left = iter([name for name in mine if name not in run])
        self._lock = threading.Lock()

    def case(self, test: int) -> Case | None:
        """None where all were dealt, or are other shares'."""
        with self._lock:
            if test not in self._dealt and (name := next(self._left, None)):
                self._dealt[test] = name
                with suppress(OSError), self._path.open("a") as file:
                    file.write(f"{test} {name}\n")
            return self._cases.get(self._dealt.get(test, ""))


def _dealt(path: Path) -> Iterator[tuple[int, str]]:
    """A line that a kill or a full disk tore names no test, or no case that there is."""
    text = path.read_text(errors="replace") if path.exists() else ""
    for found in re.finditer(r"^([0-9]{1,18}) (.+)$", text, re.MULTILINE):
        yield int(found[1]), found[2]


@dataclass(frozen=True, slots=True)
class CaseSource:
    """Decided by the seed and the campaign's corpus alone: by what is in it, and by what of it was run. Who names
    operators gets no others."""

    settings: Settings
    seed: int
    corpus: Sequence[Case]
    unchanged: UnchangedCases

    @property
    def _everything(self) -> bool:
        return self.settings.ops is OPS

    def given(self, index: int) -> Case | None:
        """What somebody put into the corpus comes first, as it is: before all that this run draws."""
        case = self.unchanged.case(index)
        return NumpySource(self.seed, index).choice(at_each_size(case)) if case else None

    def random(self, index: int) -> Case:
        """Endlessly many, each decided by its number."""
        return self.given(index) or self.case(NumpySource(self.seed, index), index)

    def mix(self, source: ChoiceSource) -> Sequence[Op]:
        return operators(source) if self._everything else self.settings.ops

    def case(self, source: ChoiceSource, index: int, ops: Sequence[Op] | None = None) -> Case:
        """A new one, of `ops` or of a mix that is drawn."""
        if self.corpus and source.chance(FROM_CORPUS):
            return mutate(source, source.choice(self.corpus), self.settings.limits, donor=source.choice(self.corpus))
        ops = self.mix(source) if ops is None else ops
        motifs = MOTIFS if self._everything else ()
        made = generate(source, self.settings.limits, ops, f"seed {self.seed} test {index}", motifs=motifs)
        return source.choice(at_each_size(made))


def case_source(settings: Settings, seed: int) -> CaseSource:
    cases = corpus.cases(settings.campaign) if settings.ops is OPS else {}
    unchanged = UnchangedCases(settings.campaign / corpus.FOLDER, cases, settings.share)
    return CaseSource(settings, seed, list(cases.values()), unchanged)


def random_cases(settings: Settings, seed: int) -> Cases:
    return case_source(settings, seed).random
