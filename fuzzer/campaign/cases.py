"""Where the cases of a campaign come from.

First, each case of the corpus is run once, unchanged. After that, cases are drawn at random, or are mutations of the
corpus. In a campaign around a model, they are made of the model (`around_cases`).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fuzzer.campaign.around_cases import draw_around, kind_of
from fuzzer.campaign.dialects import dialect_of
from fuzzer.campaign.pass_tests import PassTest, pass_test
from fuzzer.campaign.settings import Settings
from fuzzer.campaign.test_numbers import Share
from fuzzer.campaign.unsupported_operators import operators
from fuzzer.cases.open_sizes import at_each_size
from fuzzer.seeds import corpus
from fuzzer.system.files import open_plain
from generators.choice import ChoiceSource, NumpySource
from generators.graph import Case, Invalid
from generators.limits import Limits, of_large_tensors
from generators.mutate import mutate
from generators.op import Op
from generators.plain_file import MOST_TEXT, read_plain
from generators.random_graph import generate
from generators.torch.motif_table import MOTIFS
from generators.torch.ops import OPS

FROM_CORPUS = 25
"""The percentage of tests that mutate a case of the corpus, where the corpus has any."""

LARGE_EVERY = 64
"""One test of so many draws large tensors. Its lanes take several times as long as those of other tests."""

_LARGE = 10
"""The stream of choices that says whether a test draws large tensors (`dialects` and others use others)."""

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
        self._path, self._cases = folder / RUN, cases
        self._assigned = dict(_assigned(self._path))
        mine = (name for place, name in enumerate(cases) if place % share.of == share.part)
        run = frozenset(self._assigned.values())
        self._left = iter([name for name in mine if name not in run])
        self._lock = threading.Lock()

    def case(self, test: int) -> Case | None:
        """The case of a test; None where every case is assigned, or belongs to another share."""
        with self._lock:
            if test not in self._assigned and (name := next(self._left, None)):
                self._assigned[test] = name
                with suppress(OSError), open_plain(self._path, "a") as file:
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
    def _everything(self) -> bool:
        return self.settings.ops is OPS and self.settings.around is None

    @property
    def equal_shares(self) -> Mapping[str, float]:
        """Equal shares of the dialects that are drawn."""
        dialects = self.settings.dialects
        return {each: 1 / len(dialects) for each in dialects}

    def given(self, index: int) -> Case | None:
        """A case of the corpus, unchanged; None where all of them were run. These come before cases that are drawn."""
        case = self.unchanged.case(index)
        return NumpySource(self.seed, index).choice(at_each_size(case)) if case else None

    def random(self, index: int) -> Case:
        """The case of a test in a campaign without guidance. There are infinitely many."""
        if given := self.given(index):
            return given
        dialect = dialect_of(self.seed, index, self.equal_shares)
        return self.case(NumpySource(self.seed, index), index, dialect=dialect)

    def mix(self, source: ChoiceSource) -> Sequence[Op]:
        return operators(source) if self._everything else self.settings.ops

    def case(self, source: ChoiceSource, index: int, ops: Sequence[Op] | None = None, dialect: str = "torch") -> Case:
        """Draw a new case from `ops`, or, where None, from a mix of operators that is drawn as well. The case of some
        tests is drawn for a pass (`pass_tests`). A case of ONNX is drawn from the settings' operators."""
        origin = f"seed {self.seed} test {index}"
        if dialect == "onnx" and not self.settings.around:
            return self._of_onnx(source, index, origin)
        if around := self.settings.around:
            made = draw_around(source, around, kind_of(self.seed, index), self.settings.limits, origin, dialect)
            return source.choice(at_each_size(made))
        if self._everything and (wanted := pass_test(self.seed, index)):
            return self._for_pass(source, index, wanted)
        if (seeds := self._seeds("torch")) and source.chance(FROM_CORPUS):
            return mutate(source, source.choice(seeds), self.settings.limits, donor=source.choice(seeds))
        ops = self.mix(source) if ops is None else ops
        motifs = MOTIFS if self._everything else ()
        made = self._sized(index, lambda limits: generate(source, limits, ops, origin, motifs=motifs))
        return source.choice(at_each_size(made))

    def _sized(self, index: int, draw: Callable[[Limits], Case]) -> Case:
        """Draw a case of large tensors in one test of `LARGE_EVERY`, if an operator fits such a graph."""
        if NumpySource(self.seed, index, _LARGE).integer(1, LARGE_EVERY) == 1:
            with suppress(Invalid):
                return draw(of_large_tensors(self.settings.limits))
        return draw(self.settings.limits)

    def _seeds(self, dialect: str) -> list[Case]:
        return [case for case in self.corpus if case.graph.dialect == dialect]

    def _of_onnx(self, source: ChoiceSource, index: int, origin: str) -> Case:
        from generators.onnx.random_graph import generate  # reads the schemas, which torch alone does not need

        if (seeds := self._seeds("onnx")) and source.chance(FROM_CORPUS):
            return mutate(source, source.choice(seeds), self.settings.limits, donor=source.choice(seeds))
        ops = self.settings.model_ops
        made = self._sized(index, lambda limits: generate(source, limits, ops, origin))
        return source.choice(at_each_size(made))

    def _for_pass(self, source: ChoiceSource, index: int, wanted: PassTest) -> Case:
        """Draw a case that begins with a motif that the pass rewrites, or that is made of operators that it rewrites.
        In some of these tests, it has symbolic sizes."""
        ops, limits, origin = wanted.ops or self.mix(source), self.settings.limits, f"seed {self.seed} test {index}"
        opened = wanted.open_sizes
        made = generate(source, limits, ops, origin, symbolic=opened, motifs=wanted.motifs, motif_percent=100)
        return source.choice(at_each_size(made)) if opened else made


def case_source(settings: Settings, seed: int) -> CaseSource:
    if settings.around:
        cases = settings.around.pieces
    else:
        found = corpus.cases(settings.campaign) if settings.draws_all_operators else {}
        cases = {name: case for name, case in found.items() if case.graph.dialect in settings.dialects}
    unchanged = UnchangedCases(settings.campaign / corpus.FOLDER, cases, settings.share)
    return CaseSource(settings, seed, list(cases.values()), unchanged)


def random_cases(settings: Settings, seed: int) -> Cases:
    return case_source(settings, seed).random
