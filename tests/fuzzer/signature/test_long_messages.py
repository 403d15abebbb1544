"""Long messages of a lane or of a stranger's file: the time to read one must not grow with the square of its length. A
reader for which it does takes minutes for `LANE` characters, and hours for `FILE`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fuzzer.isolate.protocol import MOST_TEXT
from fuzzer.signature import stable_excerpt
from fuzzer.signature.in_words import checker_in_words, in_words
from fuzzer.signature.messages import readable, skeleton
from fuzzer.signature.refusals import classify_failure
from generators.text_forms import TEXT
from oracles.outcome import Raised, Stage

LANE, FILE = MOST_TEXT, TEXT.most
"""The most characters of a message that a lane sends, and that a file has."""

UNITS = ("a", " ", "\n", " \n", "_", ".", "/a", "a/", "0", "1.", "(", "[", '"', "'", "::", "a=", "T.")
READERS: tuple[Callable[[Raised], object], ...] = (
    lambda raised: skeleton(raised.message),
    lambda raised: readable(raised.message),
    lambda raised: stable_excerpt(raised.message),
    in_words,
    classify_failure,
)


def raised(unit: str, characters: int) -> Raised:
    return Raised(Stage.IMPORT, "tvm.error.InternalError", f"x{unit * (characters // len(unit) - 2)}y", ())


@pytest.mark.parametrize("unit", UNITS)
def test_a_message_of_a_lane(unit: str) -> None:
    message = raised(unit, LANE)
    assert len(message.message) <= LANE
    for read in READERS:
        read(message)


@pytest.mark.parametrize("unit", ["a", " ", "\n", "_", "/a"])
def test_a_message_of_a_file(unit: str) -> None:
    message = raised(unit, FILE)
    for read in READERS:
        read(message)
    assert len(stable_excerpt(message.message)) <= 60
    assert len(checker_in_words(message.message)) <= LANE


def test_blanks_before_the_end_of_a_message_go_with_it() -> None:
    assert skeleton("wrong type \n\n --> <str>:3\n more") == "wrong type"
    assert skeleton("no  \tArgument types: a, b") == "no"
