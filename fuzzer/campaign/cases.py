"""Where a campaign's cases come from: its corpus as it is, then what is drawn, and neighbours of the corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fuzzer.campaign import corpus
from fuzzer.open_sizes import at_each_size
from fuzzer.settings import Settings
from fuzzer.support import operators
from generators.choice import ChoiceSource, NumpySource
from generators.graph import Case
from generators.motifs import MOTIFS
from generators.mutate import mutate
from generators.ops import OPS, Op
from generators.random_graph import generate

FROM_CORPUS = 25
"""How many tests in a hundred mutate a case of the corpus, where there is one."""

Cases = Callable[[int], Case | None]
"""The case of a test, by its number; None where there are no more."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """Decided by the seed and the campaign's corpus alone. Who names operators gets no others."""

    settings: Settings
    seed: int
    corpus: Sequence[Case] = field(default_factory=list)

    @property
    def _everything(self) -> bool:
        return self.settings.ops is OPS

    def given(self, index: int) -> Case | None:
        """What somebody put into the corpus comes first, as it is."""
        if index >= len(self.corpus):
            return None
        return NumpySource(self.seed, index).choice(at_each_size(self.corpus[index]))

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


def drawing(settings: Settings, seed: int) -> Drawing:
    return Drawing(settings, seed, list(corpus.cases(settings.campaign).values()) if settings.ops is OPS else [])


def random_cases(settings: Settings, seed: int) -> Cases:
    """Endlessly many, each decided by its number."""
    drawn = drawing(settings, seed)

    def case(index: int) -> Case:
        return drawn.given(index) or drawn.case(NumpySource(seed, index), index)

    return case
