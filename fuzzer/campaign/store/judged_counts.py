"""How much of the results of a campaign's tests is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from fuzzer.campaign.store.numbers import Count

if TYPE_CHECKING:
    from oracles.judged_elements import JudgedElements

FEW_FLOATS = 2


class JudgedCounts(msgspec.Struct):
    """How much of the results of tests is judged. A test counts where a lane of TVM gave results.

    elements      the elements of the results
    unjudged      by reason, how many of them are not judged
    with_floats   tests with floats in their results
    no_float      those of them in which no float is judged
    few_floats    those in which at most `FEW_FLOATS` are
    equal_floats  those in which no output has two different judged floats: no wrong index, order or axis shows there
    """

    elements: Count = 0
    unjudged: dict[str, Count] = msgspec.field(default_factory=dict)
    with_floats: Count = 0
    no_float: Count = 0
    few_floats: Count = 0
    equal_floats: Count = 0

    def add(self, found: JudgedElements) -> None:
        self.elements += found.elements
        for reason, count in found.reasons:
            self.unjudged[reason] = self.unjudged.get(reason, 0) + count
        if found.has_floats:
            self.with_floats += 1
            self.no_float += not found.judged_floats
            self.few_floats += found.judged_floats <= FEW_FLOATS
            self.equal_floats += found.different_floats < 2

    @property
    def judged(self) -> int:
        return self.elements - sum(self.unjudged.values())
