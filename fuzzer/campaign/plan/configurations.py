"""The configurations of a campaign with `--configurations`: each test compiles its case in some of them.

First, each n-tuple of the listed values is covered. After that, values of the user's own configuration are flipped at
random, in turns with the same rows again: a bug of a pair of values also needs a case that shows it. The reduction of
the lane finds the guilty values of a failing configuration.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from fuzzer.campaign.plan.aim import FEATURE
from fuzzer.campaign.plan.configuration_file import PLAIN, Listed
from fuzzer.campaign.plan.covering import Row, covering_array, possible_tuples
from fuzzer.campaign.plan.drawn_lanes import ordered
from fuzzer.campaign.plan.streams import Stream, choices
from fuzzer.triage.reproduce import is_valid
from generators.graph import Invalid
from oracles.lane import LaneSpec
from oracles.outcome import Broken, Outcomes, Skipped, Unsupported
from oracles.transforms import TRANSFORMS_BY_NAME

PER_TEST = 3
"""How many configurations a test compiles its case in. They share its export and its references."""

FLIP_PERCENT = 30
"""The percentage of values of the user's own configuration that are flipped."""

MOST_TUPLES = 100_000
"""The most tuples that are covered: with more, the first test would begin minutes later."""


@dataclass(frozen=True, slots=True)
class Configurations:
    """What a file lists, in the order of a seed. `rows` is the covering array, and `tuples` what it covers."""

    listed: Listed
    seed: int
    rows: tuple[Row, ...] = field(init=False)
    tuples: int = field(init=False)

    def __post_init__(self) -> None:
        sizes, n, exclusions = self.listed.sizes, self.listed.n, self.listed.exclusions
        count = 0
        for count, _ in enumerate(possible_tuples(sizes, n, exclusions), 1):
            if count > MOST_TUPLES:
                raise Invalid(f"the configurations have more than {MOST_TUPLES} {n}-tuples; list fewer values")
        object.__setattr__(self, "tuples", count)
        source = choices(self.seed, 0, Stream.COVERING_ARRAY)
        object.__setattr__(self, "rows", covering_array(source, sizes, n, exclusions))

    def lanes(self, index: int) -> tuple[LaneSpec, ...]:
        """The lanes of a test."""
        return tuple(self._lane(position) for position in self._positions(index))

    def features(self, index: int, outcomes: Outcomes) -> frozenset[str]:
        """The rows that a test compiled. A row whose lane said nothing about TVM is not one of them."""
        if not is_valid(outcomes):
            return frozenset()
        done = (
            row
            for position in self._positions(index)
            if (row := self._number_of_row(position)) is not None
            and not isinstance(outcomes.get(self._lane(position)), (Unsupported, Skipped, Broken, type(None)))
        )
        return frozenset(f"{self.prefix}{row}" for row in done)

    @property
    def prefix(self) -> str:
        """How the features of these configurations begin. With another file or seed, they begin differently."""
        return f"{FEATURE} {self.listed.digest}-{self.seed} "

    def _positions(self, index: int) -> range:
        return range(PER_TEST * index, PER_TEST * (index + 1))

    def _number_of_row(self, position: int) -> int | None:
        """The row at a position; None where values are flipped."""
        later = position - len(self.rows)
        if later < 0:
            return position
        return None if later % 2 == 0 else later // 2 % len(self.rows)

    def _lane(self, position: int) -> LaneSpec:
        number = self._number_of_row(position)
        row, lane = self._flipped(position) if number is None else self.rows[number], PLAIN
        for factor, value in zip(self.listed.factors, row, strict=True):
            lane = factor.on(lane, value)
        source = choices(self.seed, position, Stream.PASS_ORDER)
        passes = ordered(source, [TRANSFORMS_BY_NAME[name] for name in lane.passes])
        return replace(lane, name=f"relax-{lane.importer}-drawn", passes=passes)

    def _flipped(self, position: int) -> Row:
        """The user's own configuration with other values of some factors, at least of one. A flip that would be illegal
        is left out."""
        source, sizes = choices(self.seed, position, Stream.FLIPS), self.listed.sizes
        varied = source.shuffled([factor for factor, size in enumerate(sizes) if size > 1])
        chosen = dict.fromkeys(range(len(sizes)), 0)
        for factor in varied:
            if not any(chosen.values()) or source.rarely(FLIP_PERCENT):
                others = {each: value for each, value in chosen.items() if each != factor}
                value = source.integer(1, sizes[factor] - 1)
                if self.listed.exclusions.allow((factor, value), others):
                    chosen[factor] = value
        return tuple(chosen[factor] for factor in range(len(sizes)))
