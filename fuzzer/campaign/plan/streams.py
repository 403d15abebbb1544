"""The streams of choices of a test. Each kind of decision reads its own, so that no decision depends on another one."""

from __future__ import annotations

from enum import IntEnum

from generators.choice import NumpySource


class Stream(IntEnum):
    """What is drawn from a stream. Cases of a seed change where a number does."""

    CASE = 0
    """The case of a campaign without guidance; with guidance, the mix of operators of a test's candidates."""
    LANES = 1
    PASS = 2
    """The pass that the case is drawn for."""
    EVERYTHING = 3
    """Whether all lanes run."""
    TIER_1 = 4
    TIER_2 = 5
    DIALECT = 6
    COVERING_ARRAY = 7
    FLIPS = 8
    """The values of factors that differ from the user's own configuration."""
    PASS_ORDER = 9
    LARGE = 10
    """Whether the case has large tensors."""
    KIND_AROUND = 11
    """How the case is made of a model's pieces."""
    FIRST_CANDIDATE = 16
    """The first of the cases of which guidance takes one. The others have the numbers after it."""
    DIFF_OPERATOR = 697
    """The case of an operator that no kept case has (`fuzz diff`)."""
    DIFF_SIZES = 698
    DIFF_KIND = 699
    """Whether a test of `fuzz diff` is near the change, mutated or guided; and the case that is mutated."""
    DIFF_CANDIDATE = 700
    """The first of the cases near the change. The others have the numbers after it."""


def choices(seed: int, index: int, stream: Stream, number: int = 0) -> NumpySource:
    """The choices of test `index` from a stream, or from the `number`-th after it where a stream has several."""
    return NumpySource(seed, index, stream + number)
