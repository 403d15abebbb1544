"""Where the parentheses of a message close."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzer.signature.messages import _closings


def closing_of(text: str, start: int) -> int | None:
    """Read on from one parenthesis, and count."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return None


@pytest.mark.slow
@given(st.text("()ab", max_size=40))
def test_each_opening_parenthesis_has_the_closing_one_that_counting_finds(text: str) -> None:
    openings = [place for place, letter in enumerate(text) if letter == "("]
    expected = {place: end for place in openings if (end := closing_of(text, place)) is not None}
    assert _closings(text) == expected
