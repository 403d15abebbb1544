"""Where the samples of a sweep come from: one record for each dialect, in `fuzzer/evaluation/<dialect>/samples.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fuzzer.evaluation.allow_list import AllowList
from fuzzer.evaluation.status import Status, Verdict
from generators.dialect import dialect_named, has_folder, part_of
from generators.graph import Invalid
from oracles.finding import Finding
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes

Judge = Callable[[Path, LaneSpec, Outcomes, Finding | None], Verdict]
"""The verdict on a lane: from the folder of the sample, the outcomes of all lanes, and the finding on the lane."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSource:
    """The samples of a dialect.

    title      what they are, for people
    owner      who wrote them
    package    the distribution that has them
    right      the results that a right lane gives, for people
    lasts      how long the children take for all of them
    child      the module of the children that take them
    most       how many of each kind are taken where the user does not say; None: all
    which      how many parts of a key say which sample of its operator it is
    lanes      the names of the lanes that run where the user names none
    judge      the verdict on a lane
    own_results  whether the samples have right results of their own: then the findings of the oracles are compared with
                 the verdicts
    allow_list   compares the statuses of samples, by their keys, with the list that TVM's own tests have of them; None
                 where they have none
    """

    title: str
    owner: str
    package: str
    right: str
    lasts: str
    child: str
    most: int | None
    which: int
    lanes: str
    judge: Judge
    own_results: bool
    allow_list: Callable[[Mapping[str, Status | None]], AllowList] | None = None


@cache
def source_of(dialect: str) -> SampleSource:
    """The samples of a dialect. Raise `Invalid` for one that has none."""
    if not has_folder(dialect, "fuzzer.evaluation.{}"):
        raise Invalid(f"there are no samples of {dialect_named(dialect).title}: nobody wrote tests with right results")
    found: SampleSource = part_of(dialect, "fuzzer.evaluation.{}.samples").SAMPLES
    return found
