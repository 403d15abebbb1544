from __future__ import annotations

import pytest

from fuzzer.watching.formatting import counted, duration, shares, size, sparkline


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.9, "59 s"),
        (60, "1 min 00 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 00 min"),
        (86399, "23 h 59 min"),
        (86400, "1 d 0 h"),
        (86400 * 12 + 3600 * 5, "12 d 5 h"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (999.6, "1 kB"), (122_400_000, "122 MB"), (2.5e12, "2500.0 GB")]
)
def test_sizes(count: float, text: str) -> None:
    assert size(count) == text


def test_sparklines() -> None:
    assert sparkline(range(8), 8) == "▁▂▃▄▅▆▇█"
    assert sparkline([100, 0, 7], 2) == "▁█"
    assert (sparkline([5, 5], 9), sparkline([], 9)) == ("▁▁", "")


def test_shares_and_counts() -> None:
    assert shares({"a": 1.0, "b": 2.0, "c": 1.0}, 2) == "b 50%, a 25%"
    assert shares({}, 2) == ""
    assert counted({"tvm": 1000, "exporter": 7, "environment": 7}) == "1,000 tvm, 7 environment, 7 exporter"
