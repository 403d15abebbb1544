"""The model that a campaign goes around: its pieces in the corpus, and its operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.seeds import corpus
from fuzzer.seeds.imported import SIZE, files_of, run
from generators import case_file
from generators.graph import Case, Invalid
from generators.op import Op
from generators.table import TABLE

SIZES = (64, SIZE, 4)
"""The largest numbers of operators of the pieces, in this order. 64 is the most that `fuzz import` takes: whole blocks
of a model. Where an importer refuses one operator of a large piece, the smaller ones test the others."""


@dataclass(frozen=True, slots=True)
class Around:
    """A model, or several.

    pieces   the pieces by their name in the corpus, the largest first
    calls    how often the model calls each operator of the table
    lacking  how often it calls each function without a row
    ops      the operators, each as often as the model calls it: a choice among these draws frequent ones more often
    """

    pieces: Mapping[str, Case]
    calls: Mapping[str, int]
    lacking: Mapping[str, int]
    ops: tuple[Op, ...] = field(init=False)

    def __post_init__(self) -> None:
        weighted = (op for name, count in self.calls.items() for op in [TABLE[name]] * count)
        object.__setattr__(self, "ops", tuple(weighted))


def import_around(model: Path, campaign: Path) -> Around:
    """Import a model, or a folder of models, into the corpus of a campaign. The same model gives the same result. Raise
    `Invalid` where a file cannot be read, or where no piece has an operator with a row."""
    files = files_of(model)
    done, refused = run(files, campaign, *SIZES, dialects=("torch",))
    if refused:
        raise Invalid(refused[0])
    calls, lacking = Counter[str](), Counter[str]()
    for each in done[:: len(SIZES)]:
        resolved = each.extracted.resolved
        calls.update(node.op for node in resolved.nodes)
        for (title, _), count in resolved.lacking.items():
            lacking[title] += count
    names = dict.fromkeys(name for each in done for name in each.names)
    if not names:
        raise Invalid(f"{model}: no piece of it can be run; `fuzz import` says why")
    pieces = {name: case_file.read(campaign / corpus.FOLDER / name) for name in names}
    by_size = sorted(pieces, key=lambda name: -len(pieces[name].graph.nodes))
    return Around({name: pieces[name] for name in by_size}, dict(calls.most_common()), dict(lacking.most_common()))
