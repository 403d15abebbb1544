"""The model that a campaign goes around: its pieces in the corpus, and its operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import groupby
from operator import and_
from pathlib import Path

from fuzzer.seeds import corpus
from fuzzer.seeds.imported import SIZE, files_of, run
from fuzzer.seeds.resolved import Resolved
from fuzzer.seeds.sample import NOTHING, Sample, require_one_file
from generators import case_file
from generators.dialect_names import NAMES
from generators.graph import Case, Invalid
from generators.op import Op
from generators.table import TABLE, dialect_of

SIZES = (64, SIZE, 4)
"""The largest numbers of operators of the pieces, in this order. 64 is the most that `fuzz import` takes: whole blocks
of a model. Where an importer refuses one operator of a large piece, the smaller ones test the others."""


@dataclass(frozen=True, slots=True)
class Around:
    """A model, or several, in the dialects in which they can be read.

    pieces   the pieces by their name in the corpus, the largest first
    calls    how often the model calls each operator of the table
    lacking  how often it calls each function without a row in any of these dialects
    ops      by dialect, the operators, each as often as the model calls it: a choice among these draws frequent ones
             more often
    """

    pieces: Mapping[str, Case]
    calls: Mapping[str, int]
    lacking: Mapping[str, int]
    ops: Mapping[str, tuple[Op, ...]] = field(init=False)

    def __post_init__(self) -> None:
        weighted: dict[str, list[Op]] = {}
        for name, count in self.calls.items():
            weighted.setdefault(dialect_of(name).name, []).extend([TABLE[name]] * count)
        object.__setattr__(self, "ops", {dialect: tuple(ops) for dialect, ops in weighted.items()})

    @property
    def dialects(self) -> frozenset[str]:
        """The dialects of the pieces."""
        return frozenset(case.graph.dialect for case in self.pieces.values())


def import_around(
    model: Path, campaign: Path, dialects: Collection[str] = NAMES, samples: Sequence[Sample] = (NOTHING,)
) -> Around:
    """Import a model, or a folder of models, into the corpus of a campaign, in those of these dialects that a file can
    be read in, with the inputs and open sizes of each sample. The same model gives the same result. Raise `Invalid`
    where a file cannot be read, or where no piece has an operator with a row."""
    require_one_file(str(model), samples)
    done, refused = run(files_of(model), campaign, *SIZES, dialects=dialects, samples=samples)
    if refused:
        raise Invalid(refused[0])
    calls, lacking = Counter[str](), Counter[str]()
    for _, models in groupby(done[:: len(SIZES)], lambda each: each.path):
        by_dialect = {each.extracted.resolved.dialect: each.extracted.resolved for each in models}
        found = list(by_dialect.values())  # of one sample: the calls are the same in the others
        calls.update(node.op for resolved in found for node in resolved.nodes)
        lacking += reduce(and_, map(_lacking, found))
    names = dict.fromkeys(name for each in done for name in each.names)
    if not names:
        raise Invalid(f"{model}: no piece of it can be run; `fuzz import` says why")
    pieces = {name: case_file.read(campaign / corpus.FOLDER / name) for name in names}
    by_size = sorted(pieces, key=lambda name: -len(pieces[name].graph.nodes))
    return Around({name: pieces[name] for name in by_size}, dict(calls.most_common()), dict(lacking.most_common()))


def _lacking(resolved: Resolved) -> Counter[str]:
    """How often a model in one dialect calls each function without a row."""
    counts = Counter[str]()
    for (title, _), count in resolved.lacking.items():
        counts[title] += count
    return counts
