"""How the evaluations push. `Sample` describes one evaluation, and the tuples below all that are made of a case."""

from __future__ import annotations

from dataclasses import dataclass

from fuzzer.lanes.envelope.undefined import OTHERS

WIDE = 4.0
"""How many times as far the samples of `WIDER` push. It is more than the factor C of the tolerance (2), because a lane
within its tolerance may be on the other side of a jump."""


@dataclass(frozen=True, slots=True)
class Sample:
    """How one evaluation pushes.

    direction     1: every value away from zero, -1: towards zero, 0: up or down at random, from `seed`
    width         how many times as far as usual; 0: nothing is pushed
    partly        each value by a random part of the push, up or down
    one_pass      variances are computed in one pass
    flush         denormal numbers become zero
    in_half       nodes that `Kernel.may_be_in_half` are computed in float16
    skip          products with the zeros of a padding, or with an attribute that is 0, are left out: no NaN x 0 occurs
    other_layout  the inputs have another layout in memory, which changes results only where PyTorch is wrong
    by_sum        the direction turns at each sum of many terms: what is rounded in them need not cancel
    made_equal    floats that are compared, and that the other evaluations may push onto each other, are equal
    made_zero     floats of which integers or booleans are made, and that the others may push beyond 0, are 0
    undefined     which other number is in place of each one that no framework defines; 0: none is
    """

    direction: int
    seed: int = 0
    width: float = 1.0
    partly: bool = False
    one_pass: bool = False
    flush: bool = False
    in_half: bool = False
    skip: bool = False
    other_layout: bool = False
    by_sum: bool = False
    made_equal: bool = False
    made_zero: bool = False
    undefined: int = 0


PLAIN = Sample(0, width=0.0)
"""The evaluation without rounding. It equals the first sample of `NARROW`, which rounds; `is` tells them apart."""

ONE_PASS_SAMPLES = (Sample(1, width=0.0, one_pass=True), Sample(-1, width=0.0, one_pass=True))
IN_HALF = Sample(0, width=0.0, in_half=True)
FLUSHED = Sample(0, width=0.0, flush=True)
OTHER_LAYOUT = Sample(0, width=0.0, other_layout=True)
SKIPPED = Sample(0, width=0.0, skip=True)
UNDEFINED = tuple(Sample(0, width=0.0, undefined=other) for other in OTHERS)
NARROW = (Sample(0, width=0.0), Sample(1), Sample(-1), *(Sample(0, seed) for seed in range(1, 7)))
BY_SUM = (Sample(1, by_sum=True), Sample(-1, by_sum=True))
"""For graphs with several sums of many terms, such as a mean with weights: their quotient does not change where both
are pushed in one direction."""
PARTLY = tuple(Sample(0, seed, partly=True) for seed in range(21, 37))
"""For graphs that compare floats: two numbers that may be equal are seldom equal where both are pushed as far as may
be."""

WIDER = (Sample(1, 0, WIDE), Sample(-1, 0, WIDE), Sample(0, 11, WIDE), Sample(0, 12, WIDE))
ON_A_JUMP = (Sample(0, width=0.0, made_equal=True), Sample(0, width=0.0, made_zero=True))
"""For graphs that compare floats, after all others: no push makes a number exactly 0, nor two numbers equal of which
one is 0."""
