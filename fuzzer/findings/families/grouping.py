"""Puts findings into families, one after the other, in the order in which they were found.

A later finding never changes to which family an earlier one belongs, so that an issue that was filed for a family stays
that of its members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from fuzzer.findings import finding_file
from fuzzer.findings.families.similarity import log_odds, weights
from fuzzer.findings.families.traits import Traits, traits_of
from fuzzer.findings.finding_doc import FindingDoc
from generators import case_file
from generators.graph import Invalid
from oracles.finding import Component

T = TypeVar("T")

Saved = tuple[Path, FindingDoc]
"""A finding with its folder."""

LEAST = -8.0
"""The log odds of two findings that cannot be one."""


def families(findings: Iterable[Saved]) -> list[list[Saved]]:
    """Return the families of findings. Every finding is in exactly one. Flaky findings, and those of other components
    than TVM, are alone."""
    in_order = sorted(findings, key=lambda each: (each[1].found, each[1].signature))
    compared = [each for each in in_order if _is_compared(each[1])]
    alone = [[each] for each in in_order if not _is_compared(each[1])]
    together = _places([traits_of(doc, input_types(folder)) for folder, doc in compared])
    return [*([compared[place] for place in family] for family in together), *alone]


_last: tuple[Sequence[Traits], Sequence[Sequence[int]]] = (), ()
"""The last findings whose families were asked for, and these families."""


def _places(traits: Sequence[Traits]) -> list[list[int]]:
    """The families of findings, by their places. Those of the findings with which the last call began are known: a
    campaign that is watched asks again with each new finding."""
    global _last
    before, families = _last
    known = 0
    while known < min(len(before), len(traits)) and before[known] == traits[known]:
        known += 1
    begun = [left for family in families if (left := [place for place in family if place < known])]
    later = range(known, len(traits))
    found = put_together(later, lambda a, b: log_odds(traits[a], traits[b]), weights().threshold, begun)
    _last = traits, found
    return found


def relatives(folder: Path) -> list[Path]:
    """Return the folders of the other findings of the same family in the campaign of a finding, those that can be
    read."""
    found = finding_file.readable(finding_file.folders_in(folder.absolute().parent))
    family = next((each for each in families(found) if any(path.name == folder.name for path, _ in each)), [])
    return [path for path, _ in family if path.name != folder.name]


def _is_compared(doc: FindingDoc) -> bool:
    return doc.component is Component.TVM and not doc.flaky


def input_types(folder: Path) -> tuple[str, ...]:
    """The types of the inputs; none where the case cannot be read, which is reported elsewhere."""
    try:
        return case_file.input_types(folder)
    except Invalid:
        return ()


def put_together(
    findings: Iterable[T], odds: Callable[[T, T], float], threshold: float, begun: Iterable[Sequence[T]] = ()
) -> list[list[T]]:
    """Return the families, each with its members in the given order. A finding joins the family to which it is nearest,
    if it is near enough. `odds` are the log odds that two findings have one cause. `begun` are the families of earlier
    findings, in their order."""
    found = [list(family) for family in begun]
    for finding in findings:
        nearness = [_nearness([max(odds(finding, member), LEAST) for member in family]) for family in found]
        if nearness and max(nearness) >= threshold:
            found[nearness.index(max(nearness))].append(finding)
        else:
            found.append([finding])
    return found


def _nearness(odds: Sequence[float]) -> float:
    """The mean of the mean and the largest log odds with the members."""
    return (sum(odds) / len(odds) + max(odds)) / 2
