"""What a campaign draws where it draws all operators of a dialect: `fuzzer/campaign/cases/<dialect>/mixes.py` says it
for one that draws mixes of them, or cases for a pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from generators.choice import ChoiceSource
from generators.dialect import dialect_named, has_folder, part_of
from generators.drawn_graph import DrawnGraph
from generators.limits import Limits
from generators.op import Op


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixes:
    """`mix` draws the operators of a test, and `draw` the graph of a case of them. `for_pass` returns that of a test
    that is drawn for a pass, by the seed and the test's number; None for other tests. `is_for_pass` returns whether a
    test is one."""

    mix: Callable[[ChoiceSource], Sequence[Op]]
    draw: Callable[[ChoiceSource, Limits, Sequence[Op], str], DrawnGraph]
    for_pass: Callable[[ChoiceSource, int, int, Limits, str], DrawnGraph | None] = lambda *_: None
    is_for_pass: Callable[[int, int], bool] = lambda seed, index: False


@cache
def mixes_of(dialect: str) -> Mixes:
    """What a dialect names. One that names nothing draws all of its operators, by its generator."""
    if not has_folder(dialect, "fuzzer.campaign.cases.{}"):
        record = dialect_named(dialect)
        return Mixes(mix=lambda source: record.drawn(), draw=record.draw)
    found: Mixes = part_of(dialect, "fuzzer.campaign.cases.{}.mixes").MIXES
    return found
