"""The known failures of a regression corpus, and the families that they are in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from fuzzer.regression.record import Corpus, KnownFailure

_WHERE = re.compile(r"^\S+?(:| refuses a valid PyTorch model in its \w+ step:) ")
_NAMES = re.compile(r"\b(?:relax|tirx|tir|topi)(?:\.\w+)+|\w*\d\w*")


@dataclass(frozen=True, slots=True)
class ShownFailure:
    """A known failure that a run has shown as it was recorded.

    family  as in `families`
    lanes   in how many lanes of cases it showed
    """

    id: str
    known: KnownFailure
    family: str
    lanes: int


def families(failures: Mapping[str, KnownFailure]) -> dict[str, str]:
    """By the id of a failure, the name of its family: the finding that stands for it. A failure that no finding
    explains is in the family of one whose message differs only in names of operators and in numbers. Where there is
    none, the id of the first such failure is the name of the family."""
    explained = {_key(known): known.family for known in reversed([*failures.values()]) if known.family}
    return {id: known.family or explained.setdefault(_key(known), id) for id, known in failures.items()}


def _key(known: KnownFailure) -> tuple[str, str, str]:
    return known.kind, known.component, _NAMES.sub("_", _WHERE.sub("", known.title))


def shown_again(kept: Corpus, ran: Collection[str], changed: Collection[tuple[str, str]]) -> list[ShownFailure]:
    """The known failures that a run has shown, those in most lanes first. `ran` are the names of the lanes that ran,
    and `changed` those pairs of a case and a lane that ended otherwise than recorded."""
    counts = Counter(
        failure
        for entry in kept.entries
        for lane, failure in entry.fails.items()
        if lane in ran and (entry.case, lane) not in changed
    )
    known, names = kept.description.failures, families(kept.description.failures)
    return [ShownFailure(id, known[id], names[id], count) for id, count in counts.most_common()]
