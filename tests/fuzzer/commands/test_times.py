"""Lengths of time and moments as a user writes them."""

from __future__ import annotations

import time

import pytest

from fuzzer.commands.times import as_written, moment, parsed_seconds, seconds
from generators.graph import Invalid


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90", 90.0), ("2m", 120.0), ("2 min", 120.0), ("1.5h", 5400.0), (".5s", 0.5), ("1d", 86400.0), ("0", 0.0)],
)
def test_lengths(text: str, expected: float) -> None:
    assert seconds(text) == parsed_seconds(text) == expected


@pytest.mark.parametrize(("length", "text"), [(60, "1m"), (600, "10m"), (90, "1.5m"), (5400, "1.5h"), (3, "3s")])
def test_a_default_is_written_as_users_write_it(length: float, text: str) -> None:
    assert as_written(length) == text
    assert seconds(text) == length


@pytest.mark.parametrize("text", ["", "2x", "-1", "m", "1h30", "nan", "1e3"])
def test_what_is_no_length(text: str) -> None:
    with pytest.raises(Invalid, match=r"is no length of time; write 90, 90s, 2m, 1\.5h or 1d$"):
        seconds(text)


def test_a_moment_is_so_long_ago_or_a_date() -> None:
    assert abs(time.time() - 7200 - moment("2h")) < 1000
    assert moment("2026-11-28") == time.mktime((2026, 11, 28, 0, 0, 0, 0, 0, -1))
    assert moment("2026-11-28T14:00") - moment("2026-11-28") == 14 * 3600
    with pytest.raises(Invalid, match="'yesterday' is no time; write 2h or 3d"):
        moment("yesterday")
