"""What a campaign draws where it draws all operators of a dialect: one record for each, in
`fuzzer/campaign/cases/<dialect>/mixes.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from generators.choice import ChoiceSource
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
    found: Mixes = import_module(f"fuzzer.campaign.cases.{dialect}.mixes").MIXES
    return found
