"""The reason why a lane gave no result, in its own words."""

from __future__ import annotations

from oracles.outcome import Raised, Stage, why_no_result


def reason(message: str) -> str:
    return why_no_result(Raised(Stage.COMPILE, "ValueError", message))


def test_what_follows_a_line_that_ends_with_a_colon_belongs_to_the_reason() -> None:
    assert reason("Verification failed with these errors: \nFCmp needs floats\n  %9 = fcmp oge i64 %8, 0\n") == (
        "compile: ValueError: Verification failed with these errors: FCmp needs floats"
    )
    assert reason("of the node:\n") == "compile: ValueError: of the node:"


def test_the_first_line_with_text_is_the_reason() -> None:
    assert reason("\n  wrong rank\nhere:\nand there\n") == "compile: ValueError: wrong rank"
    assert reason("") == "compile: ValueError: "
